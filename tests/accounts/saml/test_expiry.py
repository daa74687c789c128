from datetime import timedelta

import pytest

from accounts.models import IdentityProvider
from accounts.saml import expiry
from accounts.saml.expiry import SigningCertificate, running_out, signing_certificates
from accounts.saml.metadata import read_metadata
from tests.accounts.saml.conftest import NOW
from tests.accounts.saml.idp import Idp, key_pair, metadata


def ending(days: float) -> SigningCertificate:
    return SigningCertificate("AA", NOW - timedelta(days=100), NOW + timedelta(days=days))


@pytest.mark.parametrize(
    ("days", "warned"),
    [(60, None), (59.9, 60), (30, 60), (29.9, 30), (7, 30), (6.9, 7), (0.1, 7), (0, 0), (-1, 0)],
)
def test_it_is_told_of_with_more_urgency_each_time(days: float, warned: int | None) -> None:
    assert ending(days).warned(NOW) == warned


def test_those_of_the_metadata_the_last_to_end_first(corp: Idp) -> None:
    certificates = [key_pair(NOW, days=days)[1] for days in (20, 400)]
    corp.row.metadata = metadata(corp.entity_id, certificates, "https://corp.example.org/sso")
    found = signing_certificates(corp.row)
    assert [each.days_left(NOW) for each in found] == [400, 20]
    assert len(found[0].fingerprint) == len("AA:BB:CC:DD:EE:FF:00:11")


@pytest.mark.parametrize("text", ["", "<not-metadata/>"])
def test_without_metadata_there_is_none(corp: Idp, text: str) -> None:
    corp.row.metadata = text
    assert signing_certificates(corp.row) == ()


def test_a_document_is_parsed_once_and_another_one_anew(corp: Idp, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    monkeypatch.setattr(expiry, "read_metadata", lambda text: parsed.append(text) or read_metadata(text))
    texts = [metadata(corp.entity_id, [key_pair(NOW, days=days)[1]], "https://a.example.org/sso") for days in (20, 30)]
    for text in (*texts, *texts):
        IdentityProvider.objects.update(metadata=text)
        ((_, certificate),) = running_out(NOW)
        assert certificate.days_left(NOW) == (20 if text == texts[0] else 30)
    assert parsed == texts


@pytest.mark.parametrize(("days", "enabled", "told"), [(20, True, ["corp"]), (20, False, []), (90, True, [])])
def test_only_the_last_of_an_enabled_provider_is_worth_a_line(
    corp: Idp, days: int, enabled: bool, told: list[str]
) -> None:
    certificates = [key_pair(NOW, days=each)[1] for each in (5, days)]
    text = metadata(corp.entity_id, certificates, "https://corp.example.org/sso")
    IdentityProvider.objects.update(metadata=text, enabled=enabled)
    assert [provider.slug for provider, _ in running_out(NOW)] == told
