from typing import Any

from gateways.records import ContainerRecord, PodRecord
from jobs.live.pod_rows import PodRow, pod_rows, texts_of
from jobs.redaction import Redaction

OPEN = Redaction(True, frozenset(), frozenset())
VEILED = Redaction(False, frozenset(), frozenset({"zebra"}))


def container(name: str = "main", **rest: Any) -> ContainerRecord:
    told = {"image": "train", "is_init": False, "is_ready": False, "restarts": 0, **rest}
    return ContainerRecord(name, **told)


def pod(name: str = "p", *containers: ContainerRecord, phase: str = "Running", **rest: Any) -> PodRecord:
    told: dict[str, Any] = {
        "uid": f"uid-of-{name}", "owners": (), "labels": {}, "workload": "", "created_at": None, "is_stopping": False,
        "reason": "", "message": "", "node": "", **rest,
    }  # fmt: skip
    return PodRecord(name=name, phase=phase, containers=containers, **told)


def row(*containers: ContainerRecord, **rest: Any) -> PodRow:
    return pod_rows([pod("p", *containers, **rest)], OPEN)[0]


def test_how_many_of_its_containers_are_ready_those_that_prepare_left_out() -> None:
    found = row(container(is_ready=True, restarts=1), container("side"), container("init", is_init=True, restarts=2))
    assert (found.ready, found.containers, found.restarts) == (1, 2, 3)


def test_states_in_words() -> None:
    phases = ("Pending", "Running", "Succeeded", "Failed", "Levitating", "")
    assert [(row(phase=phase).state, row(phase=phase).tone) for phase in phases] == [
        ("Not started", "info"), ("Running", "ok"), ("Ended well", "ok"), ("Failed", "bad"),
        ("Levitating", "unknown"), ("Unknown", "unknown"),
    ]  # fmt: skip
    assert row(is_stopping=True).state == "Stopping"
    assert row(container(state="waiting")).tone == "warn"


def test_what_is_amiss() -> None:
    assert row(container(state="running")).notes == ()
    assert row(reason="Unschedulable", message="no node").notes == ("Unschedulable: no node",)
    assert row(container(state="waiting", reason="ImagePullBackOff", message="no such image")).notes == (
        "main: ImagePullBackOff: no such image",
    )
    assert row(container(state="terminated", reason="Error", exit_code=3)).notes == ("main: Error; exit code 3",)
    assert row(container(state="terminated", reason="Completed", exit_code=0)).notes == ()
    assert row(container(state="running", last_reason="OOMKilled", last_exit_code=137)).notes == (
        "main: the run before: OOMKilled, exit code 137",
    )
    assert row(container(state="running", last_reason="Lost")).notes == ("main: the run before: Lost, exit code –",)


def test_other_teams_are_not_named() -> None:
    told = [pod("zebra-of-mine", container(state="waiting", message="for zebra"), message="by zebra")]
    (found,) = pod_rows(told, VEILED)
    assert found.notes == ("by [another team]", "main: for [another team]")
    assert found.name == "zebra-of-mine"
    assert list(texts_of(told)) == ["by zebra", "for zebra"]


def test_what_a_program_said_at_its_end_is_shown_without_secrets() -> None:
    said = "cannot start: train --api-key s3cr3t-v4lue"
    (found,) = pod_rows([pod("p", container(state="terminated", exit_code=1, message=said), message=said)], OPEN)
    assert found.notes == (
        "cannot start: train --api-key •••", "main: cannot start: train --api-key •••; exit code 1",
    )  # fmt: skip


def test_those_in_trouble_first_then_by_number() -> None:
    pods = [pod("p-10"), pod("p-9"), pod("p-²"), pod("z", phase="Failed"), pod("y", is_stopping=True), pod("9" * 253)]
    assert [found.name for found in pod_rows(pods, OPEN)][:2] == ["z", "y"]
    assert [found.name for found in pod_rows(pods[:2], OPEN)] == ["p-9", "p-10"]
