import time
from typing import Any

import pytest

from gateways.errors import BadReply, Denied, Gone, Unavailable
from gateways.http import Api
from gateways.lists import list_pages, list_versions
from gateways.records import ObjectVersion
from scheduling.parsing import parse_workload
from tests.gateways.objects import malformed_workload, workload
from tests.gateways.scripted import ScriptedServer, cut_off, listing, reply, status

PATH = "/apis/kueue.x-k8s.io/v1beta2/workloads"


def names(page: Any) -> list[str]:
    return [record.name for record in page.records]


def test_pages_follow_the_continue_token(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, listing([workload("a"), workload("b")], 100, "next"), listing([workload("c")], 100))
    first, last = list_pages(api, PATH, parse_workload)
    assert (names(first), first.is_last, first.restarted) == (["a", "b"], False, False)
    assert (names(last), last.is_last, last.restarted) == (["c"], True, False)
    assert first.resource_version == last.resource_version == 100
    assert [asked.query for asked in server.asked] == [{"limit": "500"}, {"limit": "500", "continue": "next"}]


def test_an_empty_list_is_one_last_page(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, reply({"metadata": {"resourceVersion": "7"}, "items": None}))
    (page,) = list_pages(api, PATH, parse_workload)
    assert (page.records, page.resource_version, page.is_last) == ((), 7, True)


def test_one_page_is_read_ahead_and_no_more(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, *(listing([workload("a")], 100, f"token-{n}") for n in range(5)), listing([], 100))
    pages = list_pages(api, PATH, parse_workload)
    for given in range(1, 4):
        next(pages)
        end = time.monotonic() + 2
        while len(server.asked) < given + 1 and time.monotonic() < end:
            time.sleep(0.005)
        time.sleep(0.02)
        assert len(server.asked) == given + 1


def test_an_expired_token_restarts_the_list(server: ScriptedServer, api: Api) -> None:
    server.on(
        PATH,
        listing([workload("a")], 100, "old"),
        status(410, "The provided continue parameter is too old"),
        listing([workload("a"), workload("b")], 200, "new"),
        listing([workload("c")], 200),
    )
    pages = list(list_pages(api, PATH, parse_workload))
    assert [(names(page), page.restarted, page.resource_version) for page in pages] == [
        (["a"], False, 100),
        (["a", "b"], True, 200),
        (["c"], False, 200),
    ]


def test_a_list_that_keeps_expiring_is_given_up(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, *[listing([], 100, "old"), status(410)] * 20)
    with pytest.raises(Gone):
        list(list_pages(api, PATH, parse_workload))
    assert len(server.asked) == 8


def test_410_on_the_first_page_is_gone(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, status(410))
    with pytest.raises(Gone):
        list(list_pages(api, PATH, parse_workload))


def test_a_page_that_breaks_is_asked_for_again(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, listing([workload("a")], 100, "next"), cut_off(b'{"metadata"', 999), listing([workload("b")], 100))
    assert [names(page) for page in list_pages(api, PATH, parse_workload)] == [["a"], ["b"]]


def test_a_server_lost_in_mid_list_is_unavailable(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, listing([workload("a")], 100, "next"), status(503))
    pages = list_pages(api, PATH, parse_workload)
    assert names(next(pages)) == ["a"]
    with pytest.raises(Unavailable):
        next(pages)


def test_a_malformed_object_is_told_and_not_taken_for_absent(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, listing([workload("a"), malformed_workload("b", 9), workload("c")]))
    (page,) = list_pages(api, PATH, parse_workload)
    assert names(page) == ["a", "c"]
    (sentence,) = page.malformed
    assert "Workload team/b" in sentence
    assert page.unread == (ObjectVersion("uid-b", "team", "b", 9),)


@pytest.mark.parametrize("item", [None, 3, "text", [], {}, {"metadata": None}, {"metadata": {"name": "x"}}])
def test_what_is_no_object_is_malformed(server: ScriptedServer, api: Api, item: object) -> None:
    server.on(PATH, listing([item, workload("a")]))
    (page,) = list_pages(api, PATH, parse_workload)
    assert names(page) == ["a"]
    assert len(page.malformed) == 1
    assert page.unread == ()


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"metadata": [], "items": []},
        {"metadata": {"resourceVersion": "1"}, "items": {}},
        {"metadata": {"resourceVersion": "one"}, "items": []},
        {"metadata": {}, "items": []},
        {"kind": "Status", "metadata": {}, "status": "Success"},
    ],
)
def test_json_that_is_no_list_is_a_bad_reply(server: ScriptedServer, api: Api, answer: object) -> None:
    server.on(PATH, reply(answer))
    with pytest.raises(BadReply):
        list(list_pages(api, PATH, parse_workload))


def test_a_token_that_leads_back_to_itself_ends_the_list(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, listing([workload("a")], 100, "same"))
    with pytest.raises(BadReply, match="never ends"):
        list(list_pages(api, PATH, parse_workload))


def test_versions_are_listed_without_the_objects(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, listing([{"metadata": workload("a", 5)["metadata"]}, {"metadata": {"uid": "x"}}]))
    (page,) = list_versions(api, PATH)
    assert page.records == (ObjectVersion("uid-a", "team", "a", 5),)
    assert len(page.malformed) == 1
    assert "as=PartialObjectMetadataList" in server.asked[0].headers["Accept"]


def test_a_denied_list_is_denied(server: ScriptedServer, api: Api) -> None:
    server.on(PATH, status(403, 'workloads.kueue.x-k8s.io is forbidden: User "portal" cannot list'))
    with pytest.raises(Denied, match="cannot list"):
        list(list_pages(api, PATH, parse_workload))
