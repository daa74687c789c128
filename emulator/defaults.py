"""What Kueue's webhooks and the API server fill in when an object is created."""

from collections.abc import Mapping
from typing import Any, Final

from emulator.store import Json
from scheduling import names

_QUEUE: Final[Mapping[str, Any]] = {
    "queueingStrategy": names.BEST_EFFORT_FIFO,
    "stopPolicy": names.STOP_NONE,
    "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
    "preemption": {
        "withinClusterQueue": names.NEVER,
        "reclaimWithinCohort": names.NEVER,
        "borrowWithinCohort": {"policy": names.NEVER},
    },
}
_SPECS: Final[Mapping[str, Mapping[str, Any]]] = {
    "ClusterQueue": _QUEUE,
    "LocalQueue": {"stopPolicy": names.STOP_NONE},
    "Workload": {"active": True, "priority": 0},
    "Namespace": {"finalizers": ["kubernetes"]},
}


def with_defaults(obj: Json) -> Json:
    """The object as it is stored; what its author gave wins."""
    kind, meta = obj["kind"], obj["metadata"]
    completed = {**obj}
    if kind in _SPECS:
        completed["spec"] = _merged(_SPECS[kind], obj.get("spec") or {})
    if kind == "Namespace":
        labels = {**(meta.get("labels") or {}), "kubernetes.io/metadata.name": meta["name"]}
        completed |= {"metadata": {**meta, "labels": labels}, "status": {"phase": "Active"}}
    return completed


def _merged(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**defaults, **given}
    for name, value in defaults.items():
        if isinstance(value, Mapping) and isinstance(given.get(name), Mapping):
            merged[name] = _merged(value, given[name])
    return merged
