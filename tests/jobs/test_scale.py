"""Ten thousand workloads in one namespace."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs.models import Span, Workload
from jobs.queues.team_now import queue_order
from portal.write_path import BATCH
from scheduling import objects
from teams.queues import current_queues
from tests.stories import Job, minute, next_version
from tests.worlds import World

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
MANY = 10_000


def copies(job: Job, count: int) -> Iterator[objects.Workload]:
    """One object many times over, each under its own name."""
    meta = job.obj["metadata"]
    for number in range(count):
        meta |= {"uid": f"uid-{number:05}", "name": f"job-{number:05}", "resourceVersion": str(next_version())}
        yield job.record


def test_they_are_stored_in_batches_and_compared_without_a_write(shared: World) -> None:
    batches = MANY // BATCH
    waiting = list(copies(Job().waits("no room"), MANY))
    with CaptureQueriesContext(connection) as queries:
        assert shared.see(*waiting) == MANY
    assert len(queries) <= 12 * batches
    with CaptureQueriesContext(connection) as queries:
        assert shared.see(*waiting, now=minute(1)) == 0
    assert len(queries) <= 5 * batches
    order = queue_order(shared.cluster, current_queues(shared.cluster), "research-queue")
    assert order == list(Workload.objects.order_by("uid").values_list("pk", flat=True))


def test_what_many_hold_is_summed_once_per_batch(shared: World) -> None:
    count = 4 * BATCH
    with CaptureQueriesContext(connection) as queries:
        assert shared.see(*copies(Job(gpus=1).admit(1), count)) == count
    assert len(queries) <= 30 * 4
    assert (shared.queue_now().reservation, shared.queue_now().borrowed) == (count, count - 12)
    assert Span.objects.filter(released_before=None).count() == count
