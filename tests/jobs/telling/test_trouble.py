"""What platform admins are told of a cluster."""

from typing import Any

import pytest

from gateways.errors import Unavailable
from gateways.records import NodeRecord
from jobs.sync.sources import SOURCES
from jobs.telling.trouble import look
from notices.kinds import OF_PLATFORM, Kind, Severity
from notices.models import Notice, Receipt
from notices.recipients import address
from portal.sync_runs import record_failure
from scheduling import names
from teams.sync import write_nodes
from tests.people import People
from tests.stories import GPU, P5, START, Job, cluster_queue, local_queue, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


def lasting(world: World, at: float) -> dict[str, str]:
    """Titles by kind, with the cluster as it was last seen."""
    world.cluster.refresh_from_db()
    look(world.cluster, minute(at))
    return dict(Notice.objects.filter(ended_at__isnull=True, kind__in=OF_PLATFORM).values_list("kind", "title"))


@pytest.fixture
def current(shared: World) -> World:
    shared.is_read(minute(60))
    return shared


def test_a_cluster_in_order_is_no_news(current: World) -> None:
    current.see(Job().admit(0))
    assert lasting(current, 60) == {}


def test_a_cluster_that_was_never_asked_is_no_news(shared: World) -> None:
    assert lasting(shared, 60) == {}


def test_a_cluster_that_cannot_be_read_until_it_can(shared: World) -> None:
    shared.is_read(START)
    for source in SOURCES:
        record_failure(source, shared.cluster.slug, now=minute(1), error=Unavailable("refused"))
    assert lasting(shared, 5) == {}
    assert lasting(shared, 6) == {Kind.SYNC_STALLED: "GPU one"}
    shared.is_read(minute(7))
    assert lasting(shared, 7) == {}


def test_a_cluster_that_never_answered(shared: World) -> None:
    record_failure("workloads", shared.cluster.slug, now=minute(1), error=Unavailable("refused"))
    assert lasting(shared, 7) == {Kind.SYNC_STALLED: "GPU one"}


def test_where_an_interval_is_long_so_is_the_patience(shared: World, settings: Any) -> None:
    settings.PULL_SECONDS = 600
    shared.is_read(START)
    assert lasting(shared, 30) == {}
    assert lasting(shared, 31) == {Kind.SYNC_STALLED: "GPU one"}


def test_nodes_that_quotas_promise_and_that_are_not_healthy(current: World) -> None:
    nodes = [NodeRecord(f"node-{n}", P5, n > 0, {GPU: 8}) for n in range(3)]
    write_nodes(current.cluster, nodes, START)
    assert lasting(current, 60) == {Kind.NODES_BELOW_QUOTAS: P5}
    assert Notice.objects.get().details == {"missing": 4}
    write_nodes(current.cluster, [NodeRecord(f"node-{n}", P5, True, {GPU: 8}) for n in range(3)], minute(1))
    assert lasting(current, 60) == {}


def test_a_stopped_queue(current: World) -> None:
    current.queues(cluster_queue("vision-queue", 8, stopPolicy=names.HOLD))
    assert lasting(current, 60) == {Kind.QUEUE_STOPPED: "vision-queue"}


def test_a_stopped_queue_of_one_namespace(current: World) -> None:
    current.queues(local_queue("hyperpod-ns-vision", "vision-queue", stopPolicy=names.HOLD))
    assert lasting(current, 60) == {Kind.QUEUE_STOPPED: "hyperpod-ns-vision/main-queue"}


def test_how_grave_each_is(current: World) -> None:
    """What keeps everybody from knowing or running anything is critical; the rest can wait for the morning."""
    current.queues(cluster_queue("vision-queue", 8, stopPolicy=names.HOLD))
    write_nodes(current.cluster, [NodeRecord("node-1", P5, True, {GPU: 8})], START)
    lasting(current, 60)
    lasting(current, 70)
    assert dict(Notice.objects.values_list("kind", "severity")) == {
        Kind.QUEUE_STOPPED: Severity.WARNING,
        Kind.NODES_BELOW_QUOTAS: Severity.CRITICAL,
        Kind.SYNC_STALLED: Severity.CRITICAL,
    }


def test_a_stuck_job_is_told_to_its_people_and_the_admins(current: World, people: People) -> None:
    job = Job()
    job.obj["spec"]["podSets"][0]["template"]["metadata"] = {"annotations": {names.SUBMITTED_BY_ANNOTATION: "viewer"}}
    current.see(job.admit(0), now=minute(1))
    current.see(job.evict(45), now=minute(45))
    assert lasting(current, 55) == {}
    assert lasting(current, 56) == {Kind.STUCK: "train"}
    address(minute(56))
    told = Receipt.objects.filter(notice__kind=Kind.STUCK).values_list("user__username", flat=True)
    assert set(told) == {"viewer", "platform-admin"}
    current.see(job.release(57), now=minute(57))
    assert lasting(current, 58) == {}


def test_a_job_that_loops(current: World) -> None:
    job = Job().admit(0)
    current.see(job)
    for at in (10, 20, 30):
        current.see(job.evict(at), now=minute(at))
        current.see(job.release(at + 1), now=minute(at + 1))
        current.see(job.admit(at + 2), now=minute(at + 2))
    assert lasting(current, 40) == {Kind.LOOPING: "train"}


def test_while_a_cluster_cannot_be_read_all_else_stays_as_it_was_told(current: World) -> None:
    current.queues(cluster_queue("vision-queue", 8, stopPolicy=names.HOLD))
    lasting(current, 60)
    current.queues(cluster_queue("vision-queue", 8))
    assert set(lasting(current, 70)) == {Kind.QUEUE_STOPPED, Kind.SYNC_STALLED}
