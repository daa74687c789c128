import pytest

from accounts.models import User
from teams.models import Membership, PlatformRole, SpecVersion, Team
from tests.factories import ClusterFactory, TeamFactory
from tests.jobs.test_histories import undone
from tests.people import settle
from tests.remembered import Remembered
from tests.worlds import World, ledger, two_queues

pytestmark = pytest.mark.django_db


def times_of(make: Remembered[object]) -> list[tuple[object, ...]]:
    """What `make` was given each time it was called itself."""
    called, within = [], make.make

    def counted(*given: object) -> object:
        called.append(given)
        return within(*given)

    make.make = counted
    return called


def rows() -> list[list[dict[str, object]]]:
    return [list(model.objects.order_by("pk").values()) for model in (Team, User, Membership, PlatformRole)]


def test_the_second_time_the_same_rows_are_there_without_another_call() -> None:
    again = Remembered(settle)
    called = times_of(again)
    with undone():
        first, written = again(), rows()
    assert not Team.objects.exists()
    second = again()
    assert (len(called), second) == (1, first)
    assert rows() == written
    assert second.research is not first.research


def test_rows_that_were_there_are_changed_again() -> None:
    def rename() -> None:
        Team.objects.filter(slug="research").update(name="Renamed")

    again = Remembered(rename)
    called = times_of(again)
    team = TeamFactory(slug="research", name="Research")
    again()
    team.save()
    again()
    team.refresh_from_db()
    assert (team.name, len(called)) == ("Renamed", 1)


@pytest.mark.parametrize("other", [lambda: TeamFactory(slug="third"), lambda: Team.objects.update(name="Other")])
def test_a_database_that_stands_differently_is_met_as_it_is(other: object) -> None:
    def rename() -> None:
        Team.objects.filter(name="Research").update(name="Renamed")

    again = Remembered(rename)
    called = times_of(again)
    team = TeamFactory(slug="research", name="Research")
    again()
    team.save()
    assert callable(other)
    other()
    again()
    assert len(called) == 2


def test_what_deletes_rows_cannot_be_remembered() -> None:
    TeamFactory()
    with pytest.raises(AssertionError, match="deleted"):
        Remembered(lambda: Team.objects.all().delete())()


def test_the_shared_world_is_what_the_portal_writes_of_it() -> None:
    again, specs = Remembered(two_queues), SpecVersion.objects.order_by("kind", "name")
    people, told = settle(), specs.values_list("kind", "name", "spec", "valid_from")
    world = World(ClusterFactory())
    with undone():
        again(world, people.research, people.vision)
        written, found = ledger(world.cluster), list(told)
    assert written["queues"]
    assert not specs.exists()
    again(world, people.research, people.vision)
    assert (ledger(world.cluster), list(told)) == (written, found)
