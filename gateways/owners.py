"""What the owner of a Workload, the job itself, says in its annotations. Only its metadata is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from gateways.errors import BadReply, NotFound
from gateways.http import Api

_METADATA_ONLY: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


@dataclass(frozen=True, slots=True)
class OwnerKind:
    """Where the API serves a kind of job."""

    group: str
    version: str
    plural: str


KINDS: Final[Mapping[str, OwnerKind]] = {
    "Job": OwnerKind("batch", "v1", "jobs"),
    "HyperPodPyTorchJob": OwnerKind("sagemaker.amazonaws.com", "v1", "hyperpodpytorchjobs"),
    "PyTorchJob": OwnerKind("kubeflow.org", "v1", "pytorchjobs"),
    "MPIJob": OwnerKind("kubeflow.org", "v2beta1", "mpijobs"),
    "JobSet": OwnerKind("jobset.x-k8s.io", "v1alpha2", "jobsets"),
    "TrainJob": OwnerKind("trainer.kubeflow.org", "v1alpha1", "trainjobs"),
    "RayJob": OwnerKind("ray.io", "v1", "rayjobs"),
    "RayCluster": OwnerKind("ray.io", "v1", "rayclusters"),
}
"""The kinds of jobs that are asked."""


def owner_annotations(api: Api, kind: str, namespace: str, name: str, uid: str) -> Mapping[str, str]:
    """The annotations of the job of that kind, one of `KINDS`. Raises GatewayError, NotFound also where a namesake has
    its place."""
    served = KINDS[kind]
    place = f"namespaces/{quote(namespace, safe='')}/{served.plural}/{quote(name, safe='')}"
    path = f"/apis/{served.group}/{served.version}/{place}"
    meta = api.get(path, accept=_METADATA_ONLY).get("metadata")
    if not isinstance(meta, dict):
        raise BadReply(f"{path}: an object without metadata")
    if meta.get("uid") != uid:
        raise NotFound(f"{path}: another object has that name now")
    return _annotations(path, meta)


def _annotations(path: str, meta: Mapping[str, Any]) -> Mapping[str, str]:
    found = meta.get("annotations") or {}
    if not isinstance(found, dict):
        raise BadReply(f"{path}: annotations that are no object")
    return {str(name): str(value) for name, value in found.items()}
