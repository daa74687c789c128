"""The page on which a person chooses what they are told."""

import re
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from accounts.models import User
from notices.kinds import USUAL, How, Kind
from notices.models import Choice, Habits, Unfollowed
from portal.models import AuditEvent
from tests.pages.reading import visit
from tests.people import People

pytestmark = pytest.mark.django_db

URL = "/me/notices/"
JOB_KINDS = (
    "evicted", "requeued", "readmitted", "interrupted", "failed", "finished", "stuck", "waits_long", "team_loss",
)  # fmt: skip


def send(user: User, **changed: Any) -> HttpResponse:
    client = Client()
    client.force_login(user)
    kinds = {f"kind-{kind}": USUAL[kind].value for kind in Kind}
    data = {
        **kinds,
        "digest_at": "09:00",
        "language": "en",
        "quiet_from": "",
        "quiet_to": "",
        "wait_hours": "",
        "loss_gpu_hours": "",
        **changed,
    }
    return client.post(URL, data)  # type: ignore[return-value]


def test_choices_are_kept_and_shown(people: People) -> None:
    team = {f"team-{people.research.pk}": "on"}
    response = send(
        people.member,
        **team,
        **{"kind-evicted": "digest"},
        quiet_from="22:00",
        quiet_to="07:00",
        language="pt-br",
        wait_hours="8",
    )
    assert response.status_code == 302
    assert Choice.objects.get(user=people.member, kind=Kind.EVICTED).how == How.DIGEST
    habits = Habits.objects.get(user=people.member)
    assert (str(habits.quiet_from), str(habits.quiet_to), habits.language) == ("22:00:00", "07:00:00", "pt-br")
    assert (habits.wait_hours, habits.loss_gpu_hours) == (8, None)
    page = visit(people.member, URL).text
    assert 'value="22:00"' in page
    assert '<option value="digest" selected>' in page.split('id="id_kind-evicted"')[1].split("</select>")[0]
    event = AuditEvent.objects.get(event="notices.chosen")
    assert (event.actor, event.target, event.details["kinds"]["evicted"]) == ("member", "person/member", "digest")


def test_a_team_is_followed_until_its_box_is_cleared(people: People) -> None:
    assert visit(people.team_admin, URL).text.count(" checked") == 2
    send(people.team_admin, **{f"team-{people.vision.pk}": "on"})
    assert list(Unfollowed.objects.values_list("user", "team")) == [(people.team_admin.pk, people.research.pk)]
    assert visit(people.team_admin, URL).text.count(" checked") == 1
    send(people.team_admin, **{f"team-{each.pk}": "on" for each in (people.vision, people.research)})
    assert not Unfollowed.objects.exists()


def test_each_sees_the_kinds_that_may_concern_them(people: People) -> None:
    kinds = {kind: f"kind-{kind}" in visit(people.member, URL).text for kind in Kind}
    assert [kind for kind, shown in kinds.items() if shown] == list(JOB_KINDS)
    page = visit(people.platform_admin, URL).text
    assert all(f"kind-{kind}" in page for kind in Kind)


@pytest.mark.parametrize(
    "wrong",
    [
        {"quiet_from": "22:00"},
        {"quiet_to": "22:00"},
        {"quiet_from": "07:00", "quiet_to": "07:00"},
        {"quiet_from": "25:00", "quiet_to": "07:00"},
        {"digest_at": ""},
        {"language": "tlh"},
        {"wait_hours": "0"},
        {"loss_gpu_hours": "many"},
        {"kind-evicted": "by-pigeon"},
    ],
)
def test_what_cannot_be_is_said_and_nothing_kept(people: People, wrong: dict[str, str]) -> None:
    response = send(people.member, **wrong)
    assert response.status_code == 200
    assert "errorlist" in response.text or "f-err" in response.text or "aria-invalid" in response.text
    assert not Habits.objects.exists()
    assert not Choice.objects.exists()


def test_a_kind_that_is_not_theirs_to_choose_is_left_out(people: People) -> None:
    send(people.member, **{"kind-sync_stalled": "never"})
    assert not Choice.objects.filter(kind=Kind.SYNC_STALLED).exists()


def test_each_limit_says_what_an_empty_one_means(people: People) -> None:
    page = visit(people.member, URL).text
    for field in ("wait-hours", "loss-gpu-hours"):
        (said,) = re.findall(f'id="{field}-help">([^<]*)<', page)
        assert "Empty: never." in said
