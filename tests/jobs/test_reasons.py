import pytest

from jobs.models import Workload
from jobs.reasons import waiting_reason

POD_SET = "couldn't assign flavors to pod set main: "


def sentences(message: str) -> tuple[str, ...]:
    return waiting_reason(waiting(message)).sentences


def waiting(message: str, reason: str = "Pending") -> Workload:
    told = {"status": False, "reason": reason, "message": message, "since": None}
    return Workload(conditions={"QuotaReserved": told})


def unused(resource: str, flavor: str, missing: str) -> str:
    return f"insufficient unused quota for {resource} in flavor {flavor}, {missing} more needed"


def maximum(resource: str, flavor: str, asked: str, most: str) -> str:
    return (
        f"insufficient quota for {resource} in flavor {flavor}, previously considered podsets requests (0) + "
        f"current podset request ({asked}) > maximum capacity ({most})"
    )


@pytest.mark.parametrize(
    ("resource", "missing", "amount"),
    [
        ("nvidia.com/gpu", "4", "4 GPUs"),
        ("nvidia.com/gpu", "1", "1 GPU"),
        ("cpu", "1500m", "1.5 CPU cores"),
        ("memory", "8Gi", "8 GiB of memory"),
        ("memory", "50Mi", "50 MiB of memory"),
        ("vpc.amazonaws.com/efa", "2", "2 EFA devices"),
    ],
)
def test_the_binding_resource_the_flavor_and_the_missing_amount(resource: str, missing: str, amount: str) -> None:
    message = POD_SET + unused(resource, "ml.p5.48xlarge", missing)
    assert sentences(message) == (f"Not enough is free in ml.p5.48xlarge: {amount} more needed.",)


def test_what_can_never_fit() -> None:
    assert sentences(POD_SET + maximum("nvidia.com/gpu", "h100", "64", "20")) == (
        "It can never start as it is: in h100 it asks for 44 GPUs more than the queue may ever use.",
    )


def test_a_missing_amount_that_is_not_told_is_not_0() -> None:
    (sentence,) = sentences(POD_SET + "borrowing limit for nvidia.com/gpu in flavor h100 exceeded")
    assert sentence == "It can never start as it is: it asks for more GPU of h100 than the queue may use."
    assert "0" not in sentence.replace("h100", "")


def test_victims_that_are_being_stopped_come_first() -> None:
    message = POD_SET + unused("nvidia.com/gpu", "h100", "4") + ". Pending the preemption of 2 workload(s)"
    assert sentences(message) == (
        "It starts when 2 jobs have given their capacity back.",
        "Not enough is free in h100: 4 GPUs more needed.",
    )


def test_each_reason_is_said_once_and_not_too_many() -> None:
    one = unused("nvidia.com/gpu", "h100", "4")
    assert len(sentences(POD_SET + f"{one}, {one}")) == 1
    many = ", ".join(unused("nvidia.com/gpu", f"flavor-{n}", "4") for n in range(9))
    assert len(sentences(POD_SET + many)) == 4


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (POD_SET + "resource example.com/quantum unavailable in ClusterQueue", "no quota for example.com/quantum"),
        (POD_SET + "untolerated taint {gpu true NoSchedule <nil>} in flavor h100", "taint"),
        (POD_SET + "flavor h100 doesn't match node affinity", "node selector does not match h100"),
        (POD_SET + "flavor h100 not found", "no resource flavor h100"),
        ("LocalQueue main is stopped", "stopped"),
        ("LocalQueue main doesn't exist", "does not exist"),
        ("workload namespace doesn't match ClusterQueue selector", "namespace"),
        ("waiting for all admitted workloads to be in PodsReady condition", "ready"),
    ],
)
def test_other_obstacles_in_words(message: str, words: str) -> None:
    (sentence,) = sentences(message)
    assert words in sentence


def test_a_queue_name_in_the_message_is_not_repeated() -> None:
    assert "zebra" not in " ".join(sentences("ClusterQueue zebra-cq is inactive"))


def test_words_that_the_portal_does_not_know_are_said_to_be_unknown() -> None:
    reason = waiting_reason(waiting("the moon is in the wrong house"))
    assert reason.sentences == ("The cluster gives a reason in words that the portal does not know.",)
    assert reason.raw == "the moon is in the wrong house"


def test_an_empty_message_gives_no_reason() -> None:
    assert sentences("") == ("The cluster gives no reason.",)


def test_a_workload_that_nobody_looked_at_yet() -> None:
    reason = waiting_reason(Workload(conditions={}))
    assert reason.sentences == ("The cluster has not looked at it yet: jobs ahead of it come first.",)
    assert reason.raw == ""
