"""On which node a pod goes: what Kubernetes' scheduler decides, by GPUs alone."""

from collections import Counter
from typing import Final

from emulator.resources import NODES, PODS
from emulator.store import Json, Store
from scheduling import names
from scheduling.parsing import pod_requests

_OVER: Final = ("Succeeded", "Failed")
_NOWHERE: Final = ""


class Placing:
    """A node that is marked as sick fell sick under its pod: the first one that comes while it is empty is its, no
    other. Elsewhere the first node with room takes the pod, and where none has any, the one that is least full."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def node_for(self, spec: Json, *, only_healthy: bool = False) -> str:
        """The node's name; empty where the pod's node selector matches none. `only_healthy`: no sick one falls sick
        under it."""
        wanted = spec.get("nodeSelector") or {}
        nodes = [node for node in self._store.all(NODES.storage) if _matches(node, wanted)]
        if not nodes:
            return _NOWHERE
        used, asked = self._used(), _gpus(spec)
        free = {node["metadata"]["name"]: _capacity(node) - used[node["metadata"]["name"]] for node in nodes}
        healthy = [node["metadata"]["name"] for node in nodes if not is_sick(node)]
        for node in nodes:
            name = node["metadata"]["name"]
            if is_sick(node) and not only_healthy and asked and name not in used and free[name] >= asked:
                return str(name)
        return str(next((name for name in healthy if free[name] >= asked), max(healthy or free, key=lambda n: free[n])))

    def is_sick(self, name: str) -> bool:
        node = self._store.get(NODES.storage, "", name)
        return node is not None and is_sick(node)

    def _used(self) -> Counter[str]:
        """GPUs by node, of the pods that are not over; a node with a pod is in it."""
        used: Counter[str] = Counter()
        for pod in self._store.all(PODS.storage):
            node = pod["spec"].get("nodeName")
            if node and (pod.get("status") or {}).get("phase") not in _OVER:
                used[node] += _gpus(pod["spec"])
        return used


def is_sick(node: Json) -> bool:
    labels = node["metadata"].get("labels") or {}
    return bool(labels.get(names.NODE_HEALTH_LABEL, names.NODE_SCHEDULABLE) != names.NODE_SCHEDULABLE)


def _matches(node: Json, wanted: Json) -> bool:
    labels = node["metadata"].get("labels") or {}
    return all(labels.get(label) == value for label, value in wanted.items())


def _capacity(node: Json) -> int:
    return int((node.get("status") or {}).get("allocatable", {}).get(names.NVIDIA_GPU, 0))


def _gpus(spec: Json) -> int:
    return pod_requests({"spec": spec}).get(names.NVIDIA_GPU, 0)
