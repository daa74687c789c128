from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.utils.translation import override

from jobs.models import QueueNow
from jobs.queues.platform_now import QueueLine
from jobs.templatetags import queue_lines
from jobs.templatetags.queue_lines import queue_line
from teams.models import Cluster, Team
from tests.stories import GPU, P5

CLUSTER = Cluster(slug="gpu-one", name="GPU one")


@pytest.fixture(autouse=True)
def _nothing_drawn_yet() -> Iterator[None]:
    queue_lines._drawn.cache_clear()
    yield
    queue_lines._drawn.cache_clear()


def drawn() -> int:
    """How often a line was drawn."""
    return queue_lines._drawn.cache_info().misses


def line(**changes: object) -> QueueLine:
    amounts = {
        "nominal": 16,
        "reservation": 12,
        "usage": 12,
        "borrowed": 0,
        "lendable": 4,
        "lent_low": 0,
        "lent_high": 0,
    }
    row = {"cluster_queue": "queue", "flavor": P5, "resource": GPU, "cohort": "cohort", "listed": True, **amounts}
    return QueueLine(QueueNow(**{**row, **changes}), (Team(slug="research", name="Research"),), is_idle_pool=False)


def test_what_is_the_same_is_drawn_once() -> None:
    assert queue_line(CLUSTER, line(), 40) == queue_line(CLUSTER, line(), 40)
    assert drawn() == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"reservation": 13}, "13 of 16 own"),
        ({"borrowed": 2}, "10 of 16 own, 2 borrowed"),
        ({"borrowing_limit": 7}, '<div class="qset-lim">7</div>'),
        ({"lent_high": 3}, "0 to 3 lent"),
        ({"lendable": 9}, "Can still lend 9."),
        ({"listed": False}, "No longer in the queue's spec."),
        ({"over_committed": True}, "The cohort is over-committed."),
        ({"flavor": "ml.g6.12xlarge"}, "L4. 12 of 16 own"),
    ],
)
def test_whatever_changed_is_told(changes: dict[str, object], words: str) -> None:
    assert words not in queue_line(CLUSTER, line(), 40)
    assert words in queue_line(CLUSTER, line(**changes), 40)


def test_teams_scale_cluster_and_language_are_told_too() -> None:
    before = queue_line(CLUSTER, line(), 40)
    renamed = replace(line(), teams=(Team(slug="research", name="Researchers"),))
    assert "Researchers" in queue_line(CLUSTER, renamed, 40)
    assert queue_line(CLUSTER, line(), 80) != before
    assert "gpu-two" in queue_line(Cluster(slug="gpu-two"), line(), 40)
    with override("pt-br"):
        assert queue_line(CLUSTER, line(), 40) != before
    assert drawn() == 5


def test_names_are_text() -> None:
    odd = replace(line(), teams=(Team(slug="research", name="<b>Research</b>"),))
    assert "&lt;b&gt;Research" in queue_line(CLUSTER, odd, 40)
