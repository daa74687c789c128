from collections.abc import Iterator
from typing import Any

import boto3  # type: ignore[import-untyped]
import pytest
from botocore.stub import Stubber  # type: ignore[import-untyped]

from gateways.errors import BadReply, Denied, GatewayError, Unavailable
from gateways.identity_store import IdentityStore, StoreGroup, StoreUser

STORE = {"IdentityStoreId": "d-1234567890"}
ARN = "arn:aws:identitystore::123456789012"
ANA, BIA, GROUP = (f"{digit * 8}-0000-4000-8000-000000000000" for digit in "abc")


class StubbedSession:
    def __init__(self) -> None:
        self.made = boto3.Session("AKIAEXAMPLE", "secret").client("identitystore", region_name="us-east-1")
        self.stubber = Stubber(self.made)

    def client(self, name: str, region_name: str, config: Any) -> Any:
        assert (name, region_name) == ("identitystore", "us-east-1")
        return self.made


@pytest.fixture
def session() -> Iterator[StubbedSession]:
    stubbed = StubbedSession()
    with stubbed.stubber:
        yield stubbed
        stubbed.stubber.assert_no_pending_responses()


@pytest.fixture
def store(session: StubbedSession) -> IdentityStore:
    return IdentityStore("d-1234567890", "us-east-1", session=session)


def user(key: str, **told: Any) -> dict[str, Any]:
    return {**STORE, "UserId": key, "UserArn": f"{ARN}:user/{key}", "Revision": "1", **told}


def member(key: str) -> dict[str, Any]:
    arn = f"{ARN}:membership/{key}"
    return {**STORE, "GroupId": GROUP, "MemberId": {"UserId": key}, "MembershipId": key, "MembershipArn": arn}


def test_all_pages_of_users_are_read(session: StubbedSession, store: IdentityStore) -> None:
    emails = [{"Value": "old@example.org"}, {"Value": "ana@example.org", "Primary": True}]
    ana = user(ANA, UserName="ana", DisplayName="Ana", Emails=emails, UserStatus="DISABLED")
    session.stubber.add_response("list_users", {"Users": [ana], "NextToken": "more"}, STORE)
    session.stubber.add_response("list_users", {"Users": [user(BIA)]}, {**STORE, "NextToken": "more"})
    assert store.users() == [
        StoreUser(ANA, "ana", "Ana", "ana@example.org", is_enabled=False),
        StoreUser(BIA, BIA, "", "", is_enabled=True),
    ]


def test_a_store_without_anybody_is_not_believed(session: StubbedSession, store: IdentityStore) -> None:
    session.stubber.add_response("list_users", {"Users": []}, STORE)
    with pytest.raises(BadReply):
        store.users()


def test_a_group_has_a_name_and_members(session: StubbedSession, store: IdentityStore) -> None:
    asked = {**STORE, "GroupId": GROUP}
    made = {"GroupArn": f"{ARN}:group/{GROUP}", "Revision": "1"}
    session.stubber.add_response("describe_group", {**asked, "DisplayName": "Research", **made}, asked)
    session.stubber.add_response(
        "list_group_memberships", {"GroupMemberships": [member(ANA)], "NextToken": "more"}, asked
    )
    session.stubber.add_response(
        "list_group_memberships", {"GroupMemberships": [member(BIA)]}, {**asked, "NextToken": "more"}
    )
    assert store.group(GROUP) == StoreGroup(GROUP, "Research", frozenset({ANA, BIA}))


def test_a_group_that_is_gone_is_none(session: StubbedSession, store: IdentityStore) -> None:
    session.stubber.add_client_error("describe_group", "ResourceNotFoundException", http_status_code=404)
    assert store.group(GROUP) is None


@pytest.mark.parametrize(
    ("code", "status", "error"),
    [
        ("AccessDeniedException", 403, Denied),
        ("ThrottlingException", 400, Unavailable),
        ("InternalServerException", 500, Unavailable),
        ("ValidationException", 400, BadReply),
    ],
)
def test_refusals_become_the_family(
    session: StubbedSession, store: IdentityStore, code: str, status: int, error: type[GatewayError]
) -> None:
    session.stubber.add_client_error("list_users", code, http_status_code=status)
    with pytest.raises(error, match="d-1234567890"):
        store.users()
