"""Evictions of workloads that came and went unseen, as events of either API tell of them."""

from datetime import datetime
from typing import Any

import pytest

from gateways.events import parse_event, parse_new_event
from gateways.records import EventRecord
from jobs.models import Eviction, ToldEviction
from jobs.sync.told_alone import ToldAlone
from notices.kinds import Kind
from notices.models import Notice
from notices.recipients import address
from scheduling import names
from scheduling.preemption_messages import preempted
from tests.people import People
from tests.stories import Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

TAKEN_BACK = preempted("uid", "job", names.IN_COHORT_RECLAMATION, ("shared", "vision-queue"), ("shared", "research"))


def stamp(at: float) -> str:
    return minute(at).isoformat(timespec="microseconds").replace("+00:00", "Z")


def about(uid: str) -> dict[str, Any]:
    namespace = "hyperpod-ns-research"
    return {
        "kind": "Workload",
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "namespace": namespace,
        "name": "job-quick-0a1b2",
        "uid": uid,
    }


def new(at: float = 10, uid: str = "gone-1", reason: str = "EvictedDueToPreempted", **rest: Any) -> EventRecord:
    """As Kueue from 0.18 on writes it: one micro-time, no first and last one."""
    obj = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": f"job-quick-0a1b2.{at}", "namespace": "hyperpod-ns-research", "uid": f"event-{uid}-{at}"},
        "eventTime": stamp(at),
        "type": "Normal",
        "reason": reason,
        "note": TAKEN_BACK if reason == "EvictedDueToPreempted" else "The ClusterQueue is stopped",
        "regarding": about(uid),
        "reportingController": "kueue-admission",
        "deprecatedFirstTimestamp": None,
        "deprecatedLastTimestamp": None,
        **rest,
    }
    return parse_new_event(obj)


def old(at: float, last: float, count: int) -> EventRecord:
    """As Kueue up to 0.17 wrote it."""
    return parse_event(
        {
            "metadata": {"name": "job-quick-0a1b2.1", "uid": "event-1"},
            "involvedObject": about("gone-1"),
            "type": "Normal",
            "reason": "EvictedDueToPreempted",
            "message": TAKEN_BACK,
            "firstTimestamp": f"{minute(at):%Y-%m-%dT%H:%M:%SZ}",
            "lastTimestamp": f"{minute(last):%Y-%m-%dT%H:%M:%SZ}",
            "count": count,
            "eventTime": None,
            "source": {"component": "kueue-admission"},
        }
    )


def learn(world: World, *events: EventRecord, now: float = 30, read: float | None = 29) -> int:
    told = ToldAlone(world.cluster)
    told.take(events)
    return told.write(minute(now), None if read is None else minute(read))


def times() -> list[datetime]:
    return list(ToldEviction.objects.order_by("at").values_list("at", flat=True))


def test_what_an_event_tells_is_kept(shared: World) -> None:
    assert learn(shared, new()) == 1
    row = ToldEviction.objects.get()
    assert (row.namespace, row.workload_uid, row.workload_name) == ("hyperpod-ns-research", "gone-1", "job-quick-0a1b2")
    assert (row.reason, row.cause, row.preemption) == (names.PREEMPTED, "", names.IN_COHORT_RECLAMATION)
    assert row.at == minute(10)
    assert not Eviction.objects.exists()


def test_told_again_it_is_the_same_one(shared: World) -> None:
    learn(shared, new())
    assert learn(shared, new(), new(20, reason="EvictedDueToClusterQueueStopped"), now=40, read=39) == 1
    assert times() == [minute(10), minute(20)]


def test_the_first_and_the_last_of_repeated_ones_are_told(shared: World) -> None:
    assert learn(shared, old(10, 20, 4)) == 2
    assert times() == [minute(10), minute(20)]


def test_events_of_all_else_tell_of_no_eviction(shared: World) -> None:
    assert learn(shared, new(reason="Preempted"), new(reason="Pending")) == 0


@pytest.mark.parametrize(("now", "read"), [(14, 13), (30, 9), (30, None)])
def test_what_the_next_list_may_hold_is_waited_for(shared: World, now: float, read: float | None) -> None:
    assert learn(shared, new(), now=now, read=read) == 0
    assert learn(shared, new()) == 1


def test_known_jobs_have_rows_of_their_own(shared: World) -> None:
    shared.see(job := Job().admit(0))
    assert learn(shared, new(uid=job.uid)) == 0


def test_a_job_that_turns_up_late_is_told_by_its_counters(shared: World) -> None:
    job = Job()
    learn(shared, new(uid=job.uid), new(uid="gone-2"))
    shared.see(job.admit(0))
    learn(shared, new(uid=job.uid), new(uid="gone-2"), now=40, read=39)
    assert ToldEviction.objects.get().workload_uid == "gone-2"


def test_another_cluster_is_told_of_nothing(shared: World, world: World) -> None:
    learn(shared, new())
    assert set(ToldEviction.objects.values_list("cluster", flat=True)) == {shared.cluster.pk}


def test_its_people_are_told_once(shared: World, people: People) -> None:
    learn(shared, new(), new(uid="theirs", regarding={**about("theirs"), "namespace": "hyperpod-ns-nobodys"}))
    learn(shared, new(), now=40, read=39)
    notice = Notice.objects.get()
    assert (notice.kind, notice.subject, notice.team) == (Kind.EVICTED, "gone-1", people.research)
    assert (notice.title, notice.at, notice.submitted_by) == ("job-quick-0a1b2", minute(10), "")
    cause = {"reason": names.PREEMPTED, "cause": "", "preemption": names.IN_COHORT_RECLAMATION}
    assert notice.details == {"namespace": "hyperpod-ns-research", "told": cause}
    address(minute(41))
    assert set(notice.receipts.values_list("user__username", flat=True)) == {"member", "viewer", "team-admin"}


def test_each_eviction_of_one_job_is_told(shared: World) -> None:
    learn(shared, old(10, 20, 4))
    learn(shared, old(10, 25, 5), now=40, read=39)
    assert sorted(Notice.objects.values_list("at", flat=True)) == [minute(10), minute(20), minute(25)]


def test_what_was_over_before_the_portal_came_is_no_news(shared: World) -> None:
    assert learn(shared, new(-1)) == 1
    assert not Notice.objects.exists()


def test_what_turns_up_late_is_not_told_again(shared: World) -> None:
    """A list that missed it is whole again: its counter tells of the eviction that its people know of."""
    job = Job()
    learn(shared, new(uid=job.uid))
    shared.see(job.admit(5).evict(10), now=minute(40), last_seen=minute(29))
    assert Eviction.objects.count() == Notice.objects.filter(kind=Kind.EVICTED).count() == 1
