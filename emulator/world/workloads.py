"""The Workload that Kueue would make for a job of the world."""

import hashlib
import uuid
from typing import Any, Final

from emulator.jobs import PREFIX
from emulator.world.arrivals import Arrival
from emulator.world.profiles import JOB, POD, RAY_JOB, TRAINING_JOB, Profile
from emulator.world.teams import PRIORITIES, Team
from scheduling import names

Manifest = dict[str, Any]

_OWNERS: Final = {
    TRAINING_JOB: "sagemaker.amazonaws.com/v1",
    JOB: "batch/v1",
    RAY_JOB: "ray.io/v1",
    POD: "v1",
}
_KEEP_SECONDS: Final = 2 * 3600
_SUBMITTERS: Final = {"research": "data-scientist", "vision": "vision-member"}
_IMAGE: Final = "pytorch:2.9"


def workload(team: Team, arrival: Arrival) -> Manifest:
    """Named, owned and labelled as the job's kind is by Kueue; its story is in the annotations."""
    profile = arrival.profile
    digest = hashlib.sha256(f"{team.name}/{arrival.name}/{arrival.at.isoformat()}".encode()).hexdigest()
    job_uid = str(uuid.UUID(digest[:32], version=4))
    owner = {"apiVersion": _OWNERS[profile.owner], "kind": profile.owner, "name": arrival.name, "uid": job_uid}
    spec: Manifest = {"queueName": team.local_queue, "podSets": _pod_sets(arrival)}
    if profile.priority:
        spec["priority"] = PRIORITIES[profile.priority]
        spec["priorityClassRef"] = {
            "group": names.KUEUE_GROUP,
            "kind": "WorkloadPriorityClass",
            "name": f"{profile.priority}-priority",
        }
    return {
        "apiVersion": f"{names.KUEUE_GROUP}/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": f"{profile.owner.lower()}-{arrival.name}-{digest[-5:]}",
            "namespace": team.namespace,
            "labels": {names.JOB_UID_LABEL: job_uid},
            "annotations": _story(arrival),
            "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
        },
        "spec": spec,
    }


def owner(made: Manifest, arrival: Arrival) -> Manifest | None:
    """The job itself, of which only the annotations are told; None for kinds that the cluster does not show."""
    if arrival.profile.owner != TRAINING_JOB:
        return None
    (reference,) = made["metadata"]["ownerReferences"]
    notes = {names.SUBMITTED_BY_ANNOTATION: _SUBMITTERS[arrival.profile.team]} if _names_its_person(arrival) else {}
    return {
        "apiVersion": reference["apiVersion"],
        "kind": reference["kind"],
        "metadata": {"name": reference["name"], "namespace": made["metadata"]["namespace"], "annotations": notes},
    }


def _names_its_person(arrival: Arrival) -> bool:
    return arrival.profile.team in _SUBMITTERS and arrival.pods == 1


def _story(arrival: Arrival) -> dict[str, str]:
    profile = arrival.profile
    story = {
        "run": str(arrival.run_seconds),
        "patience": str(arrival.patience),
        "keep": str(_KEEP_SECONDS),
        "start": str(20 + 5 * arrival.pods),
        "stop": str(8 + 2 * arrival.pods),
        "outcome": names.FAILED if arrival.fails else names.SUCCEEDED,
    }
    if profile.checkpoint:
        story["checkpoint"] = str(60 * profile.checkpoint)
    return {f"{PREFIX}{name}": value for name, value in story.items()}


def _pod_sets(arrival: Arrival) -> list[Manifest]:
    profile = arrival.profile
    if profile.owner == RAY_JOB:
        head = _resources(gpus=0, cpus=4, memory=16, efa=0)
        return [_pod_set("head", 1, head, profile), _pod_set("workers", arrival.pods, _of(arrival), profile)]
    name = f"{arrival.name}-worker-podset" if profile.owner == TRAINING_JOB else "main"
    return [_pod_set(name, arrival.pods, _of(arrival), profile)]


def _of(arrival: Arrival) -> dict[str, str]:
    profile = arrival.profile
    return _resources(profile.gpus, arrival.cpus, profile.memory, profile.efa)


def _resources(gpus: int, cpus: int, memory: int, efa: int) -> dict[str, str]:
    asked = {names.CPU: str(cpus), names.MEMORY: f"{memory}Gi"}
    if gpus:
        asked[names.NVIDIA_GPU] = str(gpus)
    if efa:
        asked[names.EFA] = str(efa)
    return asked


def _pod_set(name: str, count: int, resources: dict[str, str], profile: Profile) -> Manifest:
    container = {
        "name": "main",
        "image": _IMAGE,
        "args": [f"--config=/fsx/{profile.team}/{profile.stem}.yaml"],
        "env": [{"name": "NCCL_DEBUG", "value": "INFO"}, {"name": "TRACKING_KEY", "value": "kept out of every page"}],
        "resources": {"requests": resources, "limits": resources},
    }
    pod = {
        "containers": [container],
        "nodeSelector": {names.INSTANCE_TYPE_LABEL: profile.instance.name},
        "restartPolicy": "Never",
    }
    return {"name": name, "count": count, "template": {"metadata": _pod_notes(profile), "spec": pod}}


def _pod_notes(profile: Profile) -> Manifest:
    """How often it saves its work, where it does."""
    if not profile.checkpoint:
        return {}
    return {"annotations": {names.CHECKPOINT_INTERVAL_ANNOTATION: f"{profile.checkpoint}m"}}
