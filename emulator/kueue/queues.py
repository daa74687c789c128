"""Which queue is open, to whom, and what Kueue answers where it is not."""

from collections.abc import Mapping
from typing import Any

from emulator.records import Records
from scheduling import names
from scheduling.objects import ClusterQueue, Workload

Json = Mapping[str, Any]


def inactive_reason(queue: ClusterQueue, records: Records) -> tuple[str, str] | None:
    """Reason and message of Active=False; None for a queue that can admit."""
    reasons: list[str] = []
    sentences: list[str] = []
    if queue.stop_policy != names.STOP_NONE:
        reasons.append("Stopped")
        sentences.append("is stopped")
    flavors = records.flavors()
    missing = sorted({f.name for group in queue.groups for f in group.flavors if f.name not in flavors})
    if missing:
        reasons.append("FlavorNotFound")
        sentences.append(f"references missing ResourceFlavor(s): {','.join(missing)}")
    return (reasons[0], f"Can't admit new workloads: {', '.join(sentences)}.") if reasons else None


def blocked_message(workload: Workload, records: Records) -> str:
    """Why the workload's queue takes nobody now, in Kueue's words; empty when it does."""
    local = records.local_queues().get((workload.namespace, workload.queue_name))
    if local is None:
        return f"LocalQueue {workload.queue_name} doesn't exist"
    if local.stop_policy != names.STOP_NONE:
        return f"LocalQueue {workload.queue_name} is inactive"
    queue = records.cluster_queues().get(local.cluster_queue)
    if queue is None:
        return f"ClusterQueue {local.cluster_queue} doesn't exist"
    if inactive_reason(queue, records):
        return f"ClusterQueue {local.cluster_queue} is inactive"
    return ""


def selects(queue: ClusterQueue, labels: Mapping[str, str]) -> bool:
    """Whether the queue's namespaceSelector takes a namespace with these labels; without a selector it takes none."""
    selector = queue.spec.get("namespaceSelector")
    if selector is None:
        return False
    wanted = selector.get("matchLabels") or {}
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _holds(expression, labels) for expression in selector.get("matchExpressions") or ()
    )


def _holds(expression: Json, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(expression["key"]), expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
    return value is None
