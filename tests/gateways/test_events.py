from datetime import UTC, datetime
from typing import Any

import pytest

from gateways.errors import Denied
from gateways.events import events_about, parse_event, parse_new_event, workload_events
from gateways.http import Api
from scheduling.parsing import MalformedObject
from tests.gateways.objects import Json
from tests.gateways.scripted import ScriptedServer, listing, status

EVENTS = "/api/v1/namespaces/team/events"
ALL, ALL_NEW = "/api/v1/events", "/apis/events.k8s.io/v1/events"
ABOUT = {"kind": "Pod", "name": "train-0", "uid": "u"}


def event(**rest: Any) -> Json:
    return {
        "metadata": {"name": "train-0.1", "creationTimestamp": "2026-10-08T12:00:00Z"},
        "involvedObject": ABOUT,
        **rest,
    }


def at(minute: int, second: int = 0, micro: int = 0) -> datetime:
    return datetime(2026, 10, 8, 12, minute, second, micro, tzinfo=UTC)


def test_events_are_asked_for_by_the_uid_of_their_object(server: ScriptedServer, api: Api) -> None:
    server.on(EVENTS, listing([event(reason="Scheduled"), {"metadata": {}}], following="more"))
    assert [found.reason for found in events_about(api, "team", "u")] == ["Scheduled"]
    assert server.asked[0].query == {"fieldSelector": "involvedObject.uid=u", "limit": "500"}


def test_a_refusal_is_told(server: ScriptedServer, api: Api) -> None:
    server.on(EVENTS, status(403))
    with pytest.raises(Denied):
        events_about(api, "team", "u")


def test_an_event_of_an_older_writer() -> None:
    found = parse_event(
        event(
            type="Warning",
            reason="BackOff",
            message="Back-off restarting",
            count=12,
            firstTimestamp="2026-10-08T12:01:00Z",
            lastTimestamp="2026-10-08T12:09:00Z",
            eventTime=None,
            source={"component": "kubelet"},
        )
    )
    assert (found.kind, found.name, found.is_warning, found.reason) == ("Pod", "train-0", True, "BackOff")
    assert (found.count, found.first_at, found.last_at, found.reporter) == (12, at(1), at(9), "kubelet")


def test_an_event_of_a_newer_writer_has_micro_time() -> None:
    found = parse_event(
        event(
            type="Normal",
            eventTime="2026-10-08T12:02:03.157333Z",
            firstTimestamp=None,
            lastTimestamp=None,
            source={},
            reportingComponent="kueue-admission",
        )
    )
    assert (found.is_warning, found.count, found.reporter) == (False, 1, "kueue-admission")
    assert found.first_at == found.last_at == at(2, 3, 157333)


def test_a_series_counts_and_dates_repetitions() -> None:
    series = {"count": 40, "lastObservedTime": "2026-10-08T12:30:00.000001Z"}
    found = parse_event(event(eventTime="2026-10-08T12:02:00.000000Z", series=series))
    assert (found.count, found.first_at, found.last_at) == (40, at(2), at(30, 0, 1))


def test_an_event_without_any_time_is_as_old_as_its_object() -> None:
    assert parse_event(event()).last_at == at(0)
    assert parse_event({"metadata": {}, "involvedObject": {}}).last_at is None


@pytest.mark.parametrize(
    "obj",
    [
        None,
        {},
        {"metadata": {}},
        event(involvedObject=None),
        event(count="many"),
        event(series=[1]),
        event(eventTime=7),
    ],
)
def test_an_event_that_cannot_be_read_is_malformed(obj: Any) -> None:
    with pytest.raises(MalformedObject):
        parse_event(obj)


NEW_EVENT = {
    "metadata": {"name": "guest.18", "uid": "e-1", "creationTimestamp": "2026-10-08T12:02:03Z"},
    "eventTime": "2026-10-08T12:02:03.157333Z",
    "reportingController": "kueue-admission",
    "reason": "EvictedDueToPreempted",
    "regarding": {"kind": "Workload", "namespace": "team", "name": "guest", "uid": "w-1"},
    "note": "Preempted to accommodate a workload",
    "type": "Normal",
    "deprecatedSource": {},
    "deprecatedFirstTimestamp": None,
    "deprecatedLastTimestamp": None,
}


def test_an_event_of_the_newer_api() -> None:
    found = parse_new_event(NEW_EVENT)
    assert (found.uid, found.about, found.kind, found.name) == ("e-1", "w-1", "Workload", "guest")
    assert (found.reason, found.message) == ("EvictedDueToPreempted", "Preempted to accommodate a workload")
    assert (found.reporter, found.count, found.is_series) == ("kueue-admission", 1, False)
    assert found.first_at == found.last_at == at(2, 3, 157333)


def test_an_older_writers_event_in_the_newer_api() -> None:
    times = {"deprecatedFirstTimestamp": "2026-10-08T12:01:00Z", "deprecatedLastTimestamp": "2026-10-08T12:09:00Z"}
    found = parse_new_event({**NEW_EVENT, **times, "eventTime": None, "deprecatedCount": 3})
    assert (found.count, found.first_at, found.last_at, found.is_series) == (3, at(1), at(9), False)


def test_a_series_says_so() -> None:
    series = {"count": 3, "lastObservedTime": "2026-10-08T12:30:00.000001Z"}
    found = parse_new_event({**NEW_EVENT, "series": series})
    assert (found.count, found.is_series, found.last_at) == (3, True, at(30, 0, 1))


@pytest.mark.parametrize("obj", [None, [], {}, {**NEW_EVENT, "regarding": None}, {**NEW_EVENT, "eventTime": "soon"}])
def test_a_newer_event_that_cannot_be_read_is_malformed(obj: Any) -> None:
    with pytest.raises(MalformedObject):
        parse_new_event(obj)


def test_events_of_all_workloads_come_in_pages_without_the_ordinary_ones(server: ScriptedServer, api: Api) -> None:
    server.on(ALL_NEW, listing([NEW_EVENT], following="more"), listing([NEW_EVENT, {}]))
    pages = list(workload_events(api))
    assert [[event.about for event in page.records] for page in pages] == [["w-1"], ["w-1"]]
    assert len(pages[1].malformed) == 1
    selector = "regarding.kind=Workload,reason!=Pending,reason!=QuotaReserved,reason!=Admitted"
    assert server.asked[0].query == {"fieldSelector": selector, "limit": "500"}


def test_a_server_without_the_newer_api_is_asked_in_the_older_one(server: ScriptedServer, api: Api) -> None:
    server.on(ALL_NEW, status(404))
    server.on(ALL, listing([event(reason="EvictedDueToPreempted")]))
    assert [event.reason for page in workload_events(api) for event in page.records] == ["EvictedDueToPreempted"]
    assert server.asked[-1].query["fieldSelector"].startswith("involvedObject.kind=Workload,")


def test_a_refusal_of_all_events_is_told(server: ScriptedServer, api: Api) -> None:
    server.on(ALL_NEW, status(403))
    with pytest.raises(Denied):
        list(workload_events(api))
