"""A person's groups at one identity provider, made equal to what it tells."""

from collections.abc import Collection
from datetime import datetime

from accounts.models import GroupClaim, IdentityProvider, IdpGroup, IdpMembership, User

_AT_ONCE = 500


def keep_groups(user: User, provider: IdentityProvider, values: Collection[str] | None, now: datetime) -> None:
    """In a few statements, however many they are. None: it did not tell of all, so that those known before stay."""
    GroupClaim.objects.update_or_create(
        user=user, provider=provider, defaults={"is_complete": values is not None, "at": now}
    )
    if values is None:
        return
    held = dict(IdpMembership.objects.filter(user=user, group__provider=provider).values_list("group__value", "pk"))
    _leave([key for value, key in held.items() if value not in values])
    _join(user, provider, [value for value in values if value not in held])


def _leave(keys: list[int]) -> None:
    for start in range(0, len(keys), _AT_ONCE):
        IdpMembership.objects.filter(pk__in=keys[start : start + _AT_ONCE]).delete()


def _join(user: User, provider: IdentityProvider, values: list[str]) -> None:
    groups = [IdpGroup(provider=provider, value=value) for value in values]
    IdpGroup.objects.bulk_create(groups, batch_size=_AT_ONCE, ignore_conflicts=True)
    for start in range(0, len(values), _AT_ONCE):
        found = IdpGroup.objects.filter(provider=provider, value__in=values[start : start + _AT_ONCE])
        IdpMembership.objects.bulk_create(
            [IdpMembership(user=user, group=group) for group in found], ignore_conflicts=True
        )
