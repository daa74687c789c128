"""Where people stand, in the menu beside every page."""

import re

import pytest

from accounts.models import User
from tests.pages.reading import visit
from tests.people import People
from tests.stories import Job
from tests.worlds import World

pytestmark = pytest.mark.django_db


def marked(user: User, url: str) -> list[str]:
    """The marked entries of the side bar."""
    menu = visit(user, url).text.split('id="nav"', 1)[1].split("</nav>", 1)[0]
    found = re.findall(r'<a href="([^"]*)" aria-current="(\w+)">', menu)
    return [f"{kind} {href}" for href, kind in found]


def test_one_entry_is_marked(zoo: World, people: People) -> None:
    zoo.see(job := Job("train").admit(0))
    assert marked(people.member, "/teams/research/usage/") == ["page /teams/research/usage/"]
    address = f"/clusters/gpu-one/workloads/{job.obj['metadata']['uid']}/"
    for user in (people.member, people.auditor):
        assert marked(user, address) == ["true /teams/research/workloads/"]
    assert marked(people.member, f"{address}pods/") == ["true /teams/research/workloads/"]
    assert marked(people.auditor, "/platform/evictions/again/") == ["true /platform/evictions/"]


def test_another_s_team_is_in_the_menu_while_it_is_visited(people: People) -> None:
    assert marked(people.auditor, "/teams/vision/") == ["page /teams/vision/"]
    assert "/teams/vision/usage/" not in visit(people.auditor, "/platform/").text
