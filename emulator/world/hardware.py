"""The instance types of the world and its nodes."""

from dataclasses import dataclass
from random import Random
from typing import Any, Final

from scheduling import names

_CLUSTER_LABEL: Final = "sagemaker.amazonaws.com/cluster-name"
_DEEP_CHECK_LABEL: Final = "sagemaker.amazonaws.com/deep-health-check-status"
_UNHEALTHY: Final = "UnschedulablePendingReplacement"
CLUSTER_NAME: Final = "ml-cluster"


@dataclass(frozen=True, slots=True)
class InstanceType:
    """What one node offers: vCPUs, GiB of memory, GPUs, EFA interfaces; and how many nodes there are, sick ones too."""

    name: str
    cpus: int
    memory: int
    gpus: int
    efa: int
    nodes: int
    sick: int = 0

    def amounts(self, nodes: int) -> dict[str, str]:
        """The resources of so many nodes, as quotas count them: the type's nominal figures."""
        return {
            names.CPU: str(self.cpus * nodes),
            names.MEMORY: f"{self.memory * nodes}Gi",
            names.NVIDIA_GPU: str(self.gpus * nodes),
            names.EFA: str(self.efa * nodes),
        }


P5: Final = InstanceType("ml.p5.48xlarge", 192, 2048, 8, 32, nodes=16, sick=1)
G6E: Final = InstanceType("ml.g6e.12xlarge", 48, 384, 4, 1, nodes=12)
INSTANCE_TYPES: Final = (P5, G6E)


def nodes(random: Random) -> list[dict[str, Any]]:
    """Every node of every type; the sick ones are marked as HyperPod marks them."""
    return [
        _node(instance, f"hyperpod-i-{random.getrandbits(68):017x}", is_sick=place < instance.sick)
        for instance in INSTANCE_TYPES
        for place in range(instance.nodes)
    ]


def _node(instance: InstanceType, name: str, *, is_sick: bool) -> dict[str, Any]:
    health = _UNHEALTHY if is_sick else names.NODE_SCHEDULABLE
    taints = [{"key": names.NODE_HEALTH_LABEL, "value": "Unschedulable", "effect": "NoSchedule"}] if is_sick else []
    offered = {**instance.amounts(1), names.PODS: "100"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                names.INSTANCE_TYPE_LABEL: instance.name,
                names.NODE_HEALTH_LABEL: health,
                _DEEP_CHECK_LABEL: "Passed",
                _CLUSTER_LABEL: CLUSTER_NAME,
                "kubernetes.io/hostname": name,
            },
        },
        "spec": {"taints": taints} if taints else {},
        "status": {
            "capacity": offered,
            "allocatable": offered,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}],
        },
    }
