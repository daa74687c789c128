"""Kueue's visibility API: who waits in a queue, in order."""

from typing import Any, Final

from emulator.discovery import VISIBILITY
from emulator.errors import ApiError, NoSuchPath
from emulator.paths import Target
from emulator.records import Records
from emulator.resources import WORKLOADS
from emulator.store import Json, Store
from scheduling.objects import Workload
from scheduling.queue_order import queue_orders

_DEFAULT_LIMIT: Final = 1000


def pending_workloads(store: Store, records: Records, target: Target, query: Json) -> dict[str, Any]:
    """The summary of a ClusterQueue or of a LocalQueue. Raises ApiError (404, 400)."""
    limit, offset = _number(query, "limit", _DEFAULT_LIMIT), _number(query, "offset", 0)
    local = records.local_queues().get((target.namespace, target.name))
    if target.plural == "localqueues" and target.namespace:
        if local is None:
            raise _unknown("localqueue", target.name)
        queue = local.cluster_queue
    elif target.plural == "clusterqueues" and target.name in records.cluster_queues():
        queue = target.name
    elif target.plural == "clusterqueues":
        raise _unknown("clusterqueue", target.name)
    else:
        raise NoSuchPath
    items = [
        item
        for item in _items(store, records, queue)
        if target.plural == "clusterqueues"
        or (item["metadata"]["namespace"], item["localQueueName"]) == (target.namespace, target.name)
    ]
    return {
        "kind": "PendingWorkloadsSummary",
        "apiVersion": f"{VISIBILITY}/{target.version}",
        "metadata": {},
        "items": items[offset : offset + limit],
    }


def _items(store: Store, records: Records, queue: str) -> list[dict[str, Any]]:
    orders = queue_orders(
        records.cluster_queues().values(), records.local_queues().values(), records.workloads().values()
    )
    seen: dict[tuple[str, str], int] = {}
    items = []
    for position, workload in enumerate(orders.get(queue, ())):
        line = (workload.namespace, workload.queue_name)
        items.append(_item(store, workload, position, seen.get(line, 0)))
        seen[line] = seen.get(line, 0) + 1
    return items


def _item(store: Store, workload: Workload, position: int, in_local_queue: int) -> dict[str, Any]:
    stored = store.get(WORKLOADS.storage, workload.namespace, workload.name)
    meta = stored["metadata"] if stored else {}
    kept = ("name", "namespace", "ownerReferences", "creationTimestamp")
    return {
        "metadata": {name: meta[name] for name in kept if name in meta},
        "priority": workload.priority,
        "localQueueName": workload.queue_name,
        "positionInClusterQueue": position,
        "positionInLocalQueue": in_local_queue,
    }


def _number(query: Json, name: str, default: int) -> int:
    text = query.get(name, "")
    if not text:
        return default
    if not text.isdecimal():
        raise ApiError(400, "BadRequest", f'strconv.ParseInt: parsing "{text}": invalid syntax')
    return int(text)


def _unknown(kind: str, name: str) -> ApiError:
    details = {"name": name, "group": VISIBILITY, "kind": kind}
    return ApiError(404, "NotFound", f'{kind}.{VISIBILITY} "{name}" not found', details)
