"""Random lives of workloads, told in order and out of it: what the ledger holds in the end and at every step."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from django.db import transaction
from django.db.models import Sum
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from jobs.ledger.eviction_losses import write_losses
from jobs.ledger.holds import usages_of_open_spans
from jobs.ledger.observed import hold_of
from jobs.ledger.writing import Vanished, write_workloads
from jobs.models import Eviction, Span, TeamNow, Workload
from jobs.states import state_of
from scheduling import objects
from teams.models import Cluster, NamespaceBinding
from tests.people import People
from tests.stories import Job, cluster_queue, local_queue, minute
from tests.worlds import World, ledger

pytestmark = pytest.mark.django_db

A_FEW = settings(
    max_examples=15,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # making a failure smaller takes minutes on a database
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
PLACES = (
    ("hyperpod-ns-research", "research-queue"),
    ("hyperpod-ns-vision", "vision-queue"),
    ("hyperpod-ns-vision", "research-queue"),
    ("of-nobody", "research-queue"),
)
VERBS = ("reserve", "admit", "evict", "release", "finish", "message", "give_back", "deactivate", "activate")


@contextmanager
def undone() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@st.composite
def lives(draw: st.DrawFn) -> list[Job]:
    count = draw(st.integers(1, 4))
    places = st.sampled_from(PLACES)
    return [
        Job(f"job-{n}", namespace, queue=queue, gpus=draw(st.integers(0, 6)), pods=2)
        for n, (namespace, queue) in enumerate(draw(st.lists(places, min_size=count, max_size=count)))
    ]


def step(job: Job, verb: str, at: float) -> None:
    """One write of Kueue, where it makes sense; otherwise a new message."""
    record = job.record
    reserved, finished = record.is_true("QuotaReserved"), record.is_finished
    if verb in ("reserve", "admit") and not reserved and record.active and not finished:
        job.reserve(at) if verb == "reserve" else job.admit(at)
    elif verb == "admit" and reserved and not record.is_true("Admitted") and not finished:
        job.admit(at)
    elif verb == "evict" and reserved and not finished and not record.is_true("Evicted"):
        job.evict(at)
    elif verb == "release" and record.is_true("Evicted") and reserved and not finished:
        job.release(at)
    elif verb == "finish" and not finished:
        job.finish(at)
    elif verb == "give_back" and reserved:
        job.give_back(min(2, record.reclaimable.get("main", 0) + 1))
    elif verb in ("deactivate", "activate") and not finished:
        job.obj["spec"]["active"] = verb == "activate"
        job.touch()
    else:
        job.condition("Requeued", True, at, "Whatever", f"told at {at}")


def assert_holds_are(newest: list[objects.Workload]) -> None:
    """The open spans are exactly what the newest state of each workload holds."""
    spans = {s.workload.uid: s for s in Span.objects.filter(released_before=None).select_related("workload")}
    for record in newest:
        hold = hold_of(record)
        span = spans.pop(record.uid, None)
        if hold is None:
            assert span is None
            continue
        assert span is not None
        usages = span.usages.filter(valid_to=None).values_list("flavor", "resource", "amount")
        told = (span.cluster_queue, span.reserved_at, span.admitted_at, span.evicted_at)
        assert told == (hold.cluster_queue, hold.reserved_at, hold.admitted_at, hold.evicted_at)
        assert {(flavor, resource): amount for flavor, resource, amount in usages} == hold.amounts
    assert spans == {}


def assert_teams_add_up() -> None:
    """What the teams hold is what the namespaces bound to them reserve, queue by queue."""
    owned = NamespaceBinding.objects.current().values("namespace")
    for row in TeamNow.objects.values("cluster", "cluster_queue", "flavor", "resource").annotate(
        own_sum=Sum("own"), borrowed_sum=Sum("borrowed")
    ):
        cluster = Cluster.objects.get(pk=row["cluster"])
        held = usages_of_open_spans(cluster, [row["cluster_queue"]]).filter(
            flavor=row["flavor"], resource=row["resource"], valid_to=None, span__workload__namespace__in=owned
        )
        assert row["own_sum"] + row["borrowed_sum"] == held.aggregate(total=Sum("amount"))["total"]


def assert_spans_are_in_order() -> None:
    for workload in Workload.objects.prefetch_related("spans"):
        spans = sorted(workload.spans.all(), key=lambda span: span.reserved_at)
        for earlier, later in zip(spans, spans[1:], strict=False):
            assert earlier.released_before is not None
            assert earlier.reserved_at <= earlier.released_after <= earlier.released_before <= later.reserved_at


Event = tuple[objects.Workload, bool]
"""A look, and whether it is the last of a deleted object."""


def tell(world: World, events: Sequence[Event]) -> None:
    now = minute(30)
    gone = [Vanished(look.uid, look.resource_version, now, now, watched=True) for look, deleted in events if deleted]
    write_workloads(world.cluster, [look for look, _ in events], gone, now=now, last_seen=now)


@A_FEW
@given(data=st.data(), jobs=lives())
def test_looks_in_any_order_and_repeated_end_in_what_the_newest_demands(
    shared: World, data: st.DataObject, jobs: list[Job]
) -> None:
    events: list[Event] = []
    for at in range(1, data.draw(st.integers(2, 14)) + 1):
        job = data.draw(st.sampled_from(jobs))
        step(job, data.draw(st.sampled_from(VERBS)), at)
        events.append((job.record, False))
    deleted = data.draw(st.lists(st.sampled_from(jobs), max_size=2, unique=True))
    events += [(job.touch().record, True) for job in deleted]
    newest = {look.uid: look for look, _ in events}
    gone = {job.uid for job in deleted}
    order = data.draw(st.permutations(events * 2))
    with undone():
        while order:
            size = data.draw(st.integers(1, 6))
            tell(shared, order[:size])
            order = order[size:]
        assert_holds_are([look for look in newest.values() if look.uid not in gone])
        rows = {w.uid: (w.resource_version, w.gone_before is not None) for w in Workload.objects.all()}
        assert rows == {uid: (look.resource_version, uid in gone) for uid, look in newest.items()}
        states = {w.uid: w.state for w in Workload.objects.live()}
        assert states == {uid: state_of(look) for uid, look in newest.items() if uid not in gone}
        assert_teams_add_up()
        assert shared.cache_faults() == 0
        assert write_losses(Eviction.objects.select_related("span")) == 0
        before = ledger(shared.cluster)
        tell(shared, events)
        assert ledger(shared.cluster) == before


@A_FEW
@given(data=st.data(), jobs=lives())
def test_every_step_leaves_caches_that_a_rebuild_would_make(
    shared: World, data: st.DataObject, jobs: list[Job]
) -> None:
    gone: set[str] = set()
    with undone():
        for at in range(1, data.draw(st.integers(2, 14)) + 1):
            what = data.draw(st.sampled_from((*VERBS, *VERBS, "lose", "quota", "cohort", "queue gone", "local queue")))
            job = data.draw(st.sampled_from(jobs))
            if what == "lose":
                if shared.lose(job, now=minute(at), after=minute(at - 1)):
                    gone.add(job.uid)
            elif what == "quota":
                shared.now = minute(at)
                shared.queues(cluster_queue("research-queue", data.draw(st.integers(0, 9))))
            elif what == "cohort":
                shared.now = minute(at)
                shared.queues(cluster_queue("vision-queue", 8, cohort=data.draw(st.sampled_from(["shared", None]))))
            elif what == "queue gone":
                shared.now = minute(at)
                shared.queues_gone("research-queue")
            elif what == "local queue":
                shared.now = minute(at)
                shared.queues(local_queue("hyperpod-ns-vision", "research-queue"))
            else:
                step(job, what, at)
                if shared.see(job, now=minute(at)):
                    gone.discard(job.uid)
            assert shared.cache_faults() == 0, what
            assert_teams_add_up()
        assert_spans_are_in_order()
        seen = set(Workload.objects.values_list("uid", flat=True))
        assert_holds_are([job.record for job in jobs if job.uid in seen - gone])


def test_two_batches_told_in_either_order_end_alike(shared: World, people: People) -> None:
    def batches() -> tuple[list[objects.Workload], list[objects.Workload]]:
        first, second = Job("first"), Job("second", gpus=20)
        early = [first.admit(1).record, second.reserve(2).record]
        late = [first.evict(3).release(4).record, second.admit(5).record]
        return early, late

    early, late = batches()
    ends = []
    for order in ((early, late), (late, early), (late, early, early, late)):
        with undone():
            for batch in order:
                shared.see(*batch, now=minute(9))
            ends.append(
                {
                    name: rows
                    for name, rows in ledger(shared.cluster).items()
                    if name not in ("spans", "usages", "evictions")
                }
            )
            assert Span.objects.filter(released_before=None).count() == 1
    assert ends[0] == ends[1] == ends[2]
