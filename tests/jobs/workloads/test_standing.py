import pytest

from jobs.models import Workload
from jobs.rules.time_to_start import Actor
from jobs.states import OVER, WAITING, JobState
from jobs.words.reasons import Reason
from jobs.workloads.standing import standing
from tests.stories import START

WHY = Reason(("Not enough is free.",), "raw", Actor.SCHEDULER)


def of(state: str, **told: object) -> Workload:
    return Workload(state=state, priority_class=told.pop("priority_class", "normal"), **told)


def evicted(reason: str, preempted: str = "") -> dict[str, object]:
    conditions: dict[str, object] = {"Evicted": {"status": True, "reason": reason, "message": "", "since": None}}
    if preempted:
        conditions["Preempted"] = {"status": True, "reason": preempted, "message": "", "since": None}
    return {"conditions": conditions}


@pytest.mark.parametrize("state", [*JobState, "levitating"])
def test_every_state_has_words_and_something_to_do(state: str) -> None:
    stands = standing(of(state), WHY if state in WAITING else None)
    assert stands.sentences[0].endswith(".")
    assert stands.todo.endswith(".")
    assert (stands.actor is None) == (state in OVER and state != JobState.FAILED or state == JobState.RUNNING)


def test_a_waiting_one_says_why_and_who_must_act() -> None:
    stands = standing(of(JobState.QUEUED), WHY)
    assert stands.sentences == ("It waits in the queue for quota.", "Not enough is free.")
    assert (stands.todo, stands.actor) == ("Nothing: it starts by itself when there is room.", Actor.SCHEDULER)


def test_one_that_is_too_big_is_to_be_made_smaller() -> None:
    stands = standing(of(JobState.INADMISSIBLE), Reason(("It can never start.",), "", Actor.OWNER, is_too_big=True))
    assert stands.sentences[0] == "It waits in the queue and cannot start as things are."
    assert stands.todo == "Make the job smaller and submit it again, or ask the platform admin for more quota."


def test_what_it_borrows_may_be_taken_back() -> None:
    stands = standing(of(JobState.RUNNING), None, own=1, borrowed=3)
    assert stands.sentences == ("It runs.", "Its GPUs: 1 own, 3 borrowed. What is borrowed may be taken back.")
    assert stands.todo == "Save checkpoints often, so that little is lost if it is evicted."
    stands = standing(of(JobState.RUNNING), None, own=4)
    assert stands.sentences == ("It runs.", "Its GPUs are the queue's own quota.")
    assert stands.todo == "Nothing."


def test_without_a_priority_class_it_is_evicted_first() -> None:
    sentence = "It has no priority class, so it is among the first to be evicted."
    assert sentence in standing(of(JobState.RUNNING, priority_class=""), None).sentences
    assert sentence not in standing(of(JobState.FINISHED, priority_class=""), None).sentences


@pytest.mark.parametrize(
    ("reason", "preempted", "sentence"),
    [
        ("Preempted", "InCohortReclamation", "It ran on borrowed quota, and the lender took it back."),
        ("Preempted", "InClusterQueue", "A job of higher priority in the same queue needed its place."),
        ("Preempted", "", "The cluster names a cause that the portal does not know."),
        ("Preempted", "ByTheMoon", "The cluster names a cause that the portal does not know."),
        ("NodeFailures", "", "Nodes that it ran on failed."),
        ("LevitationFailed", "", "The cluster names a cause that the portal does not know."),
    ],
)
def test_why_it_was_stopped(reason: str, preempted: str, sentence: str) -> None:
    for state in (JobState.GIVING_BACK, JobState.INTERRUPTED):
        assert sentence in standing(of(state, **evicted(reason, preempted)), None).sentences
    for state in (JobState.RUNNING, JobState.FINISHED, JobState.QUEUED):
        assert sentence not in standing(of(state, **evicted(reason, preempted)), None).sentences


def test_one_that_was_stopped_and_stands_in_line_again() -> None:
    stands = standing(of(JobState.INTERRUPTED, is_queued=True), WHY)
    assert stands.sentences == ("It was stopped and stands in line again.", "Not enough is free.")


def test_the_cause_is_said_once() -> None:
    cause = "Nodes that it ran on failed."
    stands = standing(
        of(JobState.INTERRUPTED, **evicted("NodeFailures")), Reason((cause, "Wait."), "", Actor.SCHEDULER)
    )
    assert stands.sentences == ("It was stopped and will be queued again.", cause, "Wait.")


def test_one_that_is_gone_waits_no_more() -> None:
    stands = standing(of(JobState.QUEUED, gone_after=START, gone_before=START), None)
    assert stands.sentences == ("It was deleted from the cluster.",)
    assert (stands.todo, stands.actor) == ("Nothing.", None)


def test_one_that_was_switched_off_is_its_owners() -> None:
    switched_off = Reason(("It is switched off.",), "", Actor.OWNER)
    assert standing(of(JobState.PAUSED), switched_off).todo == "Switch it on when it is to run."
