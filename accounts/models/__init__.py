"""People, the identity providers they come from, and the groups these put them in."""

from accounts.models.identity import GroupClaim, IdentityProvider, IdpGroup, IdpMembership, UsedAssertion
from accounts.models.people import User, UserManager

__all__ = ["GroupClaim", "IdentityProvider", "IdpGroup", "IdpMembership", "UsedAssertion", "User", "UserManager"]
