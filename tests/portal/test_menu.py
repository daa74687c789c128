"""Every page has its entry in the menu, or stands under one."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from django.conf import settings
from django.template import Context

from portal.templatetags.menu import current, visited_team
from tests.pages.crawl import routes

_RESEARCH = SimpleNamespace(slug="research")
_BESIDE_THE_MENU: Final = {"home", "sign-in", "break-glass", "search", "gallery"}
_FILES: Final = {
    "team-usage-csv", "team-workloads-csv", "team-evictions-csv", "team-kubeconfig", "all-workloads-csv",
    "all-evictions-csv",
}  # fmt: skip
_ACTS: Final = {
    "sign-out", "sign-in-as", "set_language", "inbox-read", "notice-acknowledge", "channel-remove",
    "token-end", "message-again", "identity-scim-end", "identity-try", "identity-switch-on", "identity-switch-off",
}  # fmt: skip
_FOR_PROGRAMS: Final = re.compile(r"saml-|scim")


def entries() -> set[str]:
    """Those that templates mark."""
    texts = "".join(path.read_text() for path in (Path(settings.BASE_DIR) / "templates").rglob("*.html"))
    return set(re.findall(r'{% current "([^"]+)" %}', texts))


def test_every_page_marks_one_entry() -> None:
    pages = {route.name for route in routes()} - _BESIDE_THE_MENU - _FILES - _ACTS
    known = entries()
    marked = {
        name: [entry for entry in known if current(page(name, _RESEARCH), entry)]
        for name in pages
        if not _FOR_PROGRAMS.match(name)
    }
    assert {name: found for name, found in marked.items() if len(found) != 1} == {}


def page(url_name: str, team: Any = None) -> Context:
    request = SimpleNamespace(resolver_match=SimpleNamespace(url_name=url_name) if url_name else None)
    return Context({"request": request, "team": team, "my_teams": (SimpleNamespace(slug="vision"),)})


def test_a_page_marks_its_own_entry() -> None:
    assert current(page("overview"), "overview") == ' aria-current="page"'
    assert current(page("overview"), "lending") == ""


@pytest.mark.parametrize(
    ("url_name", "entry"),
    [("node", "overview"), ("victims", "all-evictions"), ("identity-scim", "identity"), ("my-tokens", "me")],
)
def test_a_page_without_an_entry_marks_what_it_stands_under(url_name: str, entry: str) -> None:
    assert current(page(url_name), entry) == ' aria-current="true"'


def test_a_job_stands_under_its_team_or_under_all() -> None:
    assert current(page("eviction", _RESEARCH), "team-evictions") == ' aria-current="true"'
    assert current(page("eviction", _RESEARCH), "all-evictions") == ""
    assert current(page("workload"), "all-workloads") == ' aria-current="true"'


def test_an_address_that_nothing_answers_marks_nothing() -> None:
    assert current(page(""), "overview") == ""


def test_only_another_s_team_is_visited() -> None:
    assert visited_team(page("team", _RESEARCH)) is _RESEARCH
    assert visited_team(page("team", SimpleNamespace(slug="vision"))) is None
    assert visited_team(page("overview")) is None
