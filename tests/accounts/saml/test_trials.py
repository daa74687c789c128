"""A provider that is switched off is tried out: what comes back is told to the admin, and nothing else happens."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from accounts.models import GroupClaim, IdentityProvider, IdpGroup, IdpMembership, SignInTrial, User
from accounts.tasks import read_providers
from portal.models import AuditEvent
from tests.accounts.saml.conftest import NOW
from tests.accounts.saml.idp import Idp, find, request_id, sent
from tests.accounts.saml.journey import arrive, begin
from tests.people import People

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(people: People, client: Client) -> Client:
    client.force_login(people.platform_admin)
    return client


@pytest.fixture
def off(corp: Idp) -> Idp:
    IdentityProvider.objects.update(enabled=False)
    return corp


def begin_trial(client: Client, idp: Idp) -> str:
    response = client.get(reverse("identity-try", args=[idp.row.slug]))
    assert response.status_code == 302
    assert response.url.startswith(f"https://{idp.row.slug}.example.org/sso?")
    return request_id(response.url)


def post(idp: Idp, document: Any) -> Any:
    """The browser brings the answer without any cookie of ours."""
    text = document if isinstance(document, str) else sent(document)
    return Client().post(reverse("saml-acs", args=[idp.row.slug]), {"SAMLResponse": text})


def everything_known() -> tuple[Any, ...]:
    counts = [model.objects.count() for model in (User, GroupClaim, IdpGroup, IdpMembership)]
    signed_in = [row.get_decoded()[SESSION_KEY] for row in Session.objects.all() if SESSION_KEY in row.get_decoded()]
    return counts, signed_in, list(AuditEvent.objects.filter(event__startswith="role.").values_list("pk", flat=True))


def test_it_tells_what_arrived_and_changes_nothing(admin: Client, off: Idp) -> None:
    answers = begin_trial(admin, off)
    before = everything_known()
    said = {"email": ["ana@example.org"], "groups": ["g-1", "g-2"]}
    response = post(off, off.signed(off.response(answers, attributes=said)))
    trial = SignInTrial.objects.get()
    assert (response.status_code, response.url) == (302, f"/platform/identity/trials/{trial.pk}/")
    assert response.cookies.get("saml-arrival") is None
    assert trial.passed
    assert trial.findings["attributes"] == {"email": ["ana@example.org"], "groups": ["g-1", "g-2"]}
    assert (trial.findings["signs_response"], trial.findings["signs_assertion"]) == (True, True)
    assert (trial.findings["name_id"], trial.findings["name_id_format"][-10:]) == ("ana-0001", "persistent")
    assert everything_known() == before
    events = AuditEvent.objects.filter(target="identity_provider/corp").order_by("pk")
    assert [event.event for event in events] == ["identity_provider.trial_begun", "identity_provider.trial_ended"]


def test_meanwhile_it_is_switched_off_for_everybody_else(admin: Client, off: Idp) -> None:
    begin_trial(admin, off)
    stranger = Client()
    for view in ("saml-login", "saml-finish", "saml-logout"):
        assert stranger.get(reverse(view, args=["corp"])).status_code == 404
    assert post(off, off.signed(off.response("ONELOGIN_of-nobody"))).status_code == 404
    assert post(off, "nonsense").status_code == 404
    assert not SignInTrial.objects.get().findings


def test_an_answer_ends_a_trial_once_and_is_never_a_sign_in(admin: Client, corp: Idp) -> None:
    document = corp.signed(corp.response(begin_trial(admin, corp)))
    assert post(corp, document).status_code == 302
    before = SignInTrial.objects.values_list("findings", flat=True).get()
    again = arrive(admin, corp, document)
    assert again.status_code == 403
    assert SignInTrial.objects.values_list("findings", flat=True).get() == before
    assert not User.objects.filter(username__startswith="corp:").exists()


def test_the_answer_to_a_sign_in_is_no_trial(admin: Client, corp: Idp) -> None:
    begin_trial(admin, corp)
    visitor = Client()
    assert arrive(visitor, corp, corp.signed(corp.response(begin(visitor, corp)))).url == "/"
    assert not SignInTrial.objects.get().findings


def test_one_providers_answer_ends_no_trial_of_another(admin: Client, corp: Idp, other: Idp) -> None:
    answers = begin_trial(admin, corp)
    begin_trial(admin, other)
    IdentityProvider.objects.update(enabled=False)
    assert post(other, other.signed(other.response(answers))).status_code == 404


def test_after_ten_minutes_it_is_over(admin: Client, off: Idp) -> None:
    answers = begin_trial(admin, off)
    with time_machine.travel(NOW + timedelta(minutes=10), tick=False):
        assert post(off, off.signed(off.response(answers))).status_code == 404


def spoil_audience(document: Any) -> None:
    find(document, "//saml:Audience").text = "https://elsewhere.example.org"


def transient(document: Any) -> None:
    find(document, "//saml:NameID").set("Format", "urn:oasis:names:tc:SAML:2.0:nameid-format:transient")


@pytest.mark.parametrize(
    ("spoil", "what", "reason"),
    [
        (spoil_audience, ("assertion", "response"), "not valid"),
        (transient, ("assertion", "response"), "transient name id"),
        (lambda document: None, ("assertion",), "not valid"),
        (lambda document: None, (), "signature shape"),
    ],
)
def test_a_refusal_is_kept_with_what_was_sent(
    admin: Client, off: Idp, spoil: Any, what: tuple[str, ...], reason: str
) -> None:
    document = off.response(begin_trial(admin, off), attributes={"groups": ["g-1"]})
    spoil(document)
    assert post(off, off.signed(document, what=what)).status_code == 302
    trial = SignInTrial.objects.get()
    assert not trial.passed
    assert trial.findings["reason"] == reason
    assert trial.findings["attributes"] == {"groups": ["g-1"]}
    assert trial.findings["signs_assertion"] is ("assertion" in what)


@pytest.mark.parametrize("change", [lambda a: a.getparent().remove(a), lambda a: a.clear()])
def test_a_response_without_an_assertion_is_told_of_too(admin: Client, off: Idp, change: Any) -> None:
    document = off.response(begin_trial(admin, off))
    change(find(document, "//saml:Assertion"))
    assert post(off, document).status_code == 302
    assert not SignInTrial.objects.get().passed


def test_they_are_kept_for_a_day(admin: Client, off: Idp) -> None:
    begin_trial(admin, off)
    read_providers()
    assert SignInTrial.objects.exists()
    SignInTrial.objects.update(begun_at=NOW - timedelta(hours=25))
    read_providers()
    assert not SignInTrial.objects.exists()
