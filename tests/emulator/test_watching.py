import asyncio
import json
from typing import Any

import pytest

from emulator.paths import Target
from emulator.resources import WORKLOADS
from emulator.store import Store
from emulator.watching import Watcher, WatchQuery, read_watch_query
from tests.emulator import manifests
from tests.emulator.client import KUEUE, Client
from tests.emulator.scene import START

EVERYWHERE = Target("kueue.x-k8s.io", "v1beta2", "", "workloads", "", "")


class Watch:
    """A store with workloads and what a watch of them tells."""

    def __init__(self) -> None:
        self.store = Store("test", log_limit=10)
        self.watcher = Watcher(self.store)

    def create(self, name: str, namespace: str = "team", **labels: str) -> dict[str, Any]:
        obj = manifests.workload(name, "queue", 1)
        obj["metadata"] |= {"namespace": namespace, "labels": labels}
        return dict(self.store.create(WORKLOADS.storage, obj, START))

    def admit(self, name: str, queue: str | None) -> None:
        stored = self.store.get(WORKLOADS.storage, "team", name)
        assert stored is not None
        self.store.set_status(WORKLOADS.storage, stored, {"admission": {"clusterQueue": queue}} if queue else {})

    def told(self, version: int | None, target: Target = EVERYWHERE, **query: Any) -> list[dict[str, Any]]:
        """The events of a watch that ends at once."""
        asked = WatchQuery(**{"labels": "", "fields": "", "seconds": 0, "bookmarks": False, **query}, version=version)

        async def read() -> bytes:
            return b"".join([line async for line in self.watcher.lines(WORKLOADS, target, asked, "application/json")])

        return [json.loads(line) for line in asyncio.run(read()).splitlines()]


@pytest.fixture
def watch() -> Watch:
    return Watch()


def short(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(event["type"], event["object"]["metadata"].get("name", "")) for event in events]


def test_without_a_version_it_begins_with_what_is_there(watch: Watch) -> None:
    watch.create("b")
    watch.create("a")
    events = watch.told(None)
    assert short(events) == [("ADDED", "a"), ("ADDED", "b")]
    assert events[0]["object"]["kind"] == "Workload"


def test_the_end_of_the_beginning_is_marked_for_whoever_takes_bookmarks(watch: Watch) -> None:
    watch.create("a")
    bookmark = watch.told(None, bookmarks=True)[1]
    assert bookmark["type"] == "BOOKMARK"
    meta = bookmark["object"]["metadata"]
    assert meta == {
        "resourceVersion": str(watch.store.version),
        "annotations": {"k8s.io/initial-events-end": "true"},
    }


def test_it_resumes_after_a_version(watch: Watch) -> None:
    first = watch.create("a")
    since = watch.store.version
    watch.create("b")
    watch.store.update(WORKLOADS.storage, {**first, "spec": {}})
    watch.store.delete(WORKLOADS.storage, "team", "b")
    events = watch.told(since)
    assert short(events) == [("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b")]
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
    assert versions == [since + 1, since + 2, since + 3]


def test_other_resources_and_namespaces_are_not_told(watch: Watch) -> None:
    since = watch.store.version
    watch.create("a")
    watch.create("b", namespace="other")
    watch.store.create("nodes", {"metadata": {"name": "node"}}, START)
    team = Target("kueue.x-k8s.io", "v1beta2", "team", "workloads", "", "")
    assert short(watch.told(since, team)) == [("ADDED", "a")]


def test_entering_and_leaving_a_selection(watch: Watch) -> None:
    since = watch.store.version
    watch.create("a")
    for queue in ("queue", "queue", "other", "queue", None):
        watch.admit("a", queue)
    watch.admit("a", "queue")
    watch.store.delete(WORKLOADS.storage, "team", "a")
    events = watch.told(since, fields="status.admission.clusterQueue=queue")
    assert [event["type"] for event in events] == ["ADDED", "DELETED", "ADDED", "DELETED", "ADDED", "DELETED"]


def test_who_leaves_is_shown_as_it_was_with_the_version_of_leaving(watch: Watch) -> None:
    watch.create("a")
    watch.admit("a", "queue")
    since = watch.store.version
    watch.admit("a", None)
    (event,) = watch.told(since, fields="status.admission.clusterQueue=queue")
    assert event["object"]["status"]["admission"] == {"clusterQueue": "queue"}
    assert event["object"]["metadata"]["resourceVersion"] == str(since + 1)


def test_a_forgotten_version_is_gone(watch: Watch) -> None:
    watch.create("a")
    watch.store.compact()
    (event,) = watch.told(1)
    assert event["type"] == "ERROR"
    status = event["object"]
    assert (status["kind"], status["code"], status["reason"]) == ("Status", 410, "Expired")
    assert status["message"] == f"too old resource version: 1 ({watch.store.version})"


def test_the_newest_version_survives_a_compaction(watch: Watch) -> None:
    watch.create("a")
    since = watch.store.version
    watch.store.compact()
    watch.create("b")
    assert short(watch.told(since)) == [("ADDED", "b")]


def test_an_open_watch_hears_writes_at_once_and_the_end(watch: Watch) -> None:
    async def play() -> list[tuple[str, str]]:
        query = WatchQuery("", "", None, 30, bookmarks=False)
        lines = watch.watcher.lines(WORKLOADS, EVERYWHERE, query, "")
        asyncio.get_running_loop().call_later(0.01, watch.create, "a")
        first = await anext(lines)
        asyncio.get_running_loop().call_later(0.01, watch.watcher.close)
        rest = [line async for line in lines]
        assert rest == []
        return short([json.loads(first)])

    assert asyncio.run(asyncio.wait_for(play(), 5)) == [("ADDED", "a")]


def test_a_quiet_watch_ends_with_a_bookmark(watch: Watch) -> None:
    watch.store.create("nodes", {"metadata": {"name": "node"}}, START)
    since = watch.store.version - 1
    events = watch.told(since, bookmarks=True, seconds=0.02)
    assert [event["type"] for event in events] == ["BOOKMARK"]
    assert events[0]["object"]["metadata"] == {"resourceVersion": str(watch.store.version)}


@pytest.mark.parametrize(
    ("query", "version", "bookmarks"),
    [
        ({"resourceVersion": "7", "allowWatchBookmarks": "true"}, 7, True),
        ({"resourceVersion": "0", "allowWatchBookmarks": "1"}, None, True),
        ({"allowWatchBookmarks": "false"}, None, False),
    ],
)
def test_queries(query: dict[str, str], version: int | None, bookmarks: bool) -> None:
    read = read_watch_query(query)
    assert (read.version, read.bookmarks) == (version, bookmarks)
    assert 1800 <= read.seconds <= 3600


@pytest.mark.parametrize("asked", ["1", "true"])
def test_over_http_it_streams_lines_until_its_time_is_over(admin: Client, asked: str) -> None:
    events = admin.watched(f"/api/v1/namespaces?watch={asked}&timeoutSeconds=0&fieldSelector=metadata.name%3Ddefault")
    assert short(events) == [("ADDED", "default")]


def test_over_http_metadata_alone(admin: Client) -> None:
    answer = admin.call(
        "GET",
        "/api/v1/namespaces?watch=1&timeoutSeconds=0",
        Accept="application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    )
    first = json.loads(answer.text.splitlines()[0])["object"]
    assert set(first) == {"kind", "apiVersion", "metadata"}


def test_over_http_bad_queries_are_refused_before_the_stream(admin: Client) -> None:
    for query in ("resourceVersion=abc", "timeoutSeconds=x", "fieldSelector=spec.x%3D1"):
        assert admin.refused("GET", f"{KUEUE}/workloads?watch=1&{query}")[0] == 400
