"""Kueue's events: short-lived notes beside the objects, in the wording of 0.19."""

from datetime import datetime, timedelta
from typing import Final

from emulator.clock import api_micro_time
from emulator.resources import EVENTS
from emulator.store import Json, Key, Store
from scheduling.parsing import parse_time

KEPT: Final = timedelta(hours=1)
_CONTROLLER: Final = "kueue-admission"


class Recorder:
    """Writes events and forgets them after an hour, as an API server does."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def record(self, obj: Json, reason: str, message: str, now: datetime) -> None:
        meta = obj["metadata"]
        about = {
            "kind": obj["kind"],
            "apiVersion": obj["apiVersion"],
            "namespace": meta["namespace"],
            "name": meta["name"],
            "uid": meta["uid"],
            "resourceVersion": meta["resourceVersion"],
        }
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{meta['name']}.{self._store.version:016x}", "namespace": meta["namespace"]},
            "involvedObject": about,
            "eventTime": api_micro_time(now),
            "firstTimestamp": None,
            "lastTimestamp": None,
            "source": {},
            "reportingComponent": _CONTROLLER,
            "reportingInstance": f"{_CONTROLLER}-emulator",
            "action": reason,
            "reason": reason,
            "message": message,
            "type": "Normal",
        }
        self._store.create(EVENTS.storage, event, now)

    def reconcile(self, now: datetime) -> None:
        """Events are stored in the order of their time: the oldest come first."""
        expired: list[Key] = []
        for event in self._store.all(EVENTS.storage):
            created = parse_time(event["metadata"]["creationTimestamp"])
            if created is None or now - created < KEPT:
                break
            expired.append((event["metadata"]["namespace"], event["metadata"]["name"]))
        for key in expired:
            self._store.delete(EVENTS.storage, *key)

    def next_due(self) -> datetime | None:
        return None
