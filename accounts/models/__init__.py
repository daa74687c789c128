"""People, the identity providers they come from, the groups these put them in, what SCIM keeps of both, and how often
who asked."""

from accounts.models.break_glass import BreakGlass
from accounts.models.identity import (
    GroupClaim,
    IdentityProvider,
    IdpGroup,
    IdpMembership,
    ProviderSession,
    UsedAssertion,
)
from accounts.models.limits import RequestCount
from accounts.models.people import User, UserManager
from accounts.models.scim import ScimCredential, ScimGroup, ScimUser
from accounts.models.tokens import ApiToken, Scope
from accounts.models.trials import SignInTrial

__all__ = [
    "ApiToken",
    "BreakGlass",
    "GroupClaim",
    "IdentityProvider",
    "IdpGroup",
    "IdpMembership",
    "ProviderSession",
    "RequestCount",
    "Scope",
    "ScimCredential",
    "ScimGroup",
    "ScimUser",
    "SignInTrial",
    "UsedAssertion",
    "User",
    "UserManager",
]
