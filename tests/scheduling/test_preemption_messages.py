"""The victim's sentence in every wording since 0.7."""

import pytest

from scheduling import names
from scheduling.preemption_messages import PreemptionNotice, parse_preemption, preempted, previously

SEEN = (
    "Preempted to accommodate a workload (UID: cb8dcd8c-da83-4022-bef0-f63767c7297e, JobUID: "
    "a06f5e12-3321-4977-acdf-c032370658ce) due to reclamation within the cohort; preemptor path: "
    "/hyperpod/team-b; preemptee path: /hyperpod/team-a"
)
NOTHING = PreemptionNotice(None, None, None, None, None, None, False)


def test_all_parts_of_a_current_sentence():
    assert parse_preemption(SEEN) == PreemptionNotice(
        uid="cb8dcd8c-da83-4022-bef0-f63767c7297e",
        job_uid="a06f5e12-3321-4977-acdf-c032370658ce",
        reason="InCohortReclamation",
        wording="reclamation within the cohort",
        preemptor_path=("hyperpod", "team-b"),
        preemptee_path=("hyperpod", "team-a"),
        is_past=False,
    )


@pytest.mark.parametrize(
    ("message", "uid", "job_uid", "reason"),
    [
        (
            "Preempted to accommodate a workload (UID: u1) due to prioritization in the ClusterQueue",
            "u1",
            None,
            "InClusterQueue",
        ),
        (
            "Preempted to accommodate a workload (UID: u1, JobUID: j1) due to Fair Sharing within the cohort",
            "u1",
            "j1",
            "InCohortFairSharing",
        ),
        (
            "Preempted to accommodate a workload (UID: u1, JobUID: UNKNOWN) due to reclamation within the cohort "
            "while borrowing",
            "u1",
            None,
            "InCohortReclaimWhileBorrowing",
        ),
        (
            "Preempted to accommodate a workload (UID: u1) due to fair sharing within the cohort",
            "u1",
            None,
            "InCohortFairSharing",
        ),
        ("Preempted to accommodate a workload (UID: u1) in the ClusterQueue", "u1", None, "InClusterQueue"),
        ("Preempted to accommodate a workload (UID: UNKNOWN, JobUID: UNKNOWN) due to UNKNOWN", None, None, None),
        ("Preempted to accommodate a higher priority Workload", None, None, None),
        ("", None, None, None),
    ],
)
def test_older_sentences_give_what_they_have(message, uid, job_uid, reason):
    notice = parse_preemption(message)
    assert (notice.uid, notice.job_uid, notice.reason) == (uid, job_uid, reason)
    assert (notice.preemptor_path, notice.preemptee_path) == (None, None)


def test_wording_that_nobody_knows_is_kept():
    notice = parse_preemption(
        "Preempted to accommodate a workload (UID: u1) due to by rule nightly; preemptor path: /q"
    )
    assert (notice.reason, notice.wording, notice.preemptor_path) == (None, "by rule nightly", ("q",))


def test_an_unknown_path_is_no_path():
    message = "(UID: u1) due to reclamation within the cohort; preemptor path: UNKNOWN; preemptee path: /a/b"
    assert (parse_preemption(message).preemptor_path, parse_preemption(message).preemptee_path) == (None, ("a", "b"))


def test_an_event_adds_priorities_after_the_paths():
    message = f"{SEEN}; preemptor effective priority: 100 (base: 100, boost: 0); preemptee effective priority: 50"
    assert parse_preemption(message) == parse_preemption(SEEN)


@pytest.mark.parametrize("times", [1, 3])
def test_previously_marks_a_preemption_of_the_past(times):
    message = SEEN
    for _ in range(times):
        message = previously(message)
    assert parse_preemption(message).is_past
    assert parse_preemption(message).uid == parse_preemption(SEEN).uid


def test_any_other_sentence_tells_nothing():
    assert parse_preemption("The ClusterQueue is stopped") == NOTHING


@pytest.mark.parametrize("reason", names.PREEMPTION_WORDING)
def test_what_is_written_reads_back(reason):
    notice = parse_preemption(preempted("u1", "j1", reason, ("root", "a"), ("root", "sub", "b")))
    assert notice == PreemptionNotice(
        "u1", "j1", reason, names.PREEMPTION_WORDING[reason], ("root", "a"), ("root", "sub", "b"), False
    )


def test_it_is_written_as_kueue_was_seen_to_write_it():
    uid, job_uid = "cb8dcd8c-da83-4022-bef0-f63767c7297e", "a06f5e12-3321-4977-acdf-c032370658ce"
    ours, theirs = ("hyperpod", "team-b"), ("hyperpod", "team-a")
    assert preempted(uid, job_uid, names.IN_COHORT_RECLAMATION, ours, theirs) == SEEN


def test_a_preemptor_without_a_job_is_written_as_unknown():
    assert "JobUID: UNKNOWN" in preempted("u", "", names.IN_CLUSTER_QUEUE, ("q",), ("q",))
