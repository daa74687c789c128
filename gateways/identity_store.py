"""IAM Identity Center's directory: who is there, and who is in which group. Read by workers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import boto3  # type: ignore[import-untyped]
from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

from gateways.aws import CALLS, refusal_of
from gateways.errors import BadReply, NotFound


@dataclass(frozen=True, slots=True)
class StoreUser:
    """`email` is the primary one, or the first; empty if there is none."""

    id: str
    user_name: str
    display_name: str
    email: str
    is_enabled: bool


@dataclass(frozen=True, slots=True)
class StoreGroup:
    """`members`: ids of users."""

    id: str
    name: str
    members: frozenset[str]


class IdentityStore:
    """Needs the rights `identitystore:ListUsers`, `DescribeGroup` and `ListGroupMemberships`. Every method raises
    GatewayError."""

    def __init__(self, store: str, region: str, *, session: boto3.Session | None = None) -> None:
        self._what: Final = f"the Identity Store {store}"
        self._store: Final = {"IdentityStoreId": store}
        self._session, self._region = session, region
        self._made: Any = None

    def users(self) -> list[StoreUser]:
        """All of them; a store without anybody is told as BadReply, since nobody would be let in by it."""
        with self._asking("identitystore:ListUsers") as client:
            pages = client.get_paginator("list_users").paginate(**self._store)
            found = [_user(each) for page in pages for each in page["Users"]]
        if not found:
            raise BadReply(f"{self._what} names nobody")
        return found

    def group(self, key: str) -> StoreGroup | None:
        """None: there is no such group."""
        try:
            with self._asking("identitystore:DescribeGroup") as client:
                name = client.describe_group(**self._store, GroupId=key).get("DisplayName", "")
            with self._asking("identitystore:ListGroupMemberships") as client:
                pages = client.get_paginator("list_group_memberships").paginate(**self._store, GroupId=key)
                members = [each["MemberId"] for page in pages for each in page["GroupMemberships"]]
        except NotFound:
            return None
        return StoreGroup(key, name, frozenset(each["UserId"] for each in members if "UserId" in each))

    @contextmanager
    def _asking(self, action: str) -> Iterator[Any]:
        try:
            if self._made is None:
                session = self._session or boto3.Session()
                self._made = session.client("identitystore", region_name=self._region, config=CALLS)
            yield self._made
        except (BotoCoreError, ClientError) as error:
            raise refusal_of(self._what, action, error) from error
        except KeyError as error:
            raise BadReply(f"{self._what} answers without {error}") from error


def _user(told: dict[str, Any]) -> StoreUser:
    emails = sorted(told.get("Emails", ()), key=lambda each: not each.get("Primary", False))
    return StoreUser(
        id=told["UserId"],
        user_name=told.get("UserName") or told["UserId"],
        display_name=told.get("DisplayName", ""),
        email=next((each["Value"] for each in emails if each.get("Value")), ""),
        is_enabled=told.get("UserStatus", "ENABLED") == "ENABLED",
    )
