"""Events: short-lived notes of controllers beside the objects, in either of the two ways of writing them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from emulator.clock import api_micro_time, api_time
from emulator.resources import EVENTS
from emulator.store import Json, Key, Store
from scheduling.parsing import parse_time

KEPT: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Reporter:
    """Who writes. An older one `counts`: whole seconds, and how often; newer ones give one micro-time."""

    component: str
    counts: bool = False


def reference(obj: Json) -> dict[str, str]:
    """What an event says of the object that it is about."""
    meta = obj["metadata"]
    named = {name: meta[name] for name in ("namespace", "name", "uid", "resourceVersion")}
    return {"kind": obj["kind"], "apiVersion": obj["apiVersion"], **named}


class Events:
    """Writes events and forgets them after an hour, as an API server does."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def note(
        self,
        by: Reporter,
        about: Json,
        reason: str,
        message: str,
        now: datetime,
        *,
        is_warning: bool = False,
        count: int = 1,
        host: str = "",
        action: str = "",
    ) -> None:
        """`host` is where an older reporter runs, `action` what a newer one did."""
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{about['name']}.{self._store.version:016x}", "namespace": about["namespace"]},
            "involvedObject": about,
            "reason": reason,
            "message": message,
            "type": "Warning" if is_warning else "Normal",
            "reportingComponent": by.component,
            **(_counted(by, now, count, host) if by.counts else _dated(by, now, action or reason)),
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


def _counted(by: Reporter, now: datetime, count: int, host: str) -> dict[str, Any]:
    source = {"component": by.component, **({"host": host} if host else {})}
    return {
        "eventTime": None,
        "firstTimestamp": api_time(now),
        "lastTimestamp": api_time(now),
        "count": count,
        "source": source,
        "reportingInstance": host,
    }


def _dated(by: Reporter, now: datetime, action: str) -> dict[str, Any]:
    return {
        "eventTime": api_micro_time(now),
        "firstTimestamp": None,
        "lastTimestamp": None,
        "source": {},
        "reportingInstance": f"{by.component}-emulator",
        "action": action,
    }
