"""The secrets by which a provider writes: shown with their use, made and ended by admins who have just signed in."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import IdentityProvider, ScimCredential
from accounts.scim.credentials import make_credential
from portal.models import AuditEvent
from tests.accounts.saml.conftest import NOW, _noon, corp, keys  # noqa: F401
from tests.accounts.saml.idp import Idp
from tests.accounts.saml.journey import signed_in
from tests.accounts.scim.client import Scim
from tests.pages.reading import words
from tests.people import People

pytestmark = pytest.mark.django_db
PROVIDER = "/platform/identity/providers/corp/"
PAGE = f"{PROVIDER}scim/"
WRITE = ScimCredential.Scope.WRITE


@pytest.fixture
def admin(people: People, client: Client) -> Client:
    client.force_login(people.platform_admin)
    return client


def made(idp: Idp, days: int = 30, ago: timedelta = timedelta()) -> ScimCredential:
    given = {"provider": idp.row, "scope": WRITE, "valid": timedelta(days=days)}
    return make_credential(**given, by="root", now=NOW - ago)[0]  # type: ignore[arg-type]


def told(response: Any) -> set[str]:
    return set(re.findall(r"scim_[\w-]{40,}", response.text))


def test_a_secret_is_shown_once_and_writes(admin: Client, corp: Idp) -> None:  # noqa: F811
    answer = admin.post(PAGE, {"days": "30"})
    (secret,) = told(answer)
    assert "no-store" in answer["Cache-Control"]
    assert f'data-copy="{secret}" data-called="the secret"' in answer.text
    kept = ScimCredential.objects.get()
    assert (kept.scope, kept.made_by, kept.expires_at) == (WRITE, "platform-admin", NOW + timedelta(days=30))
    assert Scim(corp.row, secret).person("ana")
    for page in (PAGE, PROVIDER):
        text = admin.get(page).text
        assert told(admin.get(page)) == set()
        assert kept.digest not in text
    assert AuditEvent.objects.get(event="scim_credential.made").actor == "platform-admin"


def test_one_that_only_reads_is_made_where_that_is_wished(admin: Client, corp: Idp) -> None:  # noqa: F811
    (secret,) = told(admin.post(PAGE, {"days": "30", "only_reads": "on"}))
    assert Scim(corp.row, secret).get("/Users").status_code == 200
    assert Scim(corp.row, secret).post("/Users", {}).status_code == 403
    assert "only reads" in words(admin.get(PAGE))


@pytest.mark.parametrize("days", ["0", "731", "", "x", "-1"])
def test_what_cannot_be_a_secret_is_said_beside_its_field(admin: Client, corp: Idp, days: str) -> None:  # noqa: F811
    answer = admin.post(PAGE, {"days": days})
    assert (answer.status_code, ScimCredential.objects.count(), told(answer)) == (200, 0, set())
    assert 'id="days-error"' in answer.text


@pytest.mark.parametrize("page", [PAGE, PROVIDER])
def test_each_is_shown_with_its_maker_its_end_and_its_last_use(admin: Client, corp: Idp, page: str) -> None:  # noqa: F811
    credential = made(corp, ago=timedelta(days=3))
    assert "3 d 0 h ago by root" in words(admin.get(page))
    assert "never" in words(admin.get(page))
    used = {"last_used_at": NOW - timedelta(minutes=9), "last_used_from": "192.0.2.7"}
    ScimCredential.objects.update(made_by="", **used)
    text = words(admin.get(page))
    assert f"number {credential.pk} writes and reads" in text
    assert "9 min ago from 192.0.2.7" in text
    assert "by whom is unknown" in text
    assert "4 Nov 2026" in text
    ScimCredential.objects.update(expires_at=NOW - timedelta(hours=2))
    assert "expired 2 h 0 min ago" in words(admin.get(page))


def test_one_takes_over_from_the_other(admin: Client, corp: Idp) -> None:  # noqa: F811
    old = made(corp)
    (secret,) = told(admin.post(PAGE, {"days": "30"}))
    assert "Two are in force" in words(admin.get(PAGE))
    assert told(admin.post(PAGE, {"days": "30"})) == set()
    assert ScimCredential.objects.count() == 2
    assert admin.post(f"{PAGE}{old.pk}/end/").url == PAGE  # type: ignore[attr-defined]
    assert "Two are in force" not in words(admin.get(PAGE))
    assert Scim(corp.row, secret).get("/Users").status_code == 200
    old.refresh_from_db()
    assert old.ended_at == NOW
    assert AuditEvent.objects.get(event="scim_credential.ended").actor == "platform-admin"
    assert admin.post(f"{PAGE}{old.pk}/end/").status_code == 404


def test_one_that_expired_leaves_room_and_can_be_ended(admin: Client, corp: Idp) -> None:  # noqa: F811
    expired = made(corp, days=1, ago=timedelta(days=2))
    made(corp)
    assert "Two are in force" not in words(admin.get(PAGE))
    admin.post(f"{PAGE}{expired.pk}/end/")
    assert f"number {expired.pk} " not in words(admin.get(PAGE))


def test_another_providers_secret_is_not_ended(admin: Client, corp: Idp) -> None:  # noqa: F811
    IdentityProvider.objects.create(
        slug="other", name="Other", groups_attribute="g", signs_response=True, enabled=False
    )
    credential = made(corp)
    assert admin.post(f"/platform/identity/providers/other/scim/{credential.pk}/end/").status_code == 404
    assert ScimCredential.objects.in_force(NOW).exists()


def test_who_signed_in_long_ago_does_so_anew(admin: Client, corp: Idp) -> None:  # noqa: F811
    credential = made(corp)
    signed_in(admin, minutes_ago=16)
    assert "Sign in anew" in words(admin.get(PAGE))
    for address, given in ((PAGE, {"days": "30"}), (f"{PAGE}{credential.pk}/end/", {})):
        answer = admin.post(address, given)
        assert answer.url.startswith("/saml/corp/login/?anew=1&next=%2Fplatform")  # type: ignore[attr-defined]
        assert answer.url.endswith("scim%2F")  # type: ignore[attr-defined]
    assert list(ScimCredential.objects.in_force(NOW)) == [credential]
    signed_in(admin, minutes_ago=14)
    assert len(told(admin.post(PAGE, {"days": "30"}))) == 1


def test_break_glass_access_makes_none(people: People, admin: Client, corp: Idp) -> None:  # noqa: F811
    people.platform_admin.archived_at = NOW + timedelta(hours=1)
    people.platform_admin.save()
    assert "they would outlive it" in words(admin.get(PAGE))
    assert told(admin.post(PAGE, {"days": "30"})) == set()
    assert not ScimCredential.objects.exists()


@pytest.mark.parametrize("role", ["stranger", "member", "team_admin", "finops", "auditor"])
def test_nobody_else_makes_or_ends_one(people: People, client: Client, corp: Idp, role: str) -> None:  # noqa: F811
    credential = made(corp)
    client.force_login(getattr(people, role))
    for address in (PAGE, f"{PAGE}{credential.pk}/end/"):
        assert client.post(address, {"days": "30"}).status_code == 403
    assert list(ScimCredential.objects.in_force(NOW)) == [credential]


def test_it_says_what_to_paste_and_how_its_directory_is_read(admin: Client, corp: Idp) -> None:  # noqa: F811
    assert 'data-copy="http://127.0.0.1:0/scim/v2/"' in admin.get(PAGE).text
    IdentityProvider.objects.update(kind="entra")
    assert 'data-copy="http://127.0.0.1:0/scim/v2/?aadOptscim062020"' in admin.get(PAGE).text
    read = {"store_read_at": NOW - timedelta(minutes=9), "store_error": "AccessDeniedException"}
    IdentityProvider.objects.update(kind="identity_center", identity_store="d-1", **read)
    text = words(admin.get(PAGE))
    assert "IAM Identity Center sends no SCIM." in text
    assert "read 9 min ago AccessDeniedException" in text
    assert "not read while" not in text
    made(corp)
    assert "It is not read while a secret is in force." in words(admin.get(PAGE))


def test_it_asks_little(admin: Client, corp: Idp) -> None:  # noqa: F811
    for _ in range(2):
        made(corp)
    for page in (PAGE, PROVIDER):
        with CaptureQueriesContext(connection) as queries:
            assert admin.get(page).status_code == 200
        assert len(queries) <= 12
