"""Objects as other API versions write them: Kueue's v1beta1 and the newer form of events."""

from collections.abc import Callable, Mapping
from typing import Any, Final

Json = Mapping[str, Any]

_OLD_VERSION: Final = "kueue.x-k8s.io/v1beta1"
_OLD_CLASS_SOURCE: Final = {
    "kueue.x-k8s.io": "kueue.x-k8s.io/workloadpriorityclass",
    "scheduling.k8s.io": "scheduling.k8s.io/priorityclass",
}


def unchanged(obj: Json) -> Json:
    return obj


def old_version(obj: Json) -> Json:
    return {**obj, "apiVersion": _OLD_VERSION}


def _renamed(part: Json, **names: str) -> Json:
    return {names.get(name, name): value for name, value in part.items()}


def _old_cluster_queue(obj: Json) -> Json:
    return {**old_version(obj), "spec": _renamed(obj.get("spec", {}), cohortName="cohort")}


def _old_local_queue(obj: Json) -> Json:
    return {**old_version(obj), "status": _renamed(obj.get("status", {}), flavorsUsage="flavorUsage")}


def _old_workload(obj: Json) -> Json:
    spec = dict(obj.get("spec", {}))
    reference = spec.pop("priorityClassRef", None)
    if reference:
        spec["priorityClassName"] = reference["name"]
        spec["priorityClassSource"] = _OLD_CLASS_SOURCE[reference["group"]]
    # The misspelling is the one on the wire.
    status = _renamed(obj.get("status", {}), accumulatedPastExecutionTimeSeconds="accumulatedPastExexcutionTimeSeconds")
    return {**old_version(obj), "spec": spec, "status": status}


OLD: Final[Mapping[str, Callable[[Json], Json]]] = {
    "ClusterQueue": _old_cluster_queue,
    "LocalQueue": _old_local_queue,
    "Workload": _old_workload,
}


_NEW_NAMES: Final[Mapping[str, str]] = {
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "source": "deprecatedSource",
    "count": "deprecatedCount",
}
_STORED_NAMES: Final = {new: stored for stored, new in _NEW_NAMES.items()}


def new_event(obj: Json) -> Json:
    """A core event in the form of events.k8s.io."""
    return {**_renamed(obj, **_NEW_NAMES), "apiVersion": "events.k8s.io/v1"}


def stored_field(field: str) -> str:
    """What a field that a selector names is called where it is stored."""
    first, dot, rest = field.partition(".")
    return f"{_STORED_NAMES.get(first, first)}{dot}{rest}"
