"""Every address of the portal with every value that anybody might put into it, and whatever the pages link to."""

import html
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from urllib.parse import urljoin, urlsplit

from django.http import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from accounts.models import User
from portal.views.operations import _VIEWS as OPERATIONS

PART = {"HX-Request": "true"}
_LINK = re.compile(r'\b(?:href|action|hx-get)="([^"]+)"')
_EACH_TIME = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"|data-rendered-at="[^"]*"')


@dataclass(frozen=True, slots=True)
class Route:
    """One URL of the resolver and what it must be given."""

    name: str
    parameters: tuple[str, ...]


def routes(resolver: URLResolver | None = None) -> Iterator[Route]:
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLResolver):
            yield from routes(pattern)
        else:
            assert isinstance(pattern, URLPattern)
            yield Route(str(pattern.name), tuple(pattern.pattern.converters))


def addresses(values: Mapping[str, Collection[str]]) -> dict[str, str]:
    """The name of the route by address. KeyError: a route has a parameter that `values` does not know yet."""
    found = {path: path for path in OPERATIONS}
    for route in routes():
        for given in product(*(values[name] for name in route.parameters)):
            found[reverse(route.name, kwargs=dict(zip(route.parameters, given, strict=True)))] = route.name
    return found


@dataclass(slots=True)
class Answer:
    """One answer as it left the portal; `content` is what is not the same each time."""

    url: str
    status: int
    content: str
    headers: str

    @property
    def all(self) -> str:
        return f"{self.headers}\n{self.content}"


@dataclass(slots=True)
class Crawl:
    """One person at every address: as a page, as a page's part, and once more with the ETag that they were given."""

    user: User
    answers: list[Answer] = field(default_factory=list)

    def visit(self, urls: Collection[str]) -> None:
        """These, and what they link to."""
        linked = {link for url in urls for link in self._at(url)} - set(urls)
        for url in sorted(linked):
            self._at(url)

    def _at(self, url: str) -> list[str]:
        client = Client()
        client.force_login(self.user)
        page = self._ask(client, url)
        if page.status != 200:
            return []
        etag = re.search(r"ETag: (\S+)", self._ask(client, url, **PART).headers)
        if etag:
            self._ask(client, url, **PART, **{"If-None-Match": etag[1]})
        return list(links(page))

    def _ask(self, client: Client, url: str, **headers: str) -> Answer:
        answer = answer_of(url, client.get(url, headers=headers))
        self.answers.append(answer)
        return answer


def answer_of(url: str, response: HttpResponseBase) -> Answer:
    content = b"".join(response) if response.streaming else response.content  # type: ignore[attr-defined]
    headers = "\n".join(f"{name}: {value}" for name, value in response.headers.items() if name != "X-Request-Id")
    return Answer(url, response.status_code, _EACH_TIME.sub("", content.decode()), headers)


def links(answer: Answer) -> Iterator[str]:
    """Addresses of the portal itself that a page leads to."""
    for found in _LINK.findall(answer.content):
        target = urlsplit(urljoin(answer.url, html.unescape(found)))
        if not target.netloc and target.path.startswith("/") and not target.path.startswith("/static/"):
            yield target._replace(fragment="").geturl()
