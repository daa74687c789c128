"""Slack, Teams and PagerDuty as apprise speaks to them, with their servers' addresses put on loopback."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from apprise.plugins import pagerduty, workflows
from apprise.plugins.slack import NotifySlack

from gateways.chat import Service, is_address, send_chat
from gateways.errors import ConfigurationError, Unavailable
from gateways.letters import Letter
from tests.sinks import HttpSink, http_sink

LETTER = Letter("5a3f", "train was evicted", "The lender took it back.", "https://portal.example/x", True, [])
SLACK = "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7"
TEAMS = "https://prod-01.westeurope.logic.azure.com:443/workflows/643e69f83c8944/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers&sv=1.0&sig=KODuebWbDGYFr0z0eu"
PAGER = "0123456789abcdef0123456789abcdef"
ADDRESSES = {Service.SLACK: SLACK, Service.TEAMS: TEAMS, Service.PAGER: PAGER}


@pytest.fixture
def sink(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpSink]:
    with http_sink() as found:
        monkeypatch.setattr(NotifySlack, "webhook_url", found.url)
        monkeypatch.setitem(pagerduty.PAGERDUTY_API_LOOKUP, pagerduty.PagerDutyRegion.US, found.url)
        post = requests.post
        monkeypatch.setattr(workflows.requests, "post", lambda url, **kw: post(_on(found, url), **kw))
        yield found


def _on(sink: HttpSink, url: str) -> str:
    assert url.startswith("http")
    return url if "127.0.0.1" in url else f"http://127.0.0.1:{sink.port}/{url.split('/', 3)[3]}"


@pytest.mark.parametrize("service", Service)
def test_the_title_the_text_and_the_link_arrive(sink: HttpSink, service: Service) -> None:
    send_chat(service, ADDRESSES[service], LETTER)
    (post,) = sink.got
    text = json.dumps(json.loads(post.body))
    assert "train was evicted" in text
    assert "https://portal.example/x" in text


def test_a_pager_gets_the_id_by_which_it_knows_a_second_time(sink: HttpSink) -> None:
    send_chat(Service.PAGER, PAGER, LETTER)
    event = json.loads(sink.got[0].body)
    assert (event["dedup_key"], event["routing_key"], event["event_action"]) == ("5a3f", PAGER, "trigger")


@pytest.mark.parametrize("service", Service)
@pytest.mark.parametrize("status", [302, 404, 500])
def test_what_is_not_taken(sink: HttpSink, service: Service, status: int, caplog: Any) -> None:
    sink.answers = [status]
    with pytest.raises(Unavailable) as refused:
        send_chat(service, ADDRESSES[service], LETTER)
    assert len(sink.got) == 1
    for secret in ("TIiajkdnlazkcOXrIdevi7", "KODuebWbDGYFr0z0eu", PAGER):
        assert secret not in str(refused.value) + caplog.text


@pytest.mark.parametrize("service", Service)
@pytest.mark.parametrize(
    "address",
    [
        "",
        "json://10.0.0.1/",
        "https://10.0.0.1/services/T/B/X",
        f"{SLACK}\n",
        f"x{PAGER}!",
        "https://evil.example/.logic.azure.com/workflows/x/triggers?sig=1",
        "https://hooks.slack.com/services/a_b/c/d",
        TEAMS.partition("&sig=")[0],
        f"{TEAMS.partition('&sig=')[0]}&sig=%zz",
        f"{TEAMS.partition('&sig=')[0]}&signature=KODuebWbDGYFr0z0eu",
    ],
)
def test_nothing_but_the_services_own_addresses(sink: HttpSink, service: Service, address: str) -> None:
    assert not is_address(service, address)
    with pytest.raises(ConfigurationError):
        send_chat(service, address, LETTER)
    assert sink.got == []


@pytest.mark.parametrize(
    "setting",
    ["template=%2Fetc%2Fhostname", "te%6Dplate=%2Fetc%2Fhostname", "rto=9999&cto=9999&wait=60&retry=5", "verify=no",
     "tz=nowhere", "workflow=other&id=other"],
)  # fmt: skip
def test_what_stands_in_an_address_is_no_setting_of_apprise(
    sink: HttpSink, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []
    post = workflows.requests.post
    monkeypatch.setattr(workflows.requests, "post", lambda url, **kw: asked.append(kw) or post(url, **kw))
    send_chat(Service.TEAMS, f"{TEAMS}&{setting}", LETTER)
    send_chat(Service.TEAMS, TEAMS, LETTER)
    assert [post.path for post in sink.got] == [sink.got[1].path] * 2
    assert sink.got[0].body == sink.got[1].body
    with_it, plain = ({name: kw[name] for name in ("verify", "timeout")} for kw in asked)
    assert with_it == plain


def test_no_address_has_the_portal_ask_another(sink: HttpSink) -> None:
    with http_sink() as inside:
        template = f"http%3A%2F%2F127.0.0.1%3A{inside.port}%2F"
        send_chat(Service.TEAMS, f"{TEAMS}&template={template}", LETTER)
        assert inside.got == []
    assert len(sink.got) == 1
