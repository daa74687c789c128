"""One provider's people and groups, as the SCIM server asks for them."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from scim2_models import (
    NotFoundException,
    NotImplementedException,
    PatchOp,
    Resource,
    ResourceType,
    ResponseParameters,
    SearchRequest,
    UniquenessException,
)
from scim2_server.conditions import Conditions
from scim2_server.handler import ScimHandler
from scim2_server.storage import ScimStorage, SearchPage

from accounts.models import IdentityProvider
from accounts.scim.filters import condition_of, order_of, uuid_of
from accounts.scim.groups import Groups
from accounts.scim.member_changes import split
from accounts.scim.people import People


class Storage(ScimStorage):
    """For one request. `is_write`: rows that are read stay locked until it is over."""

    def __init__(self, provider: IdentityProvider, now: datetime, *, is_write: bool) -> None:
        self.groups = Groups(provider, now)
        self._kinds: dict[str, Any] = {"User": People(provider, now), "Group": self.groups}
        self._is_write = is_write
        self._locked: dict[UUID, Any] = {}

    @contextmanager
    def operation(self) -> Iterator[None]:
        """One transaction. What two requests make at once, one of them makes."""
        try:
            with transaction.atomic():
                yield
        except IntegrityError as error:
            raise UniquenessException from error

    def row(self, resource_type: ResourceType, resource_id: str) -> Any:
        """Raises NotFoundException, also for what is another provider's. What is locked is read once."""
        rows, key = self._of(resource_type).rows(), uuid_of(resource_id)
        if key in self._locked:
            return self._locked[key]
        if self._is_write:
            rows = rows.select_for_update(of=("self",))
        found = rows.filter(pk=key).first() if key else None
        if found is None:
            raise NotFoundException(detail=f"There is no {resource_type.name} with this id")
        if self._is_write:
            self._locked[found.pk] = found
        return found

    def get(
        self,
        resource_type: ResourceType,
        resource_id: str,
        *,
        response_parameters: ResponseParameters[Any] | None = None,
    ) -> Resource[Any]:
        whole = response_parameters is None or _keeps_members(response_parameters)
        row = self.row(resource_type, resource_id)
        return self._of(resource_type).resources([row], whole=whole)[0]  # type: ignore[no-any-return]

    def search(
        self, resource_types: list[ResourceType], search_request: SearchRequest[Any], *, position: Any = None
    ) -> SearchPage:
        if len(resource_types) != 1:
            raise NotImplementedException(detail="Search in Users or in Groups")
        kind = self._of(resource_types[0])
        found = kind.rows().filter(condition_of(search_request, kind.columns))
        total, start, count = found.count(), search_request.start_index_0 or 0, search_request.count or 0
        if start >= total or count == 0:
            return SearchPage(total, [])
        page = found.order_by(*order_of(search_request, kind.sorts))[start : start + count]
        return SearchPage(total, kind.resources(page, whole=_keeps_members(search_request)))

    def create(self, resource_type: ResourceType, resource: Resource[Any]) -> Resource[Any]:
        return self._made(resource_type, self._of(resource_type).create(resource))

    def update(
        self, resource_type: ResourceType, resource: Resource[Any], *, expected_version: str | None = None
    ) -> Resource[Any]:
        """The row is locked since it was read, so that its version is the expected one."""
        row = self.row(resource_type, str(resource.id))
        return self._made(resource_type, self._of(resource_type).update(row, resource))

    def delete(self, resource_type: ResourceType, resource_id: str, *, expected_version: str | None = None) -> None:
        self._of(resource_type).delete(self.row(resource_type, resource_id))

    def _of(self, resource_type: ResourceType) -> Any:
        return self._kinds[str(resource_type.name)]

    def _made(self, resource_type: ResourceType, row: Any) -> Resource[Any]:
        return self._of(resource_type).resources([row])[0]  # type: ignore[no-any-return]


class Handler(ScimHandler):
    """A group is patched without reading all of its members, of which it may have thousands."""

    storage: Storage

    def patch_resource(
        self, resource_type: ResourceType, resource_id: str, patch_op: "PatchOp[Any]", conditions: Conditions
    ) -> Resource[Any]:
        if resource_type.name != "Group":
            return super().patch_resource(resource_type, resource_id, patch_op, conditions)
        groups, (change, rest) = self.storage.groups, split(patch_op)
        members, row = groups.members(change), self.storage.row(resource_type, resource_id)
        group = groups.resources([row], whole=False)[0]
        self.service.check_preconditions(group, "PATCH", conditions)
        rest.patch(group)
        return groups.resources([groups.change(row, group, members)], whole=False)[0]  # type: ignore[no-any-return]


def _keeps_members(told: ResponseParameters[Any]) -> bool:
    if told.attributes:
        return any("members" in str(each).lower() for each in told.attributes)
    return not any(str(each).lower().endswith("members") for each in told.excluded_attributes or ())
