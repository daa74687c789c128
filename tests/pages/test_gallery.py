import pytest

from tests.pages.reading import labels, visit, words
from tests.people import People

pytestmark = pytest.mark.django_db


def test_the_time_to_start_in_every_state(people: People) -> None:
    response = visit(people.member, "/gallery/")
    for label in (
        "Scheduler 30 min and Cluster 40 min",
        "Scheduler 1 h 30 min",
        "You 1 h 30 min",
        "Platform admin 1 h 30 min",
        "Scheduler 30 min and Cluster 1 h 0 min",
        "Not known 40 min and Cluster 30 min",
    ):
        assert label in labels(response)
    text = words(response)
    assert "It ended before it had started, after 1 h 10 min." in text
    assert "Nothing is known yet of how it starts." in text
