from datetime import timedelta

from emulator.events import Events, Reporter, reference
from emulator.resources import EVENTS
from emulator.store import Store
from tests.emulator.manifests import workload
from tests.emulator.scene import START

ABOUT = {"kind": "Pod", "apiVersion": "v1", "namespace": "team", "name": "p", "uid": "1"}
OLD, NEW = Reporter("kubelet", counts=True), Reporter("default-scheduler")


def told(store: Store) -> list[dict[str, object]]:
    return [dict(event) for event in store.all(EVENTS.storage)]


def test_a_newer_reporter_gives_one_micro_time() -> None:
    store = Store("test")
    Events(store).note(NEW, ABOUT, "Scheduled", "said", START + timedelta(microseconds=250), action="Binding")
    (event,) = told(store)
    assert (event["reason"], event["message"], event["type"]) == ("Scheduled", "said", "Normal")
    assert event["eventTime"] == "2026-03-02T09:00:00.000250Z"
    assert event["firstTimestamp"] is None and event["lastTimestamp"] is None and "count" not in event
    assert (event["source"], event["action"], event["reportingComponent"]) == ({}, "Binding", "default-scheduler")
    assert event["involvedObject"] == ABOUT


def test_an_older_reporter_counts_in_whole_seconds() -> None:
    store = Store("test")
    Events(store).note(OLD, ABOUT, "BackOff", "said", START, is_warning=True, count=2, host="node-1")
    (event,) = told(store)
    assert (event["type"], event["count"], event["eventTime"]) == ("Warning", 2, None)
    assert event["firstTimestamp"] == event["lastTimestamp"] == "2026-03-02T09:00:00Z"
    assert event["source"] == {"component": "kubelet", "host": "node-1"}


def test_what_an_event_is_about_is_named_in_one_version() -> None:
    obj = workload("w", "queue", 1)
    obj["metadata"] |= {"namespace": "team", "uid": "1", "resourceVersion": "5", "labels": {}}
    kueue = {"kind": "Workload", "apiVersion": "kueue.x-k8s.io/v1beta2"}
    assert reference(obj) == {**kueue, "namespace": "team", "name": "w", "uid": "1", "resourceVersion": "5"}


def test_many_events_of_one_object_have_names_of_their_own() -> None:
    store = Store("test")
    for _ in range(3):
        Events(store).note(NEW, ABOUT, "Scheduled", "said", START)
    assert len(told(store)) == 3


def test_events_are_forgotten_after_an_hour() -> None:
    store = Store("test")
    events = Events(store)
    for minutes in (0, 30, 61):
        events.note(NEW, ABOUT, f"At{minutes}", "said", START + timedelta(minutes=minutes))
    events.reconcile(START + timedelta(minutes=62))
    assert [event["reason"] for event in told(store)] == ["At30", "At61"]
