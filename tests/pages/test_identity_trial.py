"""What a trial of an identity provider tells the admin, and what it lets them do."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.claims import OVERAGE
from accounts.models import IdentityProvider, IdpGroup, SignInTrial
from portal.models import AuditEvent
from teams.models import GroupMapping
from teams.permissions import GlobalRole, TeamRole
from tests.accounts.saml.conftest import NOW, _noon, corp, keys  # noqa: F401
from tests.accounts.saml.idp import Idp
from tests.accounts.saml.journey import sign_in
from tests.accounts.saml.test_trials import admin, begin_trial, off, post, transient  # noqa: F401
from tests.pages.reading import visit, words
from tests.people import People

pytestmark = pytest.mark.django_db


def tried(client: Client, idp: Idp, what: tuple[str, ...] = ("assertion", "response"), **said: Any) -> str:
    """The page to which the browser is led with the answer."""
    document = idp.signed(idp.response(begin_trial(client, idp), **said), what=what)
    return str(post(idp, document).url)


def mapped(idp: Idp, value: str, role: str, team: object = None, name: str = "") -> None:
    group, _ = IdpGroup.objects.get_or_create(provider=idp.row, value=value, defaults={"name": name})
    GroupMapping.objects.create(group=group, team=team, role=role)


def test_what_arrived_and_what_it_would_give(people: People, admin: Client, off: Idp) -> None:  # noqa: F811
    mapped(off, "g-1", TeamRole.MEMBER, people.research)
    mapped(off, "g-2", GlobalRole.FINOPS, name="Money")
    attributes = {"email": ["ana@example.org"], "groups": ["g-0", "g-1", "g-2"]}
    text = words(admin.get(tried(admin, off, attributes=attributes)))
    assert "This would be a sign-in As corp:ana-0001" in text
    assert "Signed response and assertion" in text
    assert "ana-0001 urn:oasis:names:tc:SAML:2.0:nameid-format:persistent" in text
    assert "email ana@example.org groups 3 groups, below" in text
    assert "g-1 member · Research Money g-2 FinOps g-0 nothing" in text
    assert "seria aceita" in words(visit(people.platform_admin, f"/platform/identity/trials/{pk()}/", "pt-BR"))


def pk() -> Any:
    return SignInTrial.objects.get().pk


def test_then_it_is_switched_on_and_people_sign_in(people: People, admin: Client, off: Idp) -> None:  # noqa: F811
    page = tried(admin, off)
    assert "Switch it on for everybody" in words(admin.get(page))
    assert not IdentityProvider.objects.get().enabled
    assert admin.post(f"{page}on/").url == "/platform/identity/providers/corp/"
    assert IdentityProvider.objects.get().enabled
    assert AuditEvent.objects.filter(event="identity_provider.switched_on", actor="platform-admin").count() == 1
    assert "Switch it on" not in words(admin.get(page))
    assert sign_in(Client(), off).url == "/"


def test_who_signed_in_long_ago_signs_in_anew_before_that(admin: Client, off: Idp) -> None:  # noqa: F811
    page = tried(admin, off)
    assert "asks you for your credentials anew" not in words(admin.get(page))
    session = admin.session
    session["saml"] = {"provider": "own", "authenticated_at": (NOW - timedelta(minutes=15)).isoformat()}
    session.save()
    assert "asks you for your credentials anew" in words(admin.get(page))
    assert admin.post(f"{page}on/").url == f"/saml/own/login/?{urlencode({'anew': 1, 'next': page})}"
    assert not IdentityProvider.objects.get().enabled


def test_a_refused_one_says_why_and_what_to_do(admin: Client, off: Idp) -> None:  # noqa: F811
    document = off.response(begin_trial(admin, off))
    transient(document)
    page = post(off, off.signed(document)).url
    text = words(admin.get(page))
    assert "This sign-in would be refused" in text
    assert "What to do: Have it send a persistent NameID" in text
    assert "Reason: transient name id" in text
    assert "nameid-format:transient" in text
    assert admin.post(f"{page}on/").status_code == 404
    assert not IdentityProvider.objects.get().enabled


def test_what_is_signed_by_half_is_told(admin: Client, off: Idp) -> None:  # noqa: F811
    text = words(admin.get(tried(admin, off, what=("assertion",))))
    assert "It signs the assertion alone, and the portal wants the response signed." in text
    assert "Signed the assertion alone" in text


def test_an_overage_and_a_missing_claim_are_told(admin: Client, off: Idp) -> None:  # noqa: F811
    text = words(admin.get(tried(admin, off, attributes={OVERAGE: ["https://graph.windows.net/x"]})))
    assert "You are in more groups than it tells of" in text
    text = words(admin.get(tried(admin, off, attributes={"email": ["ana@example.org"]})))
    assert "The attribute with the groups did not arrive" in text
    assert "No group arrived" in text


def test_without_metadata_it_does_not_begin(admin: Client, off: Idp) -> None:  # noqa: F811
    IdentityProvider.objects.update(metadata="")
    response = admin.get("/platform/identity/providers/corp/try/")
    assert "Give the metadata first." in words(response)
    assert not SignInTrial.objects.exists()


def test_it_is_for_the_admin_alone_who_began_it(people: People, admin: Client, off: Idp) -> None:  # noqa: F811
    page = tried(admin, off)
    other = Client()
    other.force_login(people.team_admin)
    people.team_admin.platform_roles.create(role=GlobalRole.PLATFORM_ADMIN)
    assert other.get(page).status_code == 404
    assert other.post(f"{page}on/").status_code == 404
    assert not IdentityProvider.objects.get().enabled
    people.platform_admin.platform_roles.all().delete()
    assert admin.get(page).status_code == 403
    assert admin.post(f"{page}on/").status_code == 403


def test_an_open_one_has_no_page(admin: Client, off: Idp) -> None:  # noqa: F811
    begin_trial(admin, off)
    assert admin.get(f"/platform/identity/trials/{pk()}/").status_code == 404


def test_names_are_no_markup(admin: Client, off: Idp) -> None:  # noqa: F811
    said = {"groups": ["&lt;script&gt;alert(1)&lt;/script&gt;"], "&lt;b&gt;": ["x"]}
    text = admin.get(tried(admin, off, attributes=said)).text
    assert "<script>alert" not in text
    assert "<b>" not in text


def test_it_asks_as_little_for_two_thousand_groups(people: People, admin: Client, off: Idp) -> None:  # noqa: F811
    for number in range(30):
        mapped(off, f"g-{number}", TeamRole.MEMBER, people.research)
    page = tried(admin, off, attributes={"groups": [f"g-{number}" for number in range(2000)]})
    with CaptureQueriesContext(connection) as queries:
        text = words(admin.get(page))
    assert "200 of 2,000 are shown" in text
    assert len(queries) <= 12
