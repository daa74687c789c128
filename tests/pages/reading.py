"""How tests read a page: as one person sees it, in words."""

import html
import re

from django.http import HttpResponse
from django.test import Client

from accounts.models import User


def visit(user: User | None, url: str, language: str = "en") -> HttpResponse:
    client = Client(headers={"accept-language": language})
    if user is not None:
        client.force_login(user)
    return client.get(url)  # type: ignore[return-value]


def steady(response: HttpResponse) -> str:
    """The page but for what differs between any two answers: the address that was asked for, and form tokens."""
    text = response.text.replace(response.wsgi_request.path, "")
    return re.sub(r'(name="csrfmiddlewaretoken" value=)"\w+"', r"\1", text)


def words(response: HttpResponse) -> str:
    """The text of the page without tags, blanks collapsed."""
    body = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", response.text, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def rows(response: HttpResponse, heading: str) -> list[str]:
    """The table rows of the section under a heading, in words."""
    section = response.text.split(f">{heading}</h2>", 1)[1].split("</section>", 1)[0]
    bodies = " ".join(re.findall(r"<tbody\b.*?</tbody>", section, flags=re.DOTALL))
    return [_words(row) for row in re.findall(r"<tr\b.*?</tr>", bodies, flags=re.DOTALL)]


def bars(response: HttpResponse) -> list[str]:
    """The rows with a quota bar, in words, those on the bar included."""
    _, *found = response.text.split('<div class="qrow">')
    return [_words(row.split('<p class="panel-foot">')[0].split("<details")[0].split("</section>")[0]) for row in found]


def labels(response: HttpResponse) -> list[str]:
    """What a screen reader says of each picture."""
    return [html.unescape(label) for label in re.findall(r'role="img" aria-label="([^"]*)"', response.text)]


def _words(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())
