"""Events: what controllers note about an object, kept by the API server for an hour or so.

Both event APIs show the same events. Older writers count repetitions with a first and a last time in whole seconds;
newer ones write one micro-time and, when it repeats, a series.
"""

from typing import Any, Final
from urllib.parse import quote

from gateways.http import Api
from gateways.lists import list_pages
from gateways.records import EventRecord
from scheduling.objects import Json
from scheduling.parsing import MalformedObject, parse_time

_EMPTY: Final[dict[str, Any]] = {}


def events_about(api: Api, namespace: str, uid: str) -> tuple[EventRecord, ...]:
    """The events about the object of that uid, at most 500, in no order. Raises GatewayError."""
    path = f"/api/v1/namespaces/{quote(namespace, safe='')}/events"
    return next(list_pages(api, path, parse_event, query={"fieldSelector": f"involvedObject.uid={uid}"})).records


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
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MalformedObject(f"an event with a field missing or unexpected ({error})") from error
