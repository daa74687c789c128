import pytest

from accounts.claims import ENTRA_DIRECTORY_ROLES, ENTRA_GROUPS, OVERAGE
from accounts.saml.advice import todo, warnings
from accounts.saml.findings import Findings
from accounts.saml.refusals import Reason
from tests.accounts.saml.conftest import NOW
from tests.accounts.saml.idp import Idp, key_pair, metadata

pytestmark = pytest.mark.django_db


def told(idp: Idp, *, signs_response: bool = True, **attributes: list[str]) -> str:
    findings = Findings(signs_response=signs_response, signs_assertion=True, attributes=attributes)
    return " ".join(str(each) for each in warnings(idp.row, findings, NOW))


def test_nothing_is_said_of_what_is_well(corp: Idp) -> None:
    assert told(corp, groups=["g"]) == ""


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({}, "did not arrive"),
        ({"memberOf": ["g"]}, "Groups seem to arrive as memberOf."),
        ({ENTRA_GROUPS: ["g"]}, f"Groups seem to arrive as {ENTRA_GROUPS}."),
        ({OVERAGE: ["https://graph.windows.net/x"]}, "more groups than it tells of"),
        ({ENTRA_DIRECTORY_ROLES: ["w"]}, "directory roles"),
    ],
)
def test_what_is_amiss_with_groups(corp: Idp, attributes: dict[str, list[str]], words: str) -> None:
    assert words in told(corp, **attributes)


def test_what_is_not_signed_or_not_demanded(corp: Idp) -> None:
    corp.row.signs_response = False
    assert "mark “It signs the response”" in told(corp, groups=["g"])
    assert "the assertion alone" in told(corp, signs_response=False, groups=["g"])


def test_a_certificate_that_ends(corp: Idp) -> None:
    corp.row.metadata = metadata(corp.entity_id, [key_pair(NOW, days=30)[1]], "https://corp.example.org/sso")
    assert "Its last certificate ends soon" in told(corp, groups=["g"])


@pytest.mark.parametrize("reason", Reason)
def test_every_refusal_says_what_to_do(corp: Idp, reason: Reason) -> None:
    assert len(str(todo(corp.row, Findings(str(reason))))) > 20


def test_an_unsigned_response_has_its_own_advice(corp: Idp) -> None:
    findings = Findings(str(Reason.NOT_VALID), signs_assertion=True)
    assert "It signs the assertion alone" in str(todo(corp.row, findings))
    corp.row.signs_response = False
    assert "It signs the assertion alone" not in str(todo(corp.row, findings))


@pytest.mark.parametrize(
    ("detail", "words"),
    [
        ("wrong destination", "compare the entity ID and the ACS URL"),
        ("wrong audience", "compare the entity ID and the ACS URL"),
        ("wrong issuer", "of another application"),
        ("assertion expired", "Compare both clocks"),
        ("no attributestatement", "It sends no attributes at all"),
        ("status code is not success", "assigned to this application"),
        ("invalid signature", "the certificate that signs now"),
    ],
)
def test_what_the_library_found_has_advice_of_its_own(corp: Idp, detail: str, words: str) -> None:
    assert words in str(todo(corp.row, Findings(str(Reason.NOT_VALID), detail)))
