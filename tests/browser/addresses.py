"""Every page of the portal that links lead to, found by following them."""

import re
from collections import Counter, deque

from django.urls import Resolver404, resolve

from tests.services.portal import RunningPortal

_LINK = re.compile(r'<a [^>]*href="(/[^"#]*)')
UNLINKED = ("/gallery/", "/sign-in/", "/search/?q=re")
_MOST_OF_A_KIND = 6  # the first job found may have had no pod, so that no node is linked


def one_of_each(portal: RunningPortal, username: str) -> dict[str, str]:
    """An address for every kind of page that this person reaches, by the URL's name; with and without a query apart."""
    session = portal.signed_in(username)
    found: dict[str, str] = {}
    asked: set[str] = set()
    visited: Counter[str] = Counter()
    queue = deque(["/", *UNLINKED])
    while queue:
        address = queue.popleft()
        kind = _kind(address)
        if not kind or address in asked or visited[kind] == _MOST_OF_A_KIND:
            continue
        asked.add(address)
        visited[kind] += 1
        answer = portal.get(address.lstrip("/"), session)
        assert answer.ok, f"{address}: {answer.status_code}"
        if answer.headers["Content-Type"].startswith("text/html"):
            found.setdefault(kind, address)
            queue.extend(link.replace("&amp;", "&") for link in _LINK.findall(answer.text))
    return found


def _kind(address: str) -> str:
    path, _, query = address.partition("?")
    try:
        name = str(resolve(path).url_name)
    except Resolver404:  # static files
        return ""
    return f"{name}?" if query else name
