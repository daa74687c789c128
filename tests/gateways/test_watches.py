import json
import threading
import time
from http.server import BaseHTTPRequestHandler

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateways.errors import BadReply, Denied, Gone, Unavailable
from gateways.http import Api
from gateways.records import Change
from gateways.watches import lines, watch
from scheduling.parsing import parse_workload
from tests.gateways.objects import bookmark, error, event, malformed_workload, workload
from tests.gateways.scripted import ScriptedServer, chunks, cut_off, events, status

PATH = "/apis/kueue.x-k8s.io/v1beta2/workloads"


def told(api: Api) -> list[tuple[str, bool, int]]:
    """(name, deleted, resourceVersion) of each change."""
    changes = watch(api, PATH, parse_workload, 50)
    return [(c.record.name if c.record else "", c.deleted, c.resource_version) for c in changes]


def test_events_become_changes_until_the_server_ends(server: ScriptedServer, api: Api) -> None:
    server.on(
        PATH,
        events(
            event("ADDED", workload("a", 51)),
            event("MODIFIED", workload("a", 52)),
            bookmark(60),
            event("DELETED", workload("a", 61)),
        ),
    )
    assert told(api) == [("a", False, 51), ("a", False, 52), ("", False, 60), ("a", True, 61)]


def test_a_watch_asks_from_its_version_for_bookmarks_and_an_end(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, events())
    assert list(watch(api, PATH, parse_workload, 50, seconds=7)) == []
    assert server.asked[0].query == {
        "watch": "true",
        "resourceVersion": "50",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": "7",
    }


def test_events_split_over_chunks_are_put_together(server: ScriptedServer, api: Api) -> None:
    wire = b"".join(json.dumps(event("ADDED", workload(n, v))).encode() + b"\n" for n, v in (("a", 51), ("b", 52)))
    server.on(PATH, chunks(*(wire[i : i + 7] for i in range(0, len(wire), 7))))
    assert told(api) == [("a", False, 51), ("b", False, 52)]


def test_an_event_arrives_before_the_next_one_is_sent(server: ScriptedServer, api: Api) -> None:
    first = json.dumps(event("ADDED", workload("a", 51))).encode() + b"\n"
    server.on(PATH, chunks(first, lambda: server.released.wait(5)))
    began = time.monotonic()
    change = next(watch(api, PATH, parse_workload, 50))
    assert change.record and change.record.name == "a"
    assert time.monotonic() - began < 1


def test_a_megabyte_in_one_line_is_read(server: ScriptedServer, api: Api) -> None:
    long = workload("a", 51)
    long["metadata"]["labels"] = {"note": "x" * (1 << 20)}
    server.on(PATH, events(event("ADDED", long)))
    assert told(api) == [("a", False, 51)]


def test_null_characters_are_read_as_what_can_be_kept(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, events(event("ADDED", workload("a\0b", 51))))
    assert told(api) == [("a\ufffdb", False, 51)]


def test_an_endless_line_is_given_up() -> None:
    with pytest.raises(BadReply, match="32 MiB"):
        list(lines(b"x" * (1 << 20) for _ in range(100)))


@given(st.lists(st.sampled_from([b"a", b"b", b"\n", b""]), max_size=40))
def test_lines_do_not_depend_on_how_bytes_were_cut(parts: list[bytes]) -> None:
    whole = b"".join(parts)
    expected = [line for line in whole.split(b"\n")[:-1] if line]
    assert list(lines(iter([*parts, b"\n"]))) == [*expected, *filter(None, whole.split(b"\n")[-1:])]


@pytest.mark.parametrize(
    ("code", "raised"), [(410, Gone), (500, Unavailable), (504, Unavailable), (403, Denied), (418, BadReply)]
)
def test_an_error_event_raises(server: ScriptedServer, api: Api, code: int, raised: type[Exception]) -> None:
    server.on(PATH, events(event("ADDED", workload("a", 51)), error(code)))
    changes = watch(api, PATH, parse_workload, 50)
    assert next(changes).resource_version == 51
    with pytest.raises(raised, match="too old resource version"):
        next(changes)


def test_a_refused_watch_raises_at_once(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, status(410, "too old resource version"))
    with pytest.raises(Gone):
        told(api)


@pytest.mark.parametrize("obj", [None, 5, "x", {}, {"code": "410"}])
def test_an_error_event_without_a_status_is_a_bad_reply(server: ScriptedServer, api: Api, obj: object) -> None:
    server.on(PATH, events({"type": "ERROR", "object": obj}))
    with pytest.raises(BadReply):
        told(api)


def test_a_malformed_object_is_told_with_its_version(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, events(event("MODIFIED", malformed_workload("b", 55)), event("ADDED", workload("a", 56))))
    broken, whole = watch(api, PATH, parse_workload, 50)
    assert (broken.record, broken.resource_version) == (None, 55)
    assert "Workload team/b" in broken.malformed
    assert whole.record


def test_an_unknown_event_type_is_told_and_passed_over(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, events(event("RENAMED", workload("a", 55))))
    (change,) = watch(api, PATH, parse_workload, 50)
    assert change == Change(None, False, 55, "an event of the unknown type RENAMED")


@pytest.mark.parametrize("line", [b"{garbage", b"<html>", b"[]", b'{"type": "ADDED"}', b"3", b"\xff\xfe"])
def test_a_line_that_is_no_event_is_a_bad_reply(server: ScriptedServer, api: Api, line: bytes) -> None:
    server.on(PATH, chunks(line + b"\n"))
    with pytest.raises(BadReply):
        told(api)


@pytest.mark.parametrize("rest", [b'{"type": "MOD', b'{"kind": "WorkloadList", "items": []}'])
def test_a_watch_that_ends_within_an_event_is_unavailable(server: ScriptedServer, api: Api, rest: bytes) -> None:
    server.on(PATH, chunks(json.dumps(event("ADDED", workload("a", 51))).encode() + b"\n" + rest))
    changes = watch(api, PATH, parse_workload, 50)
    assert next(changes).resource_version == 51
    with pytest.raises(Unavailable, match="within an event"):
        next(changes)


def test_empty_lines_are_nothing(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, chunks(b"\n\r\n", json.dumps(bookmark(60)).encode() + b"\n"))
    assert told(api) == [("", False, 60)]


def test_a_broken_connection_is_unavailable(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, cut_off(json.dumps(bookmark(60)).encode() + b"\n", 10_000))
    changes = watch(api, PATH, parse_workload, 50)
    assert next(changes).resource_version == 60
    with pytest.raises(Unavailable):
        next(changes)


def test_a_dead_connection_is_held_no_longer_than_the_watch_and_its_grace(
    server: ScriptedServer, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateways.watches._GRACE_SECONDS", 0.2)
    server.on(PATH, chunks(json.dumps(bookmark(60)).encode() + b"\n", lambda: server.released.wait(5)))
    began = time.monotonic()
    with pytest.raises(Unavailable, match="silent"):
        list(watch(api, PATH, parse_workload, 50, seconds=0))
    assert time.monotonic() - began < 1


def test_leaving_a_watch_closes_its_connection(server: ScriptedServer, api: Api) -> None:
    left = threading.Event()

    def tell_until_left(handler: BaseHTTPRequestHandler) -> None:
        try:
            line = json.dumps(bookmark(60)).encode() + b"\n"
            chunks(*(part for _ in range(1000) for part in (line, lambda: time.sleep(0.005))))(handler)
        except OSError:
            left.set()

    server.on(PATH, tell_until_left)
    changes = watch(api, PATH, parse_workload, 50)
    next(changes)
    changes.close()
    assert left.wait(2)
