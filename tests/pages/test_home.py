import pytest

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
