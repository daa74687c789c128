"""Connecting an identity provider, step by step."""

import re
from urllib.parse import quote

import pytest
from celery import current_app
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.claims import ENTRA_GROUPS
from accounts.models import IdentityProvider, SignInTrial
from portal.models import AuditEvent
from tests.accounts.saml.conftest import NOW, _noon, corp, keys  # noqa: F401
from tests.accounts.saml.idp import Idp, key_pair, metadata
from tests.accounts.saml.journey import signed_in
from tests.pages.reading import words
from tests.people import People

pytestmark = pytest.mark.django_db
PAGE = "/platform/identity/providers/corp/"
SETTINGS = {"name": "Corp", "metadata_url": "", "metadata": "", "groups_attribute": "groups", "signs_response": "on"}


@pytest.fixture
def admin(people: People, client: Client) -> Client:
    client.force_login(people.platform_admin)
    return client


def events() -> list[str]:
    return list(AuditEvent.objects.filter(target="identity_provider/corp").values_list("event", flat=True))


def connect(client: Client, **given: str) -> None:
    wanted = {"kind": "other", "name": "Corp", "slug": "corp"} | given
    assert client.post("/platform/identity/connect/", wanted).url == PAGE


@pytest.mark.parametrize(
    ("kind", "groups", "said"),
    [
        ("identity_center", "groups", ["Application ACS URL", "Subject", "${user:subject}", "persistent"]),
        ("entra", ENTRA_GROUPS, ["Identifier (Entity ID)", "user.objectid", "Sign SAML response and assertion"]),
        ("other", "groups", ["Entity ID, audience", "NameID", "persistent"]),
    ],
)
def test_each_kind_says_what_to_paste_where(admin: Client, kind: str, groups: str, said: list[str]) -> None:
    connect(admin, kind=kind)
    provider = IdentityProvider.objects.get()
    assert (provider.enabled, provider.metadata, provider.groups_attribute) == (False, "", groups)
    response = admin.get(PAGE)
    text = words(response)
    for each in (*said, groups, *(f"http://127.0.0.1:0/saml/corp/{part}/" for part in ("metadata", "acs", "login"))):
        assert each in text
    for part in ("metadata", "acs", "login"):
        assert f'data-copy="http://127.0.0.1:0/saml/corp/{part}/"' in response.text
    assert "First the portal needs its metadata." in text
    assert events() == ["identity_provider.connected"]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"slug": "Corp"}, "Use lower-case letters"),
        ({"slug": "-"}, "Use lower-case letters"),
        ({"slug": "taken"}, "Another identity provider is called so."),
        ({"kind": "unknown"}, "valid choice"),
        ({"name": ""}, "required"),
    ],
)
def test_what_cannot_be_is_said_beside_its_field(admin: Client, given: dict[str, str], problem: str) -> None:
    IdentityProvider.objects.create(
        slug="taken", name="Taken", groups_attribute="g", signs_response=True, enabled=False
    )
    response = admin.post("/platform/identity/connect/", {"kind": "other", "name": "Corp", "slug": "corp"} | given)
    assert response.status_code == 200
    assert problem in words(response)
    assert IdentityProvider.objects.count() == 1


def test_metadata_that_is_pasted_is_kept_and_the_provider_stays_off(
    admin: Client,
    keys: tuple[tuple[str, str], ...],  # noqa: F811
) -> None:
    connect(admin)
    text = metadata("https://corp.example.org", [keys[0][1]], "https://corp.example.org/sso")
    assert admin.post(PAGE, {**SETTINGS, "metadata": text}).url == PAGE
    provider = IdentityProvider.objects.get()
    assert (provider.metadata, provider.enabled) == (text, False)
    assert "Try to sign in" in words(admin.get(PAGE))
    assert len(AuditEvent.objects.get(event="identity_provider.set").details["metadata"]) <= 200


def test_what_the_metadata_says_is_told(admin: Client, corp: Idp) -> None:  # noqa: F811
    text = words(admin.get(PAGE))
    assert "Entity ID https://corp.example.org/idp People are sent to https://corp.example.org/sso" in text
    assert "Logout is answered at https://corp.example.org/sso/slo" in text
    without_logout = re.sub("<md:SingleLogoutService[^>]*/>", "", corp.row.metadata)
    IdentityProvider.objects.update(metadata=without_logout)
    assert "nothing: it names no address for it" in words(admin.get(PAGE))


def test_an_address_is_read_by_a_worker_at_once(
    admin: Client, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: object
) -> None:
    sent: list[object] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **how: sent.append((name, args)))
    connect(admin)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        admin.post(PAGE, {**SETTINGS, "metadata_url": "https://login.example.org/metadata"})
    assert sent == [("accounts.read_metadata_of", (IdentityProvider.objects.get().pk,))]
    assert "First its metadata has to be read." in words(admin.get(PAGE))


def test_metadata_that_cannot_be_read_is_not_said_to_come_within_a_minute(admin: Client) -> None:
    connect(admin)
    IdentityProvider.objects.update(
        metadata_url="https://login.example.org/metadata", error="login.example.org: its name does not resolve"
    )
    text = words(admin.get(PAGE))
    assert "its name does not resolve" in text
    assert "Its metadata could not be read: step 2 says why." in text
    assert "within a minute" not in text


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"metadata_url": "http://login.example.org/m"}, "It has to begin with https://"),
        ({"metadata_url": "file:///etc/passwd"}, "It has to begin with https://"),
        ({"metadata_url": "https://ana@login.example.org/m"}, "It has to begin with https://"),
        ({"metadata": "<x/>"}, "It cannot be used."),
        ({"metadata": "not XML"}, "It is not SAML metadata."),
        ({"groups_attribute": ""}, "required"),
    ],
)
def test_what_cannot_be_read_is_not_kept(admin: Client, corp: Idp, given: dict[str, str], problem: str) -> None:  # noqa: F811
    response = admin.post(PAGE, {**SETTINGS, **given})
    assert problem in words(response)
    assert events() == []


def test_address_and_xml_at_once_are_refused(admin: Client, corp: Idp) -> None:  # noqa: F811
    both = {"metadata_url": "https://login.example.org/m", "metadata": corp.row.metadata}
    assert "not both" in words(admin.post(PAGE, {**SETTINGS, **both}))


def test_who_is_switched_on_does_not_become_somebody_else(admin: Client, corp: Idp) -> None:  # noqa: F811
    text = metadata("https://elsewhere.example.org", [corp.certificate], "https://elsewhere.example.org/sso")
    assert "It is of another identity provider" in words(admin.post(PAGE, {**SETTINGS, "metadata": text}))
    IdentityProvider.objects.update(enabled=False)
    assert admin.post(PAGE, {**SETTINGS, "metadata": text}).status_code == 302


def test_another_address_forgets_what_the_former_said_while_it_is_off(admin: Client, corp: Idp) -> None:  # noqa: F811
    moved = {**SETTINGS, "metadata_url": "https://login.example.org/m"}
    admin.post(PAGE, moved)
    assert IdentityProvider.objects.get().metadata == corp.row.metadata
    IdentityProvider.objects.update(enabled=False)
    admin.post(PAGE, {**moved, "metadata_url": "https://login.example.org/n"})
    assert IdentityProvider.objects.get().metadata == ""


def test_a_change_makes_former_trials_count_no_more(admin: Client, people: People, corp: Idp) -> None:  # noqa: F811
    SignInTrial.objects.create(provider=corp.row, user=people.platform_admin, request_id="r", begun_at=NOW)
    admin.post(PAGE, SETTINGS)
    assert SignInTrial.objects.exists(), "nothing was changed"
    assert events() == []
    admin.post(PAGE, {**SETTINGS, "groups_attribute": "memberOf"})
    assert not SignInTrial.objects.exists()
    assert events() == ["identity_provider.set"]


def test_who_signed_in_long_ago_does_so_anew_before_its_key_is_another(admin: Client, corp: Idp) -> None:  # noqa: F811
    """Else whoever finds a browser open would give it a certificate of their own, and be everybody from then on."""
    pasted = {**SETTINGS, "metadata": metadata(corp.entity_id, [key_pair(NOW)[1]], "https://corp.example.org/sso")}
    signed_in(admin, minutes_ago=16)
    answer = admin.get(PAGE)
    assert (words(answer).count("Sign in anew"), 'name="metadata"' in answer.text) == (1, False)
    answer = admin.post(PAGE, pasted)
    assert answer.url == f"/saml/corp/login/?anew=1&next={quote(PAGE, safe='')}"
    assert IdentityProvider.objects.get().metadata == corp.row.metadata
    signed_in(admin, minutes_ago=14)
    assert 'name="metadata"' in admin.get(PAGE).text
    assert admin.post(PAGE, pasted).url == PAGE
    assert IdentityProvider.objects.get().metadata == pasted["metadata"]


def test_it_is_switched_off_by_a_button_alone(admin: Client, corp: Idp) -> None:  # noqa: F811
    assert "Switch off" in words(admin.get(PAGE))
    assert admin.post(f"{PAGE}off/").url == PAGE
    assert not IdentityProvider.objects.get().enabled
    assert "switched off" in words(admin.get(PAGE))
    assert admin.post(f"{PAGE}off/").status_code == 404
    assert events() == ["identity_provider.switched_off"]


@pytest.mark.parametrize("role", ["stranger", "member", "team_admin", "finops", "auditor"])
def test_nobody_else_connects_or_switches(people: People, client: Client, corp: Idp, role: str) -> None:  # noqa: F811
    client.force_login(getattr(people, role))
    for address, given in (
        ("/platform/identity/connect/", {"kind": "other", "name": "X", "slug": "x"}),
        (PAGE, {**SETTINGS, "name": "X"}),
        (f"{PAGE}off/", {}),
    ):
        assert client.post(address, given).status_code == 403
    assert client.get(reverse("identity-try", args=["corp"])).status_code == 403
    assert list(IdentityProvider.objects.values_list("name", "enabled")) == [("Corp", True)]
    assert not SignInTrial.objects.exists()


def test_it_asks_little(admin: Client, corp: Idp) -> None:  # noqa: F811
    for path in (PAGE, "/platform/identity/connect/"):
        with CaptureQueriesContext(connection) as queries:
            assert admin.get(path).status_code == 200
        assert len(queries) <= 12
