from datetime import timedelta

import pytest
from django.db import connection

from jobs.evictions.filter import Column, EvictionFilter
from jobs.evictions.list import page_of, tally
from jobs.models import Eviction
from scheduling import names
from tests.stories import START, Job
from tests.worlds import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def eleven(shared: World) -> list[int]:
    """Keys of eleven evictions of one job, the newest first; two are decided at the same moment, and of some the loss
    is unknown."""
    shared.see(Job("job"))
    workload = shared.row(Job("job"))
    decisions = [START - timedelta(minutes=number // 2) for number in range(11)]
    rows = Eviction.objects.bulk_create(
        Eviction(
            cluster=shared.cluster, namespace=workload.namespace, workload=workload, reason=names.PREEMPTED,
            ordinal=number, observed=True, decided_after=decided, decided_before=decided, priority=0, work="training",
            lost_expected=number % 3 or None,
        )
        for number, decided in enumerate(decisions)
    )  # fmt: skip
    return [row.pk for row in sorted(rows, key=lambda row: (row.decided_before, row.pk), reverse=True)]


@pytest.mark.parametrize("sort", Column)
def test_pages_counted_from_either_end_make_the_list(eleven: list[int], sort: Column) -> None:
    pages = [
        [row.pk for row in page_of(Eviction.objects.all(), EvictionFilter(sort=sort, per=2, page=number), 11).rows]
        for number in range(1, 7)
    ]
    assert [len(page) for page in pages] == [2, 2, 2, 2, 2, 1]
    assert sorted(sum(pages, [])) == sorted(eleven)
    if sort == Column.DECIDED:
        assert sum(pages, []) == eleven


def test_the_largest_loss_is_first_and_the_unknown_last(eleven: list[int]) -> None:
    wanted = EvictionFilter(sort=Column.LOST, per=25)
    losses = [row.lost_expected for row in page_of(Eviction.objects.all(), wanted, 11).rows]
    assert losses == [2, 2, 2, 1, 1, 1, 1, None, None, None, None]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="how SQLite says it")
def test_totals_read_no_row(eleven: list[int]) -> None:
    found = Eviction.objects.filter(cluster=1, namespace="some", decided_before__gte=START, priority_class="low")
    assert "COVERING INDEX" in found.values("namespace").explain()
    assert tally(found).count == 0
