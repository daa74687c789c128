"""The live part of a page over HTTP: when it is the same as before, what that costs, and who learns nothing from it."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.db import connection
from django.http import HttpResponse
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from gateways.errors import Denied, Unavailable
from jobs.sync.sources import LIVE, NODES
from portal.live import Facts
from portal.models import SourceState
from portal.sync_runs import STALE_AFTER, Counts, Freshness, record_failure, record_success
from teams.actions import apply_setup
from teams.models import Membership, PlatformRole
from teams.permissions import GlobalRole, TeamRole
from teams.setup_file import read_setup
from tests.factories import ClusterFactory
from tests.pages.reading import steady
from tests.people import People
from tests.stories import START, Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

TEAM, OVERVIEW, JOB = "/teams/research/", "/platform/", "/clusters/gpu-one/workloads/uid-job/"
CLUSTER = "/platform/clusters/gpu-one/"
PART = {"HX-Request": "true"}
SETUP = """
clusters: {gpu-one: {name: GPU one, kubeconfig: there/is/no/kubeconfig}}
people: {member: {name: Name of member}}
teams: {research: {name: %s, members: {member: member}, namespaces: {gpu-one: [hyperpod-ns-research]}}}
"""


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(START, tick=False) as traveller:
        yield traveller


@pytest.fixture
def read(shared: World) -> World:
    """Everything was just read; research runs one job."""
    shared.see(Job("train", uid="uid-job").admit(-5))
    shared.is_read()
    return shared


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def part(client: Client, url: str = TEAM, etag: str = "", **headers: str) -> Any:
    known = {"If-None-Match": etag} if etag else {}
    return client.get(url, headers={**PART, **known, **headers})


def etag_of(user: User, url: str = TEAM) -> str:
    response = part(signed_in(user), url)
    assert response.status_code == 200
    return str(response["ETag"])


@pytest.mark.parametrize("url", [TEAM, OVERVIEW, JOB, CLUSTER])
def test_the_part_is_what_the_page_holds_of_it(read: World, people: People, url: str) -> None:
    client = signed_in(people.platform_admin)
    page, alone = client.get(url).text, part(client, url).text.strip()
    assert alone.startswith('<div id="live"')
    assert alone in page
    assert "<html" in page
    for frame in ("<html", "<nav", "<title", 'id="live-pause"'):
        assert frame not in alone


@pytest.mark.parametrize("value", ["false", "1", ""])
def test_any_other_request_is_for_the_page(read: World, people: People, value: str) -> None:
    response = signed_in(people.member).get(TEAM, headers={"HX-Request": value})
    assert "<html" in response.text
    assert "ETag" not in response


@pytest.mark.parametrize("url", [TEAM, OVERVIEW, JOB, CLUSTER])
def test_who_has_the_part_gets_a_304_for_four_queries_and_nothing_is_rendered(
    read: World, people: People, url: str
) -> None:
    client, etag = signed_in(people.platform_admin), etag_of(people.platform_admin, url)
    with CaptureQueriesContext(connection) as queries:
        response = part(client, url, etag)
    assert (response.status_code, response.content, response.templates) == (304, b"", [])
    assert response["ETag"] == etag
    assert len(queries) <= 4


def test_time_alone_changes_nothing(read: World, people: People, clock: time_machine.Traveller) -> None:
    client, etag = signed_in(people.member), etag_of(people.member)
    clock.move_to(START + STALE_AFTER)
    assert part(client, etag=etag).status_code == 304


def test_a_page_that_depends_on_time_is_made_anew_now_and_then(
    read: World, people: People, clock: time_machine.Traveller
) -> None:
    client, etag = signed_in(people.platform_admin), etag_of(people.platform_admin, OVERVIEW)
    clock.move_to(START + timedelta(seconds=299))
    read.is_read(START + timedelta(seconds=299))
    assert part(client, OVERVIEW, etag).status_code == 304
    clock.move_to(START + timedelta(seconds=301))
    assert part(client, OVERVIEW, etag).status_code == 200


def test_a_read_that_changed_nothing_makes_the_facts_younger_and_nothing_new(
    read: World, people: People, clock: time_machine.Traveller
) -> None:
    client, etag = signed_in(people.member), etag_of(people.member)
    clock.move_to(minute(1))
    for source in LIVE:
        record_success(source, "gpu-one", now=minute(1), counts=Counts(seen=3))
    response = part(client, etag=etag)
    assert (response.status_code, response["X-Facts-As-Of"]) == (304, minute(1).isoformat())


def gain_role(people: People) -> None:
    PlatformRole.objects.create(user=people.member, role=GlobalRole.AUDITOR)


def gain_team(people: People) -> None:
    Membership.objects.create(user=people.member, team=people.vision, role=TeamRole.VIEWER)


def another_role(people: People) -> None:
    Membership.objects.filter(user=people.member).update(role=TeamRole.ADMIN)


def rename(people: People) -> None:
    assert apply_setup(setup=read_setup(SETUP % "Search"), by="admin", now=START)


def news(people: People) -> None:
    record_success("workloads", "gpu-one", now=START, counts=Counts(written=1))


def less(people: People) -> None:
    record_success("local_queues", "gpu-one", now=START, counts=Counts(absent=1))


def nodes_changed(people: People) -> None:
    record_success(NODES, "gpu-one", now=START, counts=Counts(written=1))


@pytest.mark.parametrize(
    "change", [gain_role, gain_team, another_role, rename, news, less, nodes_changed], ids=lambda f: f.__name__
)
def test_what_makes_it_another_part(
    read: World, people: People, change: Callable[[People], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("celery.current_app.send_task", lambda *_, **__: None)
    before = etag_of(people.member)
    change(people)
    assert part(signed_in(people.member), etag=before).status_code == 200
    assert etag_of(people.member) != before


def test_a_setup_that_changes_nothing_makes_nothing_new(
    read: World, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("celery.current_app.send_task", lambda *_, **__: None)
    rename(people)
    before = etag_of(people.member)
    assert apply_setup(setup=read_setup(SETUP % "Search"), by="admin", now=START) == []
    assert etag_of(people.member) == before


def test_language_zone_and_address_make_another_part(read: World, people: People) -> None:
    client = signed_in(people.member)
    found = {part(client, url, **{"Accept-Language": code})["ETag"] for url in (TEAM, f"{TEAM}?a=1", f"{TEAM}?a=2")
             for code in ("en", "pt-br")}  # fmt: skip
    User.objects.filter(pk=people.member.pk).update(time_zone="America/Sao_Paulo")
    found.add(etag_of(people.member))
    assert len(found) == 7


def test_facts_that_grew_old_are_told_once_and_again_when_they_change(
    read: World, people: People, clock: time_machine.Traveller
) -> None:
    client, fresh = signed_in(people.platform_admin), etag_of(people.platform_admin)
    clock.move_to(minute(10))
    response = part(client, etag=fresh)
    assert "These facts are old" in response.text
    old = response["ETag"]
    clock.move_to(minute(11))
    assert part(client, etag=old).status_code == 304
    record_failure("workloads", "gpu-one", now=minute(11), error=Unavailable("connection refused"))
    response = part(client, etag=old)
    assert "connection refused" in response.text
    record_failure("workloads", "gpu-one", now=minute(12), error=Denied("403: forbidden"))
    assert "403: forbidden" in part(client, etag=response["ETag"]).text


def test_facts_a_little_less_old_are_another_part(read: World, people: People, clock: time_machine.Traveller) -> None:
    clock.move_to(minute(30))
    before = etag_of(people.member)
    read.is_read(minute(20))
    response = part(signed_in(people.member), etag=before)
    assert minute(20).isoformat() in response.text


def test_changes_of_a_cluster_that_is_not_shown_are_nothing_new(read: World, people: People) -> None:
    before = etag_of(people.member)
    ClusterFactory(slug="gpu-two", name="GPU two")
    record_success("workloads", "gpu-two", now=START, counts=Counts(written=1))
    assert etag_of(people.member) == before


def test_a_namespace_in_another_cluster_is_news(read: World, people: People) -> None:
    before = etag_of(people.member)
    World(ClusterFactory(slug="gpu-two", name="GPU two")).bind(people.research, "ns-there")
    assert part(signed_in(people.member), etag=before).status_code == 200


@pytest.mark.parametrize("known", ['"other", {}', '{}, W/"other"'])
def test_one_of_several_tags_is_enough(read: World, people: People, known: str) -> None:
    etag = etag_of(people.member)
    assert part(signed_in(people.member), etag=known.format(etag)).status_code == 304


@pytest.mark.parametrize("known", ["*", '"', "W/", "nonsense", '""'])
def test_tags_that_are_none_are_not_ours(read: World, people: People, known: str) -> None:
    assert part(signed_in(people.member), etag=known).status_code == 200


def test_a_compressing_proxy_leaves_the_tag_alone(read: World, people: People) -> None:
    """It weakens strong ones, and then none would ever be known again."""
    assert re.fullmatch(r'W/"[0-9a-f]{32}"', etag_of(people.member))


def test_head_is_answered_like_get(read: World, people: People) -> None:
    response = signed_in(people.member).head(TEAM, headers=PART)
    assert (response.status_code, response["ETag"], response.content) == (200, etag_of(people.member), b"")


def test_nobody_else_s_tag_is_known(read: World, people: People) -> None:
    assert len({etag_of(user) for user in (people.member, people.viewer, people.team_admin, people.auditor)}) == 4
    response = part(signed_in(people.viewer), etag=etag_of(people.member))
    assert response.status_code == 200


def test_a_tag_cannot_be_worked_out_from_what_one_may_know(read: World, people: People) -> None:
    before = etag_of(people.member)
    with override_settings(SECRET_KEY="another key", SECRET_KEY_FALLBACKS=[settings.SECRET_KEY]):
        assert etag_of(people.member) != before


def told(response: HttpResponse) -> tuple[int, dict[str, str], str]:
    """Addresses to compare are of one length: so are then the answers."""
    return response.status_code, {k: v for k, v in response.items() if k != "X-Request-Id"}, steady(response)


@pytest.mark.parametrize(
    "headers", [{}, PART, {**PART, "If-None-Match": '"guess"'}], ids=["page", "part", "known part"]
)
@pytest.mark.parametrize("role", ["stranger", "neighbour"])
def test_a_stranger_does_not_learn_whether_a_team_or_a_job_exists(
    read: World, people: People, role: str, headers: dict[str, str]
) -> None:
    client = signed_in(getattr(people, role))
    for there, nowhere in ((TEAM, "/teams/nobodies/"), (JOB, JOB.replace("uid-job", "no-such"))):
        answer = told(client.get(there, headers=headers))  # type: ignore[arg-type]
        assert answer == told(client.get(nowhere, headers=headers))  # type: ignore[arg-type]
        assert answer[0] == 404
        assert not {"X-Facts-As-Of", "ETag"} & set(answer[1])
        assert "research" not in answer[2].lower()


def test_a_member_s_tag_opens_nothing_to_a_stranger(read: World, people: People) -> None:
    etag = etag_of(people.member)
    assert part(signed_in(people.stranger), etag=etag).status_code == 404
    client = signed_in(people.member)
    Membership.objects.filter(user=people.member).delete()
    response = part(client, etag=etag)
    assert response.status_code == 404
    assert "X-Facts-As-Of" not in response


def test_a_page_of_a_role_tells_others_nothing(read: World, people: People) -> None:
    for headers in ({}, PART):
        response = signed_in(people.member).get(OVERVIEW, headers=headers)
        assert response.status_code == 403
        assert not {"X-Facts-As-Of", "ETag"} & set(dict(response.items()))


@pytest.mark.parametrize("kind", ["page", "part", "304"])
def test_no_cache_mixes_people_languages_or_parts(read: World, people: People, kind: str) -> None:
    client, etag = signed_in(people.member), etag_of(people.member) if kind == "304" else ""
    response = client.get(TEAM) if kind == "page" else part(client, etag=etag)
    assert {"HX-Request", "Cookie", "Accept-Language"} <= {name.strip() for name in response["Vary"].split(",")}
    assert response["Cache-Control"] == "private, no-cache"
    assert response["X-Facts-As-Of"] == START.isoformat()


def test_a_part_whose_sign_in_ended_sends_the_page_to_sign_in(read: World, people: People) -> None:
    client, etag = signed_in(people.member), etag_of(people.member, f"{TEAM}?page=2")
    client.session.flush()
    response = part(client, f"{TEAM}?page=2", etag)
    assert (response.status_code, response.content) == (204, b"")
    assert response["HX-Redirect"] == f"/sign-in/?next={TEAM}%3Fpage%3D2"
    assert "X-Facts-As-Of" not in response
    assert client.get(TEAM).status_code == 302


def test_a_person_archived_in_mid_page_is_sent_to_sign_in(read: World, people: People) -> None:
    client, etag = signed_in(people.member), etag_of(people.member)
    User.objects.filter(pk=people.member.pk).update(archived_at=START)
    assert part(client, etag=etag)["HX-Redirect"].startswith("/sign-in/")


def test_the_age_told_is_that_of_the_oldest_cluster(read: World, people: People) -> None:
    other = World(ClusterFactory(slug="gpu-two", name="GPU two"))
    other.bind(people.research, "ns-there")
    assert "X-Facts-As-Of" not in part(signed_in(people.member))
    other.is_read(minute(-1))
    assert part(signed_in(people.member))["X-Facts-As-Of"] == minute(-1).isoformat()


def test_a_cluster_that_was_never_read_has_no_age(world: World, people: People) -> None:
    world.bind(people.research, "hyperpod-ns-research")
    response = part(signed_in(people.member))
    assert "X-Facts-As-Of" not in response
    assert part(signed_in(people.member), etag=response["ETag"]).status_code == 304
    assert not SourceState.objects.exists()


def test_a_team_in_no_cluster_has_a_part_too(people: People) -> None:
    response = part(signed_in(people.member))
    assert "This team has no namespace yet" in response.text
    assert part(signed_in(people.member), etag=response["ETag"]).status_code == 304


def test_how_old_the_facts_of_several_clusters_are() -> None:
    young, old = (Freshness(minute(at), None, "", 1) for at in (-1, -3))
    assert Facts({"a": young, "b": old}, START).as_of == minute(-3)
    assert Facts({"a": young, "b": Freshness(None, None, "", 0)}, START).as_of is None
    assert Facts({}, START).as_of is None
    facts = Facts({"a": young, "b": old}, START)
    assert [facts.is_stale(slug) for slug in "ab"] == [False, True]
