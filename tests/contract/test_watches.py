"""Watches: every change after a version, in order, until the time is over or the past forgotten.

Told with WorkloadPriorityClasses, which no controller touches.
"""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from tests.cluster import objects
from tests.cluster.client import path
from tests.contract.clusters import Cluster, fresh, wait_for

Json = dict[str, Any]
CLASSES = "workloadpriorityclasses"
METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"


class Shelf:
    """Priority classes of one test, marked with a label, and watches on them alone."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.mark = fresh("watches")

    def create(self, name: str, **labels: str) -> Json:
        manifest = objects.priority_class(f"{self.mark}-{name}", 1)
        manifest["metadata"]["labels"] = {"mark": self.mark, **labels}
        return self.cluster.admin.create(CLASSES, manifest)

    def relabel(self, name: str, **labels: str | None) -> Json:
        return self.cluster.admin.merge(CLASSES, f"{self.mark}-{name}", {"metadata": {"labels": labels}})

    def delete(self, name: str) -> None:
        self.cluster.admin.delete(CLASSES, f"{self.mark}-{name}")

    def version(self) -> str:
        found: str = self.cluster.portal.call("GET", path(CLASSES))["metadata"]["resourceVersion"]
        return found

    def watch(self, seconds: int = 20, accept: str = "", also: str = "", **query: str) -> Iterator[Json]:
        """The events of a watch, until it ends."""
        selector = ",".join(filter(None, (f"mark={self.mark}", also)))
        query = {"watch": "true", "timeoutSeconds": str(seconds), "labelSelector": selector, **query}
        headers = {"Accept": accept} if accept else {}
        with self.cluster.portal.ask("GET", path(CLASSES), params=query, headers=headers, stream=True) as answer:
            assert answer.status_code == 200, answer.text
            yield from (json.loads(line) for line in answer.iter_lines() if line)

    def first(self, count: int, events: Iterator[Json]) -> list[tuple[str, str]]:
        """Type and short name of that many events."""
        return [(e["type"], e["object"]["metadata"]["name"].rsplit("-", 1)[1]) for e in islice(events, count)]


@pytest.fixture
def shelf(cluster: Cluster) -> Shelf:
    return Shelf(cluster)


def test_changes_after_a_list_come_in_order(shelf: Shelf) -> None:
    shelf.create("before")
    start = shelf.version()
    shelf.create("a")
    shelf.relabel("a", team="red")
    shelf.delete("a")

    events = shelf.first(3, shelf.watch(resourceVersion=start))

    assert events == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


def test_a_watch_resumes_after_the_last_event_it_gave(shelf: Shelf) -> None:
    start = shelf.version()
    shelf.create("a")
    shelf.create("b")
    last = next(shelf.watch(resourceVersion=start))["object"]["metadata"]["resourceVersion"]

    assert shelf.first(1, shelf.watch(resourceVersion=last)) == [("ADDED", "b")]


def test_a_change_made_while_watching_arrives(shelf: Shelf) -> None:
    shelf.create("a")
    events = shelf.watch(resourceVersion="0")
    assert shelf.first(1, events) == [("ADDED", "a")]

    shelf.create("b")

    assert shelf.first(1, events) == [("ADDED", "b")]


@pytest.mark.parametrize("version", ["", "0"])
def test_without_a_version_a_watch_begins_with_what_is_there(shelf: Shelf, version: str) -> None:
    shelf.create("a")
    shelf.create("b")

    assert sorted(shelf.first(2, shelf.watch(resourceVersion=version))) == [("ADDED", "a"), ("ADDED", "b")]


@pytest.mark.parametrize("spelling", ["1", "true"])
def test_both_spellings_ask_for_a_watch(shelf: Shelf, spelling: str) -> None:
    shelf.create("a")

    assert shelf.first(1, shelf.watch(watch=spelling)) == [("ADDED", "a")]


def test_a_watch_ends_when_its_time_is_over(shelf: Shelf) -> None:
    assert list(shelf.watch(1, resourceVersion=shelf.version())) == []


def test_a_bookmark_tells_how_far_a_quiet_watch_has_come(shelf: Shelf) -> None:
    shelf.create("a")
    events = shelf.watch(shelf.cluster.bookmark_seconds, resourceVersion="0", allowWatchBookmarks="true")
    assert shelf.first(1, events) == [("ADDED", "a")]
    later = Shelf(shelf.cluster).create("elsewhere")["metadata"]["resourceVersion"]

    told = list(events)

    assert {event["type"] for event in told} == {"BOOKMARK"}
    last = told[-1]["object"]
    assert (last["kind"], last["apiVersion"]) == ("WorkloadPriorityClass", "kueue.x-k8s.io/v1beta2")
    assert int(last["metadata"]["resourceVersion"]) >= int(later)


def test_objects_enter_and_leave_a_selection(shelf: Shelf) -> None:
    start = shelf.version()
    shelf.create("a")
    shelf.relabel("a", team="red")
    shelf.relabel("a", size="large")
    left = shelf.relabel("a", team=None)
    shelf.create("b", team="red")

    events = list(islice(shelf.watch(resourceVersion=start, also="team=red"), 4))

    assert shelf.first(4, iter(events)) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a"), ("ADDED", "b")]
    gone = events[2]["object"]["metadata"]
    assert gone["labels"]["team"] == "red"
    assert gone["resourceVersion"] == left["metadata"]["resourceVersion"]


def test_a_deleted_object_carries_its_last_state_and_a_newer_version(shelf: Shelf) -> None:
    created = shelf.create("a")["metadata"]
    shelf.delete("a")

    event = next(shelf.watch(resourceVersion=created["resourceVersion"]))

    assert event["type"] == "DELETED"
    assert event["object"]["metadata"]["uid"] == created["uid"]
    assert int(event["object"]["metadata"]["resourceVersion"]) > int(created["resourceVersion"])


def test_metadata_alone_is_watched_when_asked_for(shelf: Shelf) -> None:
    shelf.create("a")

    event = next(shelf.watch(accept=METADATA_ONLY))

    assert set(event["object"]) == {"kind", "apiVersion", "metadata"}
    assert event["object"]["kind"] == "PartialObjectMetadata"


def test_a_forgotten_version_ends_the_watch_with_410(shelf: Shelf) -> None:
    shelf.create("a")
    shelf.cluster.forget()

    def gone() -> Json | None:
        event = next(shelf.watch(1, resourceVersion="1"), None)
        return event if event and event["type"] == "ERROR" else None

    status = wait_for(shelf.cluster, "410", gone)["object"]

    assert (status["kind"], status["code"], status["reason"]) == ("Status", 410, "Expired")
    assert "too old resource version" in status["message"]
