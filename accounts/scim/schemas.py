"""What the portal keeps of people and groups, and what it says of itself at SCIM's discovery addresses."""

from typing import Annotated, Any, Final

import scim2_models as scim
from pydantic import Field, model_validator
from scim2_models import CaseExact, ComplexAttribute, Mutability, Reference, Required, Resource, Uniqueness
from scim2_models.resources.resource import AnyExtension

from accounts.scim.bounds import BoundedService

MOST_AT_ONCE: Final = 200
"""Resources in one answer."""


class Email(ComplexAttribute):
    """The library's own refuses addresses of internal domains and writes others in lower case."""

    value: str | None = None
    display: str | None = None
    type: str | None = None
    primary: bool | None = None


class User(Resource[AnyExtension]):
    """The core schema without what the portal has no use for: passwords, pictures, certificates."""

    __schema__ = scim.User.__schema__

    user_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    name: scim.Name | None = None
    display_name: str | None = None
    nick_name: str | None = None
    title: str | None = None
    user_type: str | None = None
    preferred_language: str | None = None
    locale: str | None = None
    timezone: str | None = None
    active: bool | None = None
    emails: list[Email] | None = None
    phone_numbers: list[scim.PhoneNumber] | None = None
    addresses: list[scim.Address] | None = None


class Manager(ComplexAttribute):
    value: Annotated[str | None, CaseExact.true] = None
    ref: Reference["User"] | None = Field(  # type: ignore[type-arg]
        None, serialization_alias="$ref", validation_alias="$ref"
    )
    display_name: Annotated[str | None, Mutability.read_only] = None

    @model_validator(mode="before")
    @classmethod
    def _of_their_id(cls, told: Any) -> Any:
        """Entra sends the id alone, and an empty text for nobody."""
        return {"value": told or None} if isinstance(told, str) else told


class EnterpriseUser(scim.Extension):
    __schema__ = scim.EnterpriseUser.__schema__

    employee_number: str | None = None
    cost_center: str | None = None
    organization: str | None = None
    division: str | None = None
    department: str | None = None
    manager: Manager | None = None


class Member(ComplexAttribute):
    value: Annotated[str | None, Mutability.immutable, CaseExact.true] = None
    ref: Annotated[Reference["User"] | None, Mutability.immutable] = Field(  # type: ignore[type-arg]
        None, serialization_alias="$ref", validation_alias="$ref"
    )
    type: Annotated[str | None, Mutability.immutable] = Field(None, examples=["User"])


class Group(Resource[Any]):
    __schema__ = scim.Group.__schema__

    display_name: Annotated[str | None, Required.true] = None
    members: list[Member] | None = None


_CONFIG: Final = scim.ServiceProviderConfig(
    patch=scim.Patch(supported=True),
    bulk=scim.Bulk(supported=False, max_operations=0, max_payload_size=0),
    filter=scim.Filter(supported=True, max_results=MOST_AT_ONCE),
    change_password=scim.ChangePassword(supported=False),
    sort=scim.Sort(supported=True),
    etag=scim.ETag(supported=True),
    authentication_schemes=[
        scim.AuthenticationScheme(
            type=scim.AuthenticationScheme.Type.oauthbearertoken,
            name="Bearer token",
            description="A secret made by the portal's admin",
            primary=True,
        )
    ],
)
_LENIENT: Final = scim.ScimPolicy(
    unknown=scim.ScimPolicy.Unknown.ignore,
    remove_value_as_filter=scim.ScimPolicy.RemoveValue.apply,
    unmatched_path_filter=scim.ScimPolicy.UnmatchedPathFilter.create,
)
"""As Entra speaks. What no schema declares is not kept."""

PERSON: Final = User[EnterpriseUser]
SERVICE: Final = BoundedService(
    scim.ScimProvider(
        [User, EnterpriseUser, Group],
        [scim.ResourceType.from_resource(PERSON), scim.ResourceType.from_resource(Group)],
        _CONFIG,
        _LENIENT,
    )
)
