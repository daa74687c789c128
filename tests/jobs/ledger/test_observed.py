from datetime import UTC, datetime

import pytest

from jobs.ledger.observed import COLUMNS, hold_of, past_hold_of, released_at, row_of
from scheduling import names
from scheduling.quantities import BadQuantity
from tests.stories import GPU, KEY, Job, minute


def row(job: Job) -> dict[str, object]:
    return dict(zip(COLUMNS, row_of(job.record, 7, minute(9)), strict=True))


def test_one_value_per_column() -> None:
    found = row(Job())
    assert (found["cluster_id"], found["first_seen_at"], found["gone_before"]) == (7, minute(9), None)


def test_a_workload_without_owner_labels_or_creation_time() -> None:
    job = Job()
    for name in ("ownerReferences", "labels", "creationTimestamp"):
        del job.obj["metadata"][name]
    found = row(job)
    assert (found["owner_kind"], found["owner_name"], found["owner_uid"], found["job_uid"]) == ("", "", "", "")
    assert found["created_at"] == minute(9)
    assert found["queued_at"] == datetime.max.replace(tzinfo=UTC)


def test_the_status_keeps_what_is_there_and_leaves_out_what_is_empty() -> None:
    assert row(Job())["status"] == {}
    job = Job(gpus=2, pods=2).admit(1).give_back(1)
    job.obj["status"] |= {
        "schedulingStats": {"evictions": [{"reason": "Preempted", "underlyingCause": "", "count": 2}]},
        "accumulatedPastExexcutionTimeSeconds": 90,
        "admissionChecks": [{"name": "budget", "state": "Ready", "message": "fine"}],
        "requeueState": {"count": 1, "requeueAt": "2026-10-08T13:00:00Z"},
    }
    assert row(job)["status"] == {
        "cluster_queue": "research-queue",
        "assignments": [{"name": "main", "count": 2, "flavors": {GPU: KEY[0]}, "usage": {GPU: 4}}],
        "evictions": [["Preempted", "", 2]],
        "accumulated_seconds": 90,
        "checks": [["budget", "Ready", "fine"]],
        "reclaimable": {"main": 1},
        "requeue_count": 1,
        "requeue_at": "2026-10-08T13:00:00+00:00",
    }


def test_a_deactivated_workload_says_so() -> None:
    assert row(Job().deactivate())["status"] == {"deactivated": True}


def test_a_finish_is_dated_only_once_it_is_true() -> None:
    assert row(Job().condition(names.FINISHED, False, 3))["finished_at"] is None
    assert row(Job().finish(3))["finished_at"] == minute(3)


def test_preempting_is_a_matter_of_waiting() -> None:
    message = "Pending the preemption of 1 workload(s)"
    assert row(Job().waits(message))["is_preempting"] is True
    assert row(Job().condition(names.QUOTA_RESERVED, True, 1, "QuotaReserved", message))["is_preempting"] is False


def test_unreadable_requests_raise() -> None:
    with pytest.raises(BadQuantity):
        row(Job(requests={GPU: "some"}))


def test_a_hold_needs_a_reservation_with_a_time() -> None:
    assert hold_of(Job().waits().record) is None
    job = Job().reserve(1)
    for condition in job.obj["status"]["conditions"]:
        del condition["lastTransitionTime"]
    assert hold_of(job.record) is None


def test_what_a_finished_workload_held() -> None:
    job = Job(gpus=2, pods=2).admit(1).give_back(2).finish(5)
    assert hold_of(job.record) is None
    past = past_hold_of(job.record)
    assert past is not None
    assert (past.reserved_at, past.admitted_at, past.amounts) == (minute(1), minute(1), {KEY: 4})
    assert past_hold_of(Job().waits().finish(5).record) is None


@pytest.mark.parametrize(
    ("job", "end"),
    [
        (Job().admit(1).finish(5), 5),
        (Job().admit(1).evict(4).release(5), 5),
        (Job().admit(1).deactivate().evict(5), 5),
        (Job().admit(1).deactivate(), None),
    ],
)
def test_when_a_hold_ended(job: Job, end: float | None) -> None:
    assert released_at(job.record, minute(1)) == (None if end is None else minute(end))


def test_an_end_before_the_hold_began_tells_nothing() -> None:
    assert released_at(Job().admit(1).evict(4).release(5).record, minute(6)) is None


def test_accelerators_of_all_pods_are_counted_and_nothing_else() -> None:
    assert row(Job(gpus=8, pods=3))["gpus"] == 24
    assert row(Job(requests={"nvidia.com/mig-1g.5gb": "2", "cpu": "64", "memory": "1Gi"}))["gpus"] == 2
    assert row(Job(requests={"cpu": "4"}))["gpus"] == 0
    assert row(Job(gpus="9223372036854775807", pods=3))["gpus"] == 2**63 - 1


def test_since_dates_the_wait_the_hold_and_the_end() -> None:
    job = Job(created=1)
    assert row(job)["since"] == minute(1)
    assert row(job.waits("no room", 2))["since"] == minute(1)
    assert row(job.reserve(3))["since"] == minute(3)
    assert row(job.admit(4))["since"] == minute(3)
    assert row(job.evict(5))["since"] == minute(3)
    assert row(job.release(6))["since"] == minute(6)
    assert row(job.admit(7).finish(8))["since"] == minute(8)


def test_since_is_unknown_where_no_object_tells() -> None:
    job = Job()
    del job.obj["metadata"]["creationTimestamp"]
    assert row(job)["since"] is None
    undated = Job().finish(3)
    del undated.obj["status"]["conditions"][0]["lastTransitionTime"]
    assert row(undated)["since"] is None
