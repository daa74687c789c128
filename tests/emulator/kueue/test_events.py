from datetime import timedelta

from emulator.kueue.events import Recorder
from emulator.resources import EVENTS
from emulator.store import Store
from tests.emulator.manifests import workload
from tests.emulator.scene import START

OBJECT = workload("w", "queue", 1)
OBJECT["metadata"] |= {"namespace": "team", "uid": "1", "resourceVersion": "5"}


def test_an_event_tells_what_when_and_about_whom() -> None:
    store = Store("test")
    Recorder(store).record(OBJECT, "Admitted", "said", START + timedelta(microseconds=250))
    (event,) = store.all(EVENTS.storage)
    assert (event["reason"], event["message"], event["type"]) == ("Admitted", "said", "Normal")
    assert event["eventTime"] == "2026-03-02T09:00:00.000250Z"
    assert event["firstTimestamp"] is None and event["lastTimestamp"] is None
    assert event["involvedObject"]["uid"] == "1"
    assert event["metadata"]["namespace"] == "team"


def test_many_events_of_one_object_have_names_of_their_own() -> None:
    store = Store("test")
    for _ in range(3):
        Recorder(store).record(OBJECT, "Admitted", "said", START)
    assert len(list(store.all(EVENTS.storage))) == 3


def test_events_are_forgotten_after_an_hour() -> None:
    store = Store("test")
    recorder = Recorder(store)
    for minutes in (0, 30, 61):
        recorder.record(OBJECT, f"At{minutes}", "said", START + timedelta(minutes=minutes))
    recorder.reconcile(START + timedelta(minutes=62))
    assert [event["reason"] for event in store.all(EVENTS.storage)] == ["At30", "At61"]
