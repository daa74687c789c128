"""Who asks for which pages in `bench.pages`, and how. Needs Django's settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import requests
from django.conf import settings
from django.test import Client

from accounts.models import User
from bench import crowd
from bench.web import Web

PART = {"HX-Request": "true"}
"""What a page's script sends when it asks for the live part alone."""


@dataclass(frozen=True, slots=True)
class Page:
    """What one person asks for."""

    username: str
    path: str


def team_page(team: int) -> Page:
    return Page(crowd.member(team), f"/teams/team-{team:03}/")


def of_team(path: str) -> Page:
    return Page(crowd.member(7), f"{team_page(7).path}{path}")


def _of_all(path: str) -> Page:
    return Page(crowd.ADMIN, f"/platform/{path}")


EMPTY = Page(crowd.NEWCOMER, "/")
PAGES: Mapping[str, Page] = {
    "team page": of_team(""),
    "team page, to the admin": Page(crowd.ADMIN, team_page(7).path),
    "team's jobs": of_team("workloads/"),
    "team's waiting jobs": of_team("workloads/?group=waiting"),
    "team's last page, searched": of_team("workloads/?q=llm&sort=gpus&page=999"),
    "overview": _of_all(""),
    "all jobs": _of_all("workloads/"),
    "all running jobs": _of_all("workloads/?group=running"),
    "all jobs, page 90, searched": _of_all("workloads/?q=pretrain&sort=-gpus&page=90"),
    "search": Page(crowd.member(7), "/search/?q=llm"),
    "search, by the admin": Page(crowd.ADMIN, "/search/?q=llm"),
}
"""All that must stay within the bounds."""
LIVE = {name: page for name, page in PAGES.items() if not name.startswith("search")}
"""Those of which the script polls the live part."""


@cache
def signed_in(username: str) -> Client:
    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(User.objects.get(username=username))
    return client


def cookie(username: str) -> dict[str, str]:
    """The header that makes a request that person's."""
    name = settings.SESSION_COOKIE_NAME
    return {"Cookie": f"{name}={signed_in(username).cookies[name].value}"}


def ask(web: Web, session: requests.Session, page: Page, **headers: str) -> requests.Response:
    sent = {**cookie(page.username), **headers}
    return session.get(web.address + page.path, headers=sent, timeout=60, allow_redirects=False)
