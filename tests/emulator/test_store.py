from datetime import UTC, datetime
from typing import Any

import pytest

from emulator.store import AlreadyExists, Compacted, Event, Stale, Store

NOW = datetime(2026, 3, 2, 9, 0, 7, 600000, tzinfo=UTC)


def thing(name: str, size: int = 1, **meta: Any) -> dict[str, Any]:
    return {"kind": "Thing", "metadata": {"name": name, **meta}, "spec": {"size": size}}


@pytest.fixture
def store() -> Store:
    return Store("test", log_limit=10)


def names(store: Store) -> list[str]:
    return [obj["metadata"]["name"] for obj in store.all("things")]


def test_a_created_object_gets_identity_version_and_time(store: Store) -> None:
    created = store.create("things", thing("a", uid="mine", generation=9), NOW)["metadata"]
    assert created["uid"] != "mine"
    assert created["generation"] == 1
    assert created["creationTimestamp"] == "2026-03-02T09:00:07Z"
    assert created["resourceVersion"] == str(store.version)


def test_a_uid_by_which_others_name_it_already_is_kept(store: Store) -> None:
    assert store.create("things", thing("a"), NOW, uid="known")["metadata"]["uid"] == "known"


def test_the_same_name_is_refused_within_a_namespace_and_free_in_another(store: Store) -> None:
    store.create("things", thing("a", namespace="one"), NOW)
    store.create("things", thing("a", namespace="two"), NOW)
    with pytest.raises(AlreadyExists):
        store.create("things", thing("a", namespace="one"), NOW)


def test_the_same_identity_gives_the_same_uids_another_does_not() -> None:
    uids = [
        [Store(identity).create("things", thing("a"), NOW)["metadata"]["uid"] for _ in range(2)]
        for identity in ("one", "two")
    ]
    assert uids[0][0] == uids[0][1] != uids[1][0]


def test_versions_are_one_line_over_all_resources(store: Store) -> None:
    versions = [
        int(store.create(resource, thing(name), NOW)["metadata"]["resourceVersion"])
        for resource, name in (("things", "a"), ("others", "a"), ("things", "b"))
    ]
    assert versions == sorted(set(versions))


def test_an_update_replaces_and_leaves_the_old_object_as_it_was(store: Store) -> None:
    old = store.create("things", thing("a"), NOW)
    new = store.update("things", {**old, "spec": {"size": 2}})
    assert (old["spec"], new["spec"]) == ({"size": 1}, {"size": 2})
    assert new["metadata"]["uid"] == old["metadata"]["uid"]


def test_only_a_changed_spec_moves_the_generation(store: Store) -> None:
    created = store.create("things", thing("a"), NOW)
    labelled = store.update("things", {**created, "metadata": {**created["metadata"], "labels": {"a": "b"}}})
    reported = store.set_status("things", labelled, {"ready": True})
    resized = store.update("things", {**reported, "spec": {"size": 2}})
    assert [o["metadata"]["generation"] for o in (created, labelled, reported, resized)] == [1, 1, 1, 2]


def test_an_identical_update_writes_nothing(store: Store) -> None:
    created = store.create("things", thing("a"), NOW)
    version = store.version
    assert store.update("things", dict(created)) is created
    assert store.version == version


def test_a_stale_update_is_refused_and_a_status_is_set_on_whatever_is_there(store: Store) -> None:
    first = store.create("things", thing("a"), NOW)
    store.update("things", {**first, "spec": {"size": 2}})
    with pytest.raises(Stale):
        store.update("things", {**first, "spec": {"size": 3}})
    assert store.set_status("things", first, {"ready": True})["spec"] == {"size": 2}


def test_what_is_gone_cannot_be_written(store: Store) -> None:
    created = store.create("things", thing("a"), NOW)
    deleted = store.delete("things", "", "a")
    assert int(deleted["metadata"]["resourceVersion"]) > int(created["metadata"]["resourceVersion"])
    for write in (
        lambda: store.update("things", created),
        lambda: store.set_status("things", created, {}),
        lambda: store.delete("things", "", "a"),
    ):
        with pytest.raises(KeyError):
            write()


def test_events_tell_what_came_after_a_version(store: Store) -> None:
    created = store.create("things", thing("a"), NOW)
    since = store.version
    store.update("things", {**created, "spec": {"size": 2}})
    store.delete("things", "", "a")
    events = store.events_after(since)
    assert [event.type for event in events] == ["MODIFIED", "DELETED"]
    assert [event.previous and event.previous["spec"]["size"] for event in events] == [1, 2]
    assert store.events_after(store.version) == []


def test_earlier_versions_can_be_read_as_they_were(store: Store) -> None:
    store.create("things", thing("a"), NOW)
    store.create("things", thing("b"), NOW)
    then = store.version
    store.set_status("things", thing("a"), {"ready": True})
    store.delete("things", "", "b")
    store.create("things", thing("c"), NOW)
    before = store.at("things", then)
    assert sorted(name for _, name in before) == ["a", "b"]
    assert "status" not in before["", "a"]
    assert sorted(name for _, name in store.at("things", store.version)) == ["a", "c"]


def test_the_log_is_bounded_and_says_where_it_begins(store: Store) -> None:
    for number in range(30):
        store.create("things", thing(f"n{number}"), NOW)
    with pytest.raises(Compacted) as refused:
        store.events_after(2)
    oldest = refused.value.oldest
    assert len(store.events_after(oldest)) <= 20
    with pytest.raises(Compacted):
        store.events_after(oldest - 1)


def test_compaction_forgets_the_past_and_keeps_the_objects(store: Store) -> None:
    store.create("things", thing("a"), NOW)
    before = store.version - 1
    store.compact()
    with pytest.raises(Compacted):
        store.at("things", before)
    assert store.events_after(store.version) == []
    assert names(store) == ["a"]


def test_listeners_hear_every_write(store: Store) -> None:
    heard: list[Event] = []
    store.subscribe(heard.append)
    store.create("things", thing("a"), NOW)
    store.delete("things", "", "a")
    assert [event.type for event in heard] == ["ADDED", "DELETED"]


def test_a_dump_brings_everything_back_but_the_past(store: Store) -> None:
    store.create("things", thing("a", namespace="one"), NOW)
    store.create("others", thing("b"), NOW)
    again = Store("test")
    again.load(store.dump())
    assert again.version == store.version
    assert again.get("things", "one", "a") == store.get("things", "one", "a")
    with pytest.raises(Compacted):
        again.events_after(1)


def test_uids_do_not_come_back_after_a_restart(store: Store) -> None:
    first = store.create("things", thing("a"), NOW)["metadata"]["uid"]
    again = Store("test")
    again.load(store.dump())
    assert again.create("things", thing("b"), NOW)["metadata"]["uid"] != first
