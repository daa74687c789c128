from dataclasses import replace
from typing import Any

import pytest

from emulator.world.arrivals import Arrival
from emulator.world.profiles import PROFILES, Profile
from emulator.world.teams import TEAMS
from emulator.world.workloads import workload
from scheduling.accounting import requested
from scheduling.objects import Workload
from scheduling.parsing import parse_workload
from tests.emulator.scene import START

NEVER_FIT = ("grand-run", "preprocess", "allreduce")


def profile(stem: str) -> Profile:
    return next(p for p in PROFILES if p.stem == stem)


def made(stem: str, **changes: Any) -> dict[str, Any]:
    kind = profile(stem)
    team = next(t for t in TEAMS if t.name == kind.team)
    arrival = Arrival(START, kind, f"{stem}-abcde", kind.pods[-1], kind.cpus[0], 600, 6000, fails=False)
    return workload(team, replace(arrival, **changes))


def parsed(stem: str) -> Workload:
    obj = made(stem)
    return parse_workload({**obj, "metadata": {**obj["metadata"], "uid": "1", "resourceVersion": "1"}})


@pytest.mark.parametrize(
    ("stem", "owner", "prefix"),
    [
        ("finetune", "HyperPodPyTorchJob", "hyperpodpytorchjob-finetune-abcde-"),
        ("probe", "Job", "job-probe-abcde-"),
        ("sweep", "RayJob", "rayjob-sweep-abcde-"),
        ("endpoint", "Pod", "pod-endpoint-abcde-"),
    ],
)
def test_kinds_own_their_workloads(stem: str, owner: str, prefix: str) -> None:
    record = parsed(stem)
    assert record.owner is not None and (record.owner.kind, record.owner.name) == (owner, f"{stem}-abcde")
    assert record.name.startswith(prefix) and len(record.name) == len(prefix) + 5
    assert record.job_uid == record.owner.uid == record.labels["kueue.x-k8s.io/job-uid"]


def test_a_priority_class_is_resolved_and_its_absence_is_zero() -> None:
    assert (parsed("endpoint").priority_class, parsed("endpoint").priority) == ("inference-priority", 100)
    assert (parsed("notebook").priority_class, parsed("notebook").priority) == ("", 0)


def test_training_takes_whole_nodes_with_their_network() -> None:
    asked = requested(parsed("finetune"))["finetune-abcde-worker-podset"]
    assert asked["nvidia.com/gpu"] == 16 and asked["vpc.amazonaws.com/efa"] == 64
    assert "vpc.amazonaws.com/efa" not in requested(parsed("probe"))["main"]


def test_a_ray_job_has_a_head_without_gpus() -> None:
    asked = requested(parsed("sweep"))
    assert "nvidia.com/gpu" not in asked["head"]
    assert asked["workers"]["nvidia.com/gpu"] == 4


def test_pods_ask_for_their_instance_type() -> None:
    for kind in PROFILES:
        template = made(kind.stem)["spec"]["podSets"][0]["template"]["spec"]
        assert template["nodeSelector"] == {"node.kubernetes.io/instance-type": kind.instance.name}


@pytest.mark.parametrize("kind", [p for p in PROFILES if p.stem not in NEVER_FIT], ids=lambda p: p.stem)
def test_a_pod_fits_on_a_node(kind: Profile) -> None:
    instance = kind.instance
    assert kind.gpus <= instance.gpus and max(kind.cpus) <= instance.cpus
    assert kind.memory <= instance.memory and kind.efa <= instance.efa


def test_the_story_is_told_in_annotations() -> None:
    story = {
        key.removeprefix("emulator.local/"): value for key, value in made("finetune")["metadata"]["annotations"].items()
    }
    assert (story["run"], story["checkpoint"], story["outcome"]) == ("600", "1200", "Succeeded")
    assert "emulator.local/checkpoint" not in made("probe")["metadata"]["annotations"]
    assert made("probe", fails=True)["metadata"]["annotations"]["emulator.local/outcome"] == "Failed"
