"""Events: what controllers note about an object, kept by the API server for an hour or so.

Both event APIs show the same events. Older writers count repetitions with a first and a last time in whole seconds;
newer ones write one micro-time and, when it repeats, a series.
"""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from gateways.errors import NotFound
from gateways.http import Api
from gateways.lists import list_pages
from gateways.records import EventRecord, Page
from scheduling import names
from scheduling.objects import Json
from scheduling.parsing import UNREADABLE, MalformedObject, parse_time

_EMPTY: Final[dict[str, Any]] = {}
_CORE: Final = "/api/v1/events"
_NEW: Final = "/apis/events.k8s.io/v1/events"
_ORDINARY: Final = (names.PENDING, names.QUOTA_RESERVED, names.ADMITTED)
_AS_IN_CORE: Final = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}


def events_about(api: Api, namespace: str, uid: str) -> tuple[EventRecord, ...]:
    """The events about the object of that uid, at most 500, in no order. Raises GatewayError."""
    path = f"/api/v1/namespaces/{quote(namespace, safe='')}/events"
    return next(list_pages(api, path, parse_event, query={"fieldSelector": f"involvedObject.uid={uid}"})).records


def workload_events(api: Api) -> Iterator[Page[EventRecord]]:
    """The events about all Workloads, of either API, without those that every admission and every wait leaves: of these
    there are thousands. Raises GatewayError."""
    try:
        yield from list_pages(api, _NEW, parse_new_event, query={"fieldSelector": _about_workloads("regarding")})
    except NotFound:
        yield from list_pages(api, _CORE, parse_event, query={"fieldSelector": _about_workloads("involvedObject")})


def _about_workloads(field: str) -> str:
    return ",".join((f"{field}.kind=Workload", *(f"reason!={reason}" for reason in _ORDINARY)))


def parse_new_event(obj: Json) -> EventRecord:
    """An Event of events.k8s.io. Raises MalformedObject."""
    if not isinstance(obj, dict):
        raise MalformedObject("an event that is no object")
    return parse_event({str(_AS_IN_CORE.get(name, name)): value for name, value in obj.items()})


def parse_event(obj: Json) -> EventRecord:
    """An Event of the core API. Raises MalformedObject."""
    try:
        about, series = obj["involvedObject"], obj.get("series") or _EMPTY
        source = obj.get("source") or _EMPTY
        first = obj.get("firstTimestamp") or obj.get("eventTime") or obj["metadata"].get("creationTimestamp")
        return EventRecord(
            kind=str(about.get("kind") or ""),
            name=str(about.get("name") or ""),
            is_warning=obj.get("type") == "Warning",
            reason=str(obj.get("reason") or ""),
            message=str(obj.get("message") or ""),
            reporter=str(obj.get("reportingComponent") or source.get("component") or ""),
            count=int(series.get("count") or obj.get("count") or 1),
            first_at=parse_time(first),
            last_at=parse_time(series.get("lastObservedTime") or obj.get("lastTimestamp") or first),
            uid=str(obj["metadata"].get("uid") or ""),
            about=str(about.get("uid") or ""),
            is_series=bool(series),
            namespace=str(about.get("namespace") or ""),
        )
    except UNREADABLE as error:
        raise MalformedObject(f"an event with a field missing or unexpected ({error})") from error
