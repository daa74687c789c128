import pytest

from scheduling.evictions import EvictionReason, event_reason, eviction_reason, past_reason, worded_reason


@pytest.mark.parametrize(
    ("spelled", "reason", "cause"),
    [
        ("Preempted", "Preempted", None),
        ("EvictedDueToPreempted", "Preempted", None),
        ("PodsReadyTimeout", "PodsReadyTimeout", None),
        ("EvictedDueToPodsReadyTimeout", "PodsReadyTimeout", None),
        ("Deactivated", "Deactivated", ""),
        ("InactiveWorkload", "Deactivated", ""),
        ("DeactivatedDueToRequeuingLimitExceeded", "Deactivated", "RequeuingLimitExceeded"),
        ("EvictedDueToDeactivatedDueToMaximumExecutionTimeExceeded", "Deactivated", "MaximumExecutionTimeExceeded"),
        ("EvictedOnManagerCluster", "EvictedOnManagerCluster", None),
        ("AbductedDueToAliens", "AbductedDueToAliens", None),
    ],
)
def test_all_spellings_of_one_reason_are_one(spelled: str, reason: str, cause: str | None) -> None:
    assert eviction_reason(spelled) == EvictionReason(reason, cause)


@pytest.mark.parametrize(
    ("spelled", "reason"),
    [
        ("EvictedDueToPreempted", EvictionReason("Preempted", None)),
        (
            "EvictedDueToDeactivatedDueToMaximumExecutionTimeExceeded",
            EvictionReason("Deactivated", "MaximumExecutionTimeExceeded"),
        ),
        ("Preempted", None),
        ("PreemptedWorkload", None),
        ("Admitted", None),
        ("EvictedDueTo", None),
    ],
)
def test_which_events_tell_of_an_eviction(spelled: str, reason: EvictionReason | None) -> None:
    assert event_reason(spelled) == reason


@pytest.mark.parametrize("spelled", ["", "WorkloadSliceReplaced"])
def test_what_is_no_eviction(spelled: str) -> None:
    assert eviction_reason(spelled) is None


@pytest.mark.parametrize(
    ("message", "reason", "cause"),
    [
        (
            "Preempted to accommodate a workload (UID: a, JobUID: b) due to reclamation within the cohort",
            "Preempted",
            None,
        ),
        ("Exceeded the PodsReady timeout hyperpod-ns-research/train", "PodsReadyTimeout", None),
        ("The ClusterQueue is stopped", "ClusterQueueStopped", None),
        ("The LocalQueue is stopped", "LocalQueueStopped", None),
        ("The workload is deactivated", "Deactivated", ""),
        ("The workload is deactivated due to exceeding the maximum number of re-queuing retries", "Deactivated", None),
        ("Evicted due to AdmissionCheck(s): [budget] in state Retry", "AdmissionCheck", None),
        ("At least one admission check is false", "AdmissionCheck", None),
        (
            "Workload eviction triggered due to multiple TAS assigned node failures, including: a, b",
            "NodeFailures",
            None,
        ),
        ("Workload was evicted as there was no replacement for unhealthy node(s): a", "NodeFailures", None),
        (
            "Evicted to accommodate a workload (UID: a) due to migration to more favorable resource flavor",
            "FlavorMigration",
            None,
        ),
    ],
)
def test_the_wording_of_a_past_eviction_tells_its_reason(message: str, reason: str, cause: str | None) -> None:
    assert past_reason(f"Previously: {message}") == EvictionReason(reason, cause)
    assert past_reason(message) is None
    assert worded_reason(message) == worded_reason(f"Previously: {message}") == EvictionReason(reason, cause)


def test_wording_that_nobody_knows_tells_no_reason() -> None:
    assert past_reason("Previously: it was time") is None
    assert worded_reason("it was time") is None
