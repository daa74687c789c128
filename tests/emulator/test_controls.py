import pytest

from tests.emulator import manifests
from tests.emulator.client import KUEUE, Client

WORKLOADS = f"{KUEUE}/namespaces/team/workloads"


@pytest.fixture
def team(admin: Client) -> Client:
    admin.create("/api/v1/namespaces", manifests.namespace("team"))
    admin.create(f"{KUEUE}/resourceflavors", manifests.flavor())
    admin.create(f"{KUEUE}/clusterqueues", manifests.cluster_queue("a", 4))
    admin.create(f"{KUEUE}/namespaces/team/localqueues", manifests.local_queue("a", "a"))
    return admin


def test_a_held_cluster_does_nothing_until_it_is_stepped(team: Client) -> None:
    team.create(WORKLOADS, manifests.job("job", "a", 1, start=10, run=60))
    assert "status" not in team.get(f"{WORKLOADS}/job")
    team.step(0)
    kinds = [c["type"] for c in team.get(f"{WORKLOADS}/job")["status"]["conditions"]]
    assert kinds == ["PodsReady", "QuotaReserved", "Admitted"]
    team.step(60)
    assert team.get(f"{WORKLOADS}/job")["status"]["conditions"][-1]["reason"] == "Succeeded"


def test_a_step_moves_the_clock_by_that_much(admin: Client) -> None:
    before = admin.get("/emulator/clock")
    after = admin.step(90)
    assert before["running"] is after["running"] is False
    assert before["now"] != after["now"]
    assert admin.get("/emulator/clock") == after


def test_the_clock_can_be_let_run_and_held(admin: Client) -> None:
    assert admin.call("POST", "/emulator/clock/resume").json()["running"] is True
    held = admin.call("POST", "/emulator/clock/pause").json()
    assert held["running"] is False
    assert admin.get("/emulator/clock") == held


@pytest.mark.parametrize("body", [b"", b"{}", b'{"seconds": "x"}', b'{"seconds": -1}', b"[1]"])
def test_steps_that_make_no_sense(admin: Client, body: bytes) -> None:
    assert admin.refused("POST", "/emulator/clock/step", body)[:2] == (400, "BadRequest")


def test_levers_want_a_post_and_there_are_no_others(admin: Client) -> None:
    for path in ("clock/step", "clock/pause", "compact"):
        assert admin.refused("GET", f"/emulator/{path}")[0] == 405
    assert admin.refused("POST", "/emulator/clock")[0] == 405
    assert admin.call("POST", "/emulator/explode").status_code == 404
