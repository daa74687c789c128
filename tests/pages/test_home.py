import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from teams.models import Team
from tests.factories import MembershipFactory
from tests.pages.reading import visit, words
from tests.people import People
from tests.stories import START

pytestmark = pytest.mark.django_db


def test_one_team_leads_to_its_page(people: People) -> None:
    for user in (people.member, people.viewer):
        assert visit(user, "/").url == "/teams/research/"


def test_several_teams_are_a_choice(people: People) -> None:
    text = words(visit(people.team_admin, "/"))
    assert "Research cc-research · Research costs" in text
    assert "Vision" in text


def test_of_several_teams_the_one_opened_last_is_the_first_page(people: People) -> None:
    for slug in ("vision", "research"):
        visit(people.team_admin, f"/teams/{slug}/")
        assert visit(people.team_admin, "/").url == f"/teams/{slug}/"


def test_a_team_that_is_left_or_archived_is_no_first_page(people: People) -> None:
    visit(people.team_admin, "/teams/vision/")
    people.team_admin.memberships.filter(team=people.vision).delete()
    assert visit(people.team_admin, "/").url == "/teams/research/"
    people.team_admin.memberships.create(team=people.vision, role="member")
    Team.objects.filter(slug="vision").update(archived_at=START)
    assert visit(people.team_admin, "/").url == "/teams/research/"


def test_what_a_page_asks_for_by_itself_is_no_visit(people: People) -> None:
    visit(people.team_admin, "/teams/vision/")
    client = Client(headers={"HX-Request": "true"})
    client.force_login(people.team_admin)
    assert client.get("/teams/research/").status_code == 200
    assert visit(people.team_admin, "/").url == "/teams/vision/"


def test_the_same_team_again_writes_nothing(people: People) -> None:
    client = Client()
    client.force_login(people.member)
    client.get("/teams/research/")
    with CaptureQueriesContext(connection) as queries:
        client.get("/teams/research/")
    assert not [query["sql"] for query in queries if not query["sql"].lstrip().startswith("SELECT")]


def test_teams_that_are_not_ones_own_are_no_first_page(people: People) -> None:
    visit(people.finops, "/teams/research/")
    assert visit(people.finops, "/").url == "/platform/"
    visit(people.member, "/teams/vision/")
    assert visit(people.member, "/").url == "/teams/research/"


def test_a_platform_role_without_a_team_leads_to_the_overview(people: People) -> None:
    for user in (people.platform_admin, people.finops, people.auditor):
        assert visit(user, "/").url == "/platform/"


def test_a_platform_role_with_a_team_leads_to_the_team(people: People) -> None:
    MembershipFactory(user=people.finops, team=people.vision)
    assert visit(people.finops, "/").url == "/teams/vision/"


def test_no_team_says_whom_to_ask(people: People) -> None:
    assert "Ask the admin of your team, or the platform admin, to add you." in words(visit(people.stranger, "/"))


def test_an_archived_team_is_no_choice(people: People) -> None:
    Team.objects.filter(slug="vision").update(archived_at=START)
    assert visit(people.team_admin, "/").url == "/teams/research/"


def test_the_menu_holds_the_own_teams_and_for_platform_roles_the_overview(people: People) -> None:
    member = visit(people.member, "/teams/research/").text
    assert 'href="/teams/research/" aria-current="page"' in member
    assert "/teams/vision/" not in member
    assert "/platform/" not in member
    assert 'href="/platform/"' in visit(people.finops, "/teams/research/").text
