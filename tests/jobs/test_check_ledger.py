from io import StringIO

import pytest
from django.core.management import call_command

from jobs.models import Eviction, EvictionLoop, Interruption, QueueNow, Span, SpanUsage
from jobs.sync.pod_runs import write_pods
from teams.models import NodeCapacity, QuotaLine, SpecVersion
from tests.pods import Pod
from tests.stories import P5, Job, cluster_queue, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


def check() -> list[str]:
    """The faults that the command tells."""
    out = StringIO()
    ended = 0
    try:
        call_command("check_ledger", stdout=out)
    except SystemExit as exit_:
        ended = int(exit_.code or 0)
    *faults, count = out.getvalue().splitlines()
    assert count == f"{len(faults)} faults"
    assert ended == (1 if faults else 0)
    return faults


def test_a_sound_ledger(shared: World) -> None:
    job = Job().admit(1)
    shared.see(job)
    shared.now = minute(2)
    shared.queues(cluster_queue("research-queue", 9))
    shared.queues_gone("vision-queue")
    shared.see(job.evict(3).release(4), now=minute(4))
    shared.see(Job("gone").admit(5), now=minute(5))
    shared.lose(Job("gone"), now=minute(7), after=minute(6))
    assert check() == []


def test_nothing_at_all(db: None) -> None:
    assert check() == []


def test_versions_that_overlap_or_leave_a_hole(shared: World) -> None:
    shared.now = minute(5)
    shared.queues(cluster_queue("research-queue", 9))
    first = SpecVersion.objects.filter(name="research-queue", valid_to=minute(5))
    first.update(valid_to=minute(6))
    assert "overlaps the next" in check()[0]
    SpecVersion.objects.filter(name="research-queue", valid_to=minute(6)).update(valid_to=minute(4))
    assert "nothing holds from" in check()[0]


def test_quota_lines_that_overlap(shared: World) -> None:
    shared.now = minute(5)
    shared.queues(cluster_queue("research-queue", 9))
    QuotaLine.objects.filter(owner="research-queue", valid_to=minute(5)).update(valid_to=minute(6))
    assert "overlaps the next" in check()[0]


def test_a_hole_between_two_quota_lines_is_a_time_without_that_flavor(shared: World) -> None:
    shared.now = minute(5)
    shared.queues_gone("research-queue")
    shared.now = minute(9)
    shared.queues(cluster_queue("research-queue", 12))
    assert check() == []


def test_node_counts_that_leave_a_hole(world: World) -> None:
    for start, end in ((0, 5), (6, None)):
        NodeCapacity.objects.create(
            cluster=world.cluster,
            instance_type=P5,
            total=1,
            healthy=1,
            valid_from=minute(start),
            valid_to=None if end is None else minute(end),
        )
    assert "nothing holds from" in check()[0]


def test_spans_that_make_no_sense(shared: World) -> None:
    for name in ("early", "open", "finished", "usage"):
        shared.see(Job(name).admit(5))
    spans = {span.workload.title: span for span in Span.objects.select_related("workload")}
    Span.objects.filter(pk=spans["early"].pk).update(released_after=minute(1), released_before=minute(1))
    for name, fields in (
        ("open", {"gone_after": minute(9), "gone_before": minute(9), "gone_version": 1}),
        ("finished", {"finished_at": minute(9)}),
    ):
        type(spans[name].workload).objects.filter(pk=spans[name].workload_id).update(**fields)
    SpanUsage.objects.filter(span=spans["usage"]).update(valid_from=minute(4), valid_to=minute(3))
    told = "\n".join(check())
    for pk, what in (
        (spans["early"].pk, "released before it was reserved"),
        (spans["open"].pk, "open although its workload is gone"),
        (spans["finished"].pk, "open although its workload finished"),
        (spans["usage"].pk, "with a usage that ends before it starts"),
        (spans["usage"].pk, "with a usage from before it was reserved"),
    ):
        assert f"Span {pk}: {what}" in told


def test_caches_that_differ_are_told_and_mended(shared: World) -> None:
    QueueNow.objects.update(reservation=99)
    (fault,) = check()
    assert fault.startswith("Cluster gpu-one: 2 cached rows differed")
    assert check() == []


def test_losses_that_differ_from_their_spans_are_told_and_mended(shared: World) -> None:
    job = Job().admit(5)
    shared.see(job)
    shared.see(job.evict(9))
    shared.see(job.release(10))
    Eviction.objects.update(lost_high=0)
    (fault,) = check()
    assert fault == "Cluster gpu-one: 1 evictions cost something else; they were mended"
    assert check() == []


def test_interruptions_that_differ_from_the_pods_are_told_and_mended(shared: World) -> None:
    job = Job().admit(0)
    shared.see(job)
    write_pods(
        shared.cluster, [Pod(job).ends(5, code=1).look], sick_nodes=lambda nodes: (), now=minute(5), last_seen=None
    )
    Interruption.objects.update(pods=7)
    (fault,) = check()
    assert fault == "Cluster gpu-one: 1 workloads were interrupted otherwise; they were mended"
    assert check() == []
    assert Interruption.objects.get().pods == 1


def test_loops_that_the_evictions_do_not_make(shared: World) -> None:
    job = Job()
    for at in (10, 20, 30):
        shared.see(job.admit(at - 5).evict(at).release(at + 1), now=minute(at + 2))
    EvictionLoop.objects.update(size=7)
    assert check() == [f"Cluster {shared.cluster.slug}: 1 workloads were in other loops; they were mended"]
    assert EvictionLoop.objects.get().size == 3
    assert check() == []
