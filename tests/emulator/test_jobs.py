from datetime import timedelta

import pytest

from emulator.resources import HYPERPOD_JOBS, WORKLOADS
from scheduling import names
from tests.emulator.manifests import job, workload
from tests.emulator.scene import START, Scene


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_a_job_starts_runs_ends_and_is_deleted(scene: Scene) -> None:
    scene.submit(job("job", "a", 1, start=10, run=60, keep=30), seconds=0)
    assert scene.conditions("job")["PodsReady"] == ("False", "WaitForStart")
    scene.step(10)
    assert scene.conditions("job")["PodsReady"] == ("True", "Started")
    scene.step(49)
    assert "Finished" not in scene.conditions("job")
    scene.step(1)
    assert scene.conditions("job")["Finished"] == ("True", "Succeeded")
    scene.step(29)
    assert scene.get(WORKLOADS, "job")
    scene.step(1)
    assert scene.get(WORKLOADS, "job") is None


def test_every_instant_is_lived_through_however_long_the_step(scene: Scene) -> None:
    scene.submit(job("job", "a", 1, start=10, run=60), seconds=0)
    scene.step(3600)
    times = {c["type"]: c["lastTransitionTime"] for c in scene.status("job")["conditions"]}
    assert times["PodsReady"] == "2026-03-02T09:00:10Z"
    assert times["Finished"] == "2026-03-02T09:01:00Z"


def test_a_job_may_fail(scene: Scene) -> None:
    scene.submit(job("job", "a", 1, run=5, outcome="Failed"), seconds=10)
    assert scene.conditions("job")["Finished"] == ("True", "Failed")


def test_without_a_length_it_runs_on(scene: Scene) -> None:
    scene.submit(job("job", "a", 1), seconds=10**6)
    assert scene.is_admitted("job")
    assert "Finished" not in scene.conditions("job")


@pytest.mark.parametrize("story", [{"run": "soon"}, {"run": 5, "outcome": "Strange"}])
def test_a_story_that_cannot_be_read_counts_as_not_told(scene: Scene, story: dict[str, object]) -> None:
    scene.submit(job("job", "a", 1, **story), seconds=10)
    finished = scene.conditions("job").get("Finished")
    assert finished == (("True", "Succeeded") if story["run"] == 5 else None)


def evicted_after(scene: Scene, seconds: int, **story: object) -> None:
    """A job of 100 s in all that loses its quota after so many, gets it back, and starts again at once."""
    scene.submit(job("job", "a", 8, start=0, stop=0, run=100, **story), seconds=seconds)
    scene.submit(job("owner", "b", 4, start=0, run=10), seconds=10)
    assert scene.is_admitted("job")


def test_without_checkpoints_an_eviction_costs_all(scene: Scene) -> None:
    evicted_after(scene, 70)
    scene.step(99)
    assert "Finished" not in scene.conditions("job")
    scene.step(1)
    assert "Finished" in scene.conditions("job")


def test_with_checkpoints_it_costs_what_came_after_the_last(scene: Scene) -> None:
    evicted_after(scene, 70, checkpoint=30)
    scene.step(39)
    assert "Finished" not in scene.conditions("job")
    scene.step(1)
    assert "Finished" in scene.conditions("job")


def test_pods_take_their_time_to_stop(scene: Scene) -> None:
    scene.submit(job("job", "a", 8, stop=20), job("owner", "b", 4))
    scene.step(18)
    assert scene.is_admitted("job")
    scene.step(1)
    assert scene.is_admitted("owner")


def test_an_owner_that_waits_too_long_gives_up(scene: Scene) -> None:
    scene.submit(job("hopeless", "a", 9, patience=100), job("happy", "a", 1, patience=100))
    scene.step(97)
    assert scene.get(WORKLOADS, "hopeless") is not None
    scene.step(10)
    assert scene.get(WORKLOADS, "hopeless") is None
    assert scene.is_admitted("happy")


def test_nobody_follows_a_workload_without_an_owner(scene: Scene) -> None:
    scene.submit(workload("bare", "a", 1), seconds=10**5)
    assert "PodsReady" not in scene.conditions("bare")


def test_time_that_stood_still_is_no_time_of_work(scene: Scene) -> None:
    scene.submit(job("job", "a", 1, start=0, run=100), seconds=60)
    now = scene.cluster.clock.now()
    scene.cluster.standstills.add(now, now + timedelta(hours=8))
    scene.step(8 * 3600)
    assert "Finished" not in scene.conditions("job")
    scene.step(40)
    assert "Finished" in scene.conditions("job")


def test_an_evicted_job_says_when_it_last_saved_its_work(scene: Scene) -> None:
    """HyperPod's own kind alone is an object; 45 s after its admission it loses its quota."""
    meta = {"namespace": "team", "name": "job", "annotations": {}}
    scene.store.create(HYPERPOD_JOBS.storage, {"kind": "HyperPodPyTorchJob", "metadata": meta}, START)
    evicted_after(scene, 45, checkpoint=20)
    (told,) = scene.store.all(HYPERPOD_JOBS.storage)
    assert told["metadata"]["annotations"] == {names.LAST_CHECKPOINT_ANNOTATION: "2026-03-02T09:00:40Z"}


def test_what_saves_no_work_says_nothing(scene: Scene) -> None:
    meta = {"namespace": "team", "name": "job", "annotations": {}}
    scene.store.create(HYPERPOD_JOBS.storage, {"kind": "HyperPodPyTorchJob", "metadata": meta}, START)
    evicted_after(scene, 45)
    (told,) = scene.store.all(HYPERPOD_JOBS.storage)
    assert told["metadata"]["annotations"] == {}
