import pytest

from tests.pages.reading import visit, words
from tests.people import People
from tests.worlds import World

pytestmark = pytest.mark.django_db
NO_CLASS, NO_CHECK = "Every job has priority 0 until there are classes.", "Jobs are admitted as soon as there is quota."


def page(people: People) -> str:
    return words(visit(people.platform_admin, "/platform/clusters/gpu-one/"))


def test_a_cluster_that_was_never_read_is_not_said_to_lack_classes_and_checks(world: World, people: People) -> None:
    text = page(people)
    assert NO_CLASS not in text
    assert NO_CHECK not in text
    assert text.count("Not known yet") == len(("flavors", "classes", "checks"))


def test_a_cluster_that_was_read_has_none(world: World, people: People) -> None:
    world.is_read()
    text = page(people)
    assert NO_CLASS in text
    assert NO_CHECK in text
