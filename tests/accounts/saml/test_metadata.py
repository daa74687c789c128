from datetime import timedelta
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.utils import translation

from accounts.models import IdentityProvider, SignInTrial, UsedAssertion
from accounts.saml.metadata import BadMetadata, is_safe, read_metadata
from accounts.saml.reading import read_provider
from accounts.tasks import read_metadata_of, read_providers
from gateways.errors import Unavailable
from tests.accounts.saml.conftest import NOW
from tests.accounts.saml.idp import Idp, key_pair, metadata
from tests.people import People

SSO = "https://corp.example.org/sso"


@pytest.fixture(scope="module")
def certificates() -> list[str]:
    return [key_pair(NOW)[1], key_pair(NOW, days=-1)[1]]


def test_both_certificates_of_a_rollover_are_read_and_the_valid_one_used(certificates: list[str]) -> None:
    facts = read_metadata(metadata("https://corp.example.org/idp", certificates, SSO))
    assert (facts.entity_id, facts.sso_url, facts.slo_url) == ("https://corp.example.org/idp", SSO, f"{SSO}/slo")
    assert len(facts.certificates) == 2
    assert facts.valid_certificates(NOW) == [facts.certificates[0]]


@pytest.mark.parametrize("text", ["", "x", "<a/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "A" * 1_000_001])
def test_what_is_no_metadata(text: str) -> None:
    with pytest.raises(BadMetadata):
        read_metadata(text)


def test_what_is_amiss_is_told_in_the_readers_language() -> None:
    with pytest.raises(BadMetadata) as found:
        read_metadata("<a/>")
    assert str(found.value) == "It describes no identity provider."
    with translation.override("pt-br"):
        assert str(found.value) == "Não descreve nenhum provedor de identidade."


def test_metadata_without_certificate_or_with_a_broken_one(certificates: list[str]) -> None:
    with pytest.raises(BadMetadata, match="no signing certificate"):
        read_metadata(metadata("https://corp.example.org/idp", [], SSO))
    broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    with pytest.raises(BadMetadata, match="cannot be read"):
        read_metadata(metadata("https://corp.example.org/idp", [broken], SSO))


@pytest.mark.parametrize("url", ["http://corp.example.org/sso", "javascript:1", "file:///etc/passwd", "https://"])
def test_people_are_sent_to_https_only(certificates: list[str], url: str) -> None:
    assert not is_safe(url)
    with pytest.raises(BadMetadata, match="not an https address"):
        read_metadata(metadata("https://corp.example.org/idp", certificates, url))


def test_loopback_may_be_plain() -> None:
    assert is_safe("http://127.0.0.1:8081/sso")
    assert is_safe("http://localhost:8081/sso")


def fetched(monkeypatch: pytest.MonkeyPatch, answer: str | Exception) -> None:
    def fetch(url: str, **kwargs: Any) -> str:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr("accounts.saml.reading.fetch_metadata", fetch)


def read(idp: Idp) -> IdentityProvider:
    read_provider(idp.row, NOW)
    idp.row.refresh_from_db()
    return idp.row


def test_a_good_copy_is_kept(corp: Idp, certificates: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = metadata(corp.entity_id, certificates, SSO)
    fetched(monkeypatch, text)
    row = read(corp)
    assert (row.metadata, row.read_at, row.error) == (text, NOW, "")


@pytest.mark.parametrize(("address", "kept"), [(SSO, 1), ("https://elsewhere.example.org/sso", 0)])
def test_a_trial_counts_as_long_as_the_metadata_says_the_same(
    corp: Idp, people: People, certificates: list[str], monkeypatch: pytest.MonkeyPatch, address: str, kept: int
) -> None:
    IdentityProvider.objects.update(metadata=metadata(corp.entity_id, certificates, SSO))
    corp.row.refresh_from_db()
    SignInTrial.objects.create(provider=corp.row, user=people.platform_admin, request_id="x", begun_at=NOW)
    fetched(monkeypatch, metadata(corp.entity_id, certificates, address) + "\n")
    assert read(corp).error == ""
    assert corp.row.trials.count() == kept


@pytest.mark.parametrize(
    ("answer", "word"),
    [(Unavailable("corp: down"), "down"), ("<x/>", "describes no identity provider"), ("", "not SAML")],
)
def test_what_cannot_be_read_leaves_the_last_good_copy(
    corp: Idp, monkeypatch: pytest.MonkeyPatch, answer: str | Exception, word: str
) -> None:
    before = corp.row.metadata
    fetched(monkeypatch, answer)
    row = read(corp)
    assert row.metadata == before
    assert word in row.error


def test_another_providers_metadata_is_not_taken(
    corp: Idp, certificates: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = corp.row.metadata
    fetched(monkeypatch, metadata("https://other.example.org/idp", certificates, SSO))
    assert read(corp).metadata == before
    assert "another identity provider" in corp.row.error


def test_the_worker_reads_those_with_an_address(
    corp: Idp, certificates: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched(monkeypatch, metadata(corp.entity_id, certificates, SSO))
    monkeypatch.setattr(read_metadata_of, "apply_async", lambda args, expires: read_metadata_of(*args))
    read_providers()
    assert IdentityProvider.objects.get().read_at is None
    IdentityProvider.objects.update(metadata_url="https://corp.example.org/metadata")
    read_providers()
    assert IdentityProvider.objects.get().read_at == NOW


def test_what_has_run_out_goes_whatever_becomes_of_the_readings(corp: Idp, monkeypatch: pytest.MonkeyPatch) -> None:
    corp.row.metadata_url = "https://corp.example.org/metadata"
    corp.row.save()
    for name, hours in (("old", -1), ("new", 1)):
        UsedAssertion.objects.create(digest=name, valid_until=NOW + timedelta(hours=hours))
    fetched(monkeypatch, SoftTimeLimitExceeded())
    monkeypatch.setattr(read_metadata_of, "apply_async", lambda args, expires: read_metadata_of(*args))
    with pytest.raises(SoftTimeLimitExceeded):
        read_providers()
    assert list(UsedAssertion.objects.values_list("digest", flat=True)) == ["new"]
