"""What the page of one workload reads from its cluster at the moment somebody asks: pods, events, the manifest.

All raise GatewayError, after seconds. A person waits for it, and a thread of the web server: only some may wait at a
time, so that a cluster that is silent leaves threads for all that needs no cluster.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, TypeVar

from gateways.connections import Connection
from gateways.errors import ConfigurationError, NotFound, Unavailable
from gateways.events import events_about
from gateways.http import IMPATIENT, Api, connect
from gateways.kueue import Kueue
from gateways.pods import JobName, JobPods, pods_of
from gateways.records import EventRecord
from jobs.models import Workload

Told = TypeVar("Told")

_AT_ONCE: Final = 4
_WAIT_SECONDS: Final = 1.0

_places = threading.BoundedSemaphore(_AT_ONCE)


def pods_now(workload: Workload) -> JobPods:
    """The pods of the workload's job."""
    job = JobName(workload.namespace, workload.name, workload.owner_kind, workload.owner_name, workload.owner_uid)
    return _ask(workload, lambda api, _kueue: pods_of(api, job))


def events_now(workload: Workload, pod_uid: str = "") -> list[EventRecord]:
    """What controllers noted about the workload and its job, or about one pod of its namespace, newest first."""
    about = [pod_uid] if pod_uid else list(dict.fromkeys(filter(None, (workload.uid, workload.owner_uid))))

    def read(api: Api, _kueue: Kueue) -> list[EventRecord]:
        return [event for uid in about for event in events_about(api, workload.namespace, uid)]

    found = _ask(workload, read)
    return sorted(found, key=lambda event: (event.last_at is None, -event.last_at.timestamp() if event.last_at else 0))


def manifest_now(workload: Workload) -> dict[str, Any]:
    """The Workload object as the API server shows it, unmasked. Raises NotFound also where a namesake has its place."""
    found = _ask(workload, lambda _api, kueue: kueue.workload_object(workload.namespace, workload.name))
    meta = found.get("metadata")
    if not isinstance(meta, dict) or meta.get("uid") != workload.uid:
        raise NotFound("another object has that name now")
    return found


def _ask(workload: Workload, read: Callable[[Api, Kueue], Told]) -> Told:
    connection = workload.cluster.connection
    with _place():
        try:
            return read(*_client(connection))
        except (Unavailable, ConfigurationError):
            _client.cache_clear()  # the connection may lead elsewhere by now: its file is read again
            raise


@contextmanager
def _place() -> Iterator[None]:
    if not _places.acquire(timeout=_WAIT_SECONDS):
        raise Unavailable("too many wait for clusters at the moment")
    try:
        yield
    finally:
        _places.release()


@lru_cache(maxsize=32)
def _client(connection: Connection) -> tuple[Api, Kueue]:
    """Kept, with its open connections and what was found out about the API."""
    api = connect(connection, IMPATIENT)
    return api, Kueue(api)
