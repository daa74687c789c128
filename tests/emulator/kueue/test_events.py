from emulator.events import Events
from emulator.kueue.events import Recorder
from emulator.resources import CLUSTER_QUEUES, EVENTS
from emulator.store import Store
from tests.emulator.manifests import workload
from tests.emulator.scene import START, Scene


def test_kueue_tells_of_a_workload_in_the_newer_way() -> None:
    store = Store("test")
    obj = workload("w", "queue", 1)
    obj["metadata"] |= {"namespace": "team", "uid": "1", "resourceVersion": "5"}
    Recorder(Events(store)).record(obj, "Admitted", "said", START)
    (event,) = store.all(EVENTS.storage)
    assert (event["reason"], event["message"], event["type"]) == ("Admitted", "said", "Normal")
    assert (event["reportingComponent"], event["action"]) == ("kueue-admission", "Admitted")
    assert event["eventTime"] == "2026-03-02T09:00:00.000000Z"
    about = event["involvedObject"]
    assert (about["kind"], about["name"], about["uid"]) == ("Workload", "w", "1")


def test_who_cannot_be_admitted_is_warned_of_once() -> None:
    scene = Scene()
    scene.submit(workload("first", "a", 8), workload("second", "a", 1))
    scene.submit(workload("third", "b", 2))
    told = {name: message for name, reason, message in scene.events() if reason == "Pending"}
    assert told == {name: scene.message(name) for name in ("second", "third")}
    scene.change(CLUSTER_QUEUES, "a", stopPolicy="None")
    assert len([event for event in scene.events() if event[1] == "Pending"]) == 2
