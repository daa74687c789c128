"""The page about identity providers, with keys, clock and providers of the sign-in tests."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.groups import keep_groups
from accounts.models import IdentityProvider, IdpGroup, ScimCredential, ScimGroup
from accounts.scim.credentials import end_credential
from teams.models import GroupMapping
from teams.permissions import CostCentreRole, GlobalRole, TeamRole
from tests.accounts.saml.conftest import NOW, _noon, corp, keys  # noqa: F401
from tests.accounts.saml.idp import Idp, key_pair, metadata
from tests.pages.reading import visit, words
from tests.people import People

pytestmark = pytest.mark.django_db


def page(people: People, path: str = "/platform/identity/", language: str = "en") -> str:
    return words(visit(people.platform_admin, path, language))


def certified(idp: Idp, *days: int) -> None:
    pems = [key_pair(NOW, days=each)[1] for each in days]
    IdentityProvider.objects.update(metadata=metadata(idp.entity_id, pems, "https://corp.example.org/sso"))


def test_without_any_it_says_what_that_means(people: People) -> None:
    assert "Until one is, nobody can sign in outside the demo." in page(people)


def test_a_provider_with_its_state(people: People, corp: Idp) -> None:  # noqa: F811
    text = page(people)
    assert "Corp corp switched on" in text
    assert "pasted" in text
    assert "valid until 8 Oct 2027" in text


def test_what_a_worker_found_amiss_is_told_in_the_readers_language(people: People, corp: Idp) -> None:  # noqa: F811
    IdentityProvider.objects.update(error="It describes more than one identity provider.")
    assert "It describes more than one identity provider." in page(people)
    assert "Descreve mais de um provedor de identidade." in page(people, language="pt-BR")


def test_metadata_by_address_says_its_age_and_its_last_failure(people: People, corp: Idp) -> None:  # noqa: F811
    IdentityProvider.objects.update(
        metadata_url="https://corp.example.org/m", read_at=NOW - timedelta(minutes=90), error="corp: 503", enabled=False
    )
    text = page(people)
    assert "switched off" in text
    assert "read 1 h 30 min ago" in text
    assert "corp: 503" in text


def test_its_directory_says_how_its_reading_goes(people: People, corp: Idp) -> None:  # noqa: F811
    assert "Directory" not in page(people)
    IdentityProvider.objects.update(identity_store="d-1234567890", store_error="AccessDeniedException")
    assert "Directory: not read yet AccessDeniedException" in page(people)
    IdentityProvider.objects.update(store_read_at=NOW - timedelta(minutes=9))
    for path in ("/platform/identity/", "/platform/identity/providers/corp/"):
        assert "read 9 min ago AccessDeniedException" in page(people, path)


@pytest.mark.parametrize(("days", "told"), [(59, "59 days left"), (6, "6 days left"), (1, "1 day left"), (-1, "ended")])
def test_certificates_that_end_are_told_of(people: People, corp: Idp, days: int, told: str) -> None:  # noqa: F811
    certified(corp, days)
    assert told in page(people)


def test_the_overview_tells_admins_alone(people: People, corp: Idp) -> None:  # noqa: F811
    certified(corp, 20, 5)
    assert "The certificate of Corp ends soon 28 Oct 2026" in page(people, "/platform/")
    assert "O certificado de Corp vence em breve" in page(people, "/platform/", "pt-BR")
    assert "Corp" not in words(visit(people.auditor, "/platform/"))
    certified(corp, -1)
    assert "Nobody can sign in by Corp: its certificate has ended" in page(people, "/platform/")


def secret(idp: Idp, days: int, used_ago: timedelta | None = None, scope: str = "write") -> ScimCredential:
    """That ends in so many days."""
    made: ScimCredential = idp.row.scim_credentials.create(
        digest=f"{days} {used_ago} {scope}",
        scope=scope,
        created_at=NOW - timedelta(days=100),
        expires_at=NOW + timedelta(days=days),
        last_used_at=NOW - used_ago if used_ago is not None else None,
    )
    return made


def test_the_overview_tells_admins_of_scim_secrets_too(people: People, corp: Idp) -> None:  # noqa: F811
    old = secret(corp, 20)
    for path in ("/platform/", "/platform/identity/"):
        assert "The SCIM secret of Corp expires soon 28 Oct 2026" in page(people, path)
        assert "O segredo SCIM de Corp expira em breve" in page(people, path, "pt-BR")
    assert "SCIM" not in words(visit(people.auditor, "/platform/"))
    ScimCredential.objects.update(expires_at=NOW)
    assert "Corp writes no people and groups any more: its SCIM secret has expired" in page(people, "/platform/")
    end_credential(credential=old, by="root", now=NOW)
    assert "SCIM" not in page(people, "/platform/")


@pytest.mark.parametrize(("days", "told"), [(59, "59 days left"), (6, "6 days left"), (1, "1 day left")])
def test_secrets_that_end_are_told_of_beside_them(people: People, corp: Idp, days: int, told: str) -> None:  # noqa: F811
    secret(corp, 60)
    for path in ("/platform/identity/providers/corp/", "/platform/identity/providers/corp/scim/"):
        assert "left" not in page(people, path)
    secret(corp, days)
    for path in ("/platform/identity/providers/corp/", "/platform/identity/providers/corp/scim/"):
        assert told in page(people, path)


def test_groups_of_nothing_and_mappings_of_nobody(people: People, corp: Idp) -> None:  # noqa: F811
    keep_groups(people.member, corp.row, {"g-mapped", "g-of-nothing"}, NOW)
    mapped = IdpGroup.objects.get(value="g-mapped")
    GroupMapping.objects.create(group=mapped, team=people.research, role=TeamRole.MEMBER)
    for value, name, team, role in (
        ("g-empty", "", people.vision, TeamRole.ADMIN),
        ("g-all", "Money", None, GlobalRole.FINOPS),
    ):
        group = IdpGroup.objects.create(provider=corp.row, value=value, name=name)
        GroupMapping.objects.create(group=group, team=team, role=role)
    costs = IdpGroup.objects.create(provider=corp.row, value="g-costs")
    GroupMapping.objects.create(group=costs, cost_centre=people.research.cost_centre, role=CostCentreRole.OWNER)
    text = page(people)
    assert "g-of-nothing Corp 1" in text
    nobody = "Money g-all Corp FinOps nobody g-costs Corp cost centre's owner · cc-research · Research costs nobody"
    assert f"{nobody} g-empty Corp team admin · Vision nobody g-mapped Corp member · Research 1" in text
    assert "Nobody is in those marked" in text


def test_a_mapping_whose_group_is_gone(people: People, corp: Idp) -> None:  # noqa: F811
    """Nobody knows before the provider tells of its groups at all."""
    gone, empty = (IdpGroup.objects.create(provider=corp.row, value=value) for value in ("g-gone", "g-empty"))
    for group in (gone, empty):
        GroupMapping.objects.create(group=group, team=people.research, role=TeamRole.MEMBER)
    assert "g-gone Corp member · Research nobody" in page(people)
    told = {"provider": corp.row, "name": "Empty", "name_key": "empty", "created_at": NOW, "changed_at": NOW}
    ScimGroup.objects.create(group=empty, external_id="g-empty", **told)
    text = page(people)
    assert "g-empty Corp member · Research nobody" in text
    assert "g-gone Corp member · Research unknown there" in text
    assert "Those unknown there are in nothing that it tells of" in text
    keep_groups(people.member, corp.row, {"g-gone"}, NOW)
    assert "g-gone Corp member · Research 1" in page(people), "a sign-in told of it"


def test_people_whose_groups_are_not_all_known(people: People, corp: Idp) -> None:  # noqa: F811
    keep_groups(people.member, corp.row, None, NOW - timedelta(hours=2))
    keep_groups(people.viewer, corp.row, {"g"}, NOW)
    text = page(people)
    assert f"{people.member.name} member Corp 2 h 0 min ago" in text
    assert people.viewer.name not in text


def test_it_asks_as_little_for_many_rows(people: People, corp: Idp) -> None:  # noqa: F811
    keep_groups(people.member, corp.row, {f"g-{number}" for number in range(150)}, NOW)
    for number in range(20):
        group = IdpGroup.objects.create(provider=corp.row, value=f"m-{number}")
        GroupMapping.objects.create(group=group, team=people.research, role=TeamRole.MEMBER)
    client = Client()
    client.force_login(people.platform_admin)
    with CaptureQueriesContext(connection) as queries:
        text = words(client.get("/platform/identity/"))
    assert len(re.findall(r"\bg-\d+", text)) == 100
    assert len(queries) <= 12
