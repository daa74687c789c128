import pytest

from jobs.models import Workload
from jobs.rules.time_to_start import Actor
from jobs.states import state_of
from jobs.words.reasons import Reason, flavor_text, waiting_reason
from tests.stories import Job

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
    assert sentences(message) == (f"Not enough is free in H100 (ml.p5.48xlarge): {amount} more needed.",)


def test_what_can_never_fit() -> None:
    assert sentences(POD_SET + maximum("nvidia.com/gpu", "h100", "64", "20")) == (
        "It can never start as it is: in h100 it asks for 44 GPUs more than the queue may ever use.",
    )
    assert sentences(POD_SET + maximum("nvidia.com/gpu", "ml.p5.48xlarge", "64", "20")) == (
        "It can never start as it is: in H100 (ml.p5.48xlarge) it asks for 44 GPUs more than the queue may ever use.",
    )


def test_all_that_can_never_fit_in_a_flavor_is_said_once() -> None:
    gpus, cores = maximum("nvidia.com/gpu", "h100", "64", "20"), maximum("cpu", "h100", "200", "104")
    taken, more = unused("vpc.amazonaws.com/efa", "h100", "2"), maximum("nvidia.com/gpu", "h100", "72", "20")
    told = "It can never start as it is: in h100 it asks for 52 GPUs and 96 CPU cores more than the queue may ever use."
    assert sentences(f"{POD_SET}{gpus}, {cores}, {more}, {taken}") == (told,)
    limits = [f"borrowing limit for {resource} in flavor h100 exceeded" for resource in ("nvidia.com/gpu", "cpu")]
    assert sentences(POD_SET + ", ".join(limits)) == (
        "It can never start as it is: it asks for more GPU and CPU of h100 than the queue may use.",
    )


def test_what_no_flavor_of_the_queue_offers_is_said_once() -> None:
    message = "resource example.com/quantum unavailable in ClusterQueue, resource cpu unavailable in ClusterQueue"
    assert sentences(POD_SET + message) == (
        "It can never start as it is: the queue has no quota for example.com/quantum and CPU.",
    )


def test_too_big_for_one_flavor_only() -> None:
    here, there = maximum("nvidia.com/gpu", "h100", "64", "20"), unused("nvidia.com/gpu", "a100", "4")
    assert sentences(f"{POD_SET}{here}, {there}") == (
        "Not enough is free in a100: 4 GPUs more needed.",
        "It is too big for h100: it asks for 44 GPUs more than the queue may ever use there.",
    )
    untold = "borrowing limit for nvidia.com/gpu in flavor h100 exceeded"
    assert "It is too big for h100: it asks for more GPU than the queue may use there." in sentences(
        f"{POD_SET}{untold}, {there}"
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


def test_what_is_short_in_one_flavor_is_one_sentence() -> None:
    gpus, cores = unused("nvidia.com/gpu", "h100", "4"), unused("cpu", "h100", "96")
    memory, elsewhere = unused("memory", "h100", "8Gi"), unused("nvidia.com/gpu", "a100", "2")
    assert sentences(POD_SET + f"{cores}, {memory}, {gpus}, {elsewhere}") == (
        "Not enough is free in h100: 96 CPU cores more needed, 8 GiB of memory more needed and 4 GPUs more needed.",
        "Not enough is free in a100: 2 GPUs more needed.",
    )


@pytest.mark.parametrize(
    "elsewhere",
    ["flavor a100 doesn't match node affinity", "untolerated taint {gpu true NoSchedule <nil>} in flavor a100"],
)
def test_a_flavor_that_the_job_does_not_want_is_left_out(elsewhere: str) -> None:
    message = POD_SET + f"{elsewhere}, " + unused("nvidia.com/gpu", "h100", "4")
    assert sentences(message) == ("Not enough is free in h100: 4 GPUs more needed.",)
    assert "a100" in sentences(POD_SET + elsewhere)[0]


def test_flavors_that_are_instance_types_are_called_by_their_accelerator() -> None:
    assert [flavor_text(name) for name in ("ml.p5.48xlarge", "spot", "")] == ["H100 (ml.p5.48xlarge)", "spot", ""]


def test_each_reason_is_said_once_and_not_too_many() -> None:
    one = unused("nvidia.com/gpu", "h100", "4")
    once = ("Not enough is free in h100: 4 GPUs more needed.",)
    assert sentences(POD_SET + f"{one}, {one}") == once
    assert sentences(f"{POD_SET}{one}; couldn't assign flavors to pod set worker: {one}") == once
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


PREEMPTED = "Preempted to accommodate a workload (UID: a, JobUID: UNKNOWN) due to "
NOT_SINCE = "The cluster has not looked at it since: jobs ahead of it come first."


@pytest.mark.parametrize("prefix", ["", "Previously: "])
@pytest.mark.parametrize(
    ("message", "cause"),
    [
        (
            f"{PREEMPTED}reclamation within the cohort; preemptor path: /company/a; preemptee path: /company/b",
            "It ran on borrowed quota, and the lender took it back.",
        ),
        (
            f"{PREEMPTED}prioritization in the ClusterQueue",
            "A job of higher priority in the same queue needed its place.",
        ),
        ("Exceeded the PodsReady timeout team-a/train", "Its pods were not ready in time."),
        ("The workload is deactivated due to exceeding the maximum number of retries", "It was switched off."),
        (f"{PREEMPTED}the moon", "Another job took its place."),
    ],
)
def test_one_that_was_evicted_and_not_looked_at_since(prefix: str, message: str, cause: str) -> None:
    reason = waiting_reason(waiting(prefix + message))
    assert reason == Reason((cause, NOT_SINCE), prefix + message, Actor.SCHEDULER)


def test_an_older_sentence_is_explained_by_the_condition() -> None:
    job = Job().admit(1).evict(2, message=PREEMPTED.replace(" due to ", "")).release(3, PREEMPTED)
    told = "It ran on borrowed quota, and the lender took it back."
    assert waiting_reason(stored(job)).sentences == (told, NOT_SINCE)


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


NEVER = POD_SET + maximum("nvidia.com/gpu", "h100", "64", "20")
NOT_NOW = unused("nvidia.com/gpu", "h100", "4")
NOT_NOW_ELSEWHERE = unused("nvidia.com/gpu", "a100", "4")
ACTORS = {
    "no room now": (POD_SET + NOT_NOW, Actor.SCHEDULER),
    "victims are being stopped": ("in new words. Pending the preemption of 2 workload(s)", Actor.SCHEDULER),
    "another was faster": ("Workload no longer fits after processing another workload", Actor.SCHEDULER),
    "never fits": (NEVER, Actor.OWNER),
    "never fits, and has no room in the same flavor": (f"{NEVER}, {NOT_NOW}", Actor.OWNER),
    "never fits one flavor, has no room in the other": (f"{NEVER}, {NOT_NOW_ELSEWHERE}", Actor.SCHEDULER),
    "one pod set never fits": (
        f"{NEVER}; couldn't assign flavors to pod set worker: {NOT_NOW_ELSEWHERE}",
        Actor.OWNER,
    ),
    "no quota for a resource, no room in another": (
        f"{POD_SET}{NOT_NOW}, resource example.com/quantum unavailable in ClusterQueue",
        Actor.OWNER,
    ),
    "never fits, but victims are being stopped": (
        f"{NEVER}; {NOT_NOW}. Pending the preemption of 2 workload(s)",
        Actor.SCHEDULER,
    ),
    "no such queue": ("LocalQueue main doesn't exist", Actor.OWNER),
    "bad requests": ("resources validation failed: odd", Actor.OWNER),
    "a stopped queue": ("ClusterQueue zebra-cq is inactive", Actor.PLATFORM),
    "no such flavor": (POD_SET + "flavor h100 not found", Actor.PLATFORM),
    "no such flavor, no room in the other": (f"{POD_SET}flavor a100 not found, {NOT_NOW}", Actor.SCHEDULER),
    "a namespace that is not let in": ("workload namespace doesn't match ClusterQueue selector", Actor.PLATFORM),
    "a refused check": ("The workload has failed admission checks", Actor.PLATFORM),
    "pods of others": ("waiting for all admitted workloads to be in PodsReady condition", Actor.CLUSTER),
    "a gate that somebody opens": ("Admission is gated by: quota.example.com", Actor.UNKNOWN),
    "words of tomorrow": ("the moon is in the wrong house", Actor.UNKNOWN),
    "no words": ("", Actor.UNKNOWN),
}


@pytest.mark.parametrize(("message", "actor"), ACTORS.values(), ids=ACTORS)
def test_who_must_act(message: str, actor: Actor) -> None:
    assert waiting_reason(stored(Job().waits(message))).actor is actor


def test_only_what_is_too_big_for_every_flavor_is_too_big() -> None:
    assert waiting_reason(waiting(f"{NEVER}, {NOT_NOW}")).is_too_big
    assert not waiting_reason(waiting(f"{NEVER}, {NOT_NOW_ELSEWHERE}")).is_too_big
    assert not waiting_reason(waiting(POD_SET + NOT_NOW)).is_too_big


def test_who_must_act_where_the_reason_alone_tells() -> None:
    assert waiting_reason(stored(Job().waits("", reason="Misconfigured"))).actor is Actor.OWNER
    assert waiting_reason(stored(Job())).actor is Actor.SCHEDULER


def stored(job: Job) -> Workload:
    """What the ledger keeps of the job, as far as reasons read it."""
    record = job.record
    told = {
        kind: {"status": c.status, "reason": c.reason, "message": c.message} for kind, c in record.conditions.items()
    }
    return Workload(state=state_of(record), conditions=told, status={} if record.active else {"deactivated": True})


def evicted(reason: str) -> Job:
    return Job().admit(1).evict(2, reason).release(3, "kept out").condition("Requeued", False, 3, reason)


def test_a_job_that_somebody_switched_off() -> None:
    reason = waiting_reason(stored(Job().waits("no room").deactivate()))
    assert reason.sentences == ("It is switched off (spec.active is false). Switch it on again to have it queued.",)
    assert (reason.raw, reason.actor) == ("no room", Actor.OWNER)


@pytest.mark.parametrize("reason", ["PodsReadyTimeout", "AdmissionCheck"])
def test_a_job_in_the_back_off_after_an_eviction_is_not_switched_off(reason: str) -> None:
    told = waiting_reason(stored(evicted(reason)))
    assert told.sentences == ("It was evicted and is kept out of the line for a while before it is queued again.",)
    assert told.actor is Actor.SCHEDULER


@pytest.mark.parametrize("reason", ["ClusterQueueStopped", "LocalQueueStopped"])
def test_a_job_that_a_stopped_queue_evicted(reason: str) -> None:
    told = waiting_reason(stored(evicted(reason)))
    assert told.sentences == ("The queue is stopped: only the platform admin can start it.",)
    assert told.actor is Actor.PLATFORM
