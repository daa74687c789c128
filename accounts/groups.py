"""A person's groups at one identity provider, made equal to what it tells."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db.models import Q

from accounts.granting import granted
from accounts.models import GroupClaim, IdentityProvider, IdpGroup, IdpMembership, ScimUser, User
from portal.write_path import BATCH, batches


@contextmanager
def regrouped(users: Collection[int], provider: IdentityProvider, now: datetime) -> Iterator[None]:
    """Around a change of these people's groups, in its transaction."""
    by, source = f"identity_provider/{provider.slug}", f"groups at {provider.slug}"
    with granted(users, by=by, source=source, now=now):
        yield


def keep_groups(user: User, provider: IdentityProvider, values: Collection[str] | None, now: datetime) -> None:
    """As a sign-in tells, in a few statements, however many they are. None: it did not tell of all, so that those known
    before stay. What SCIM told of the person is never taken back by a sign-in."""
    has_scim = _is_provisioned(user, provider, now)
    GroupClaim.objects.update_or_create(
        user=user, provider=provider, defaults={"is_complete": values is not None or has_scim, "at": now}
    )
    if values is None:
        return
    held = dict(IdpMembership.objects.filter(user=user, group__provider=provider).values_list("group__value", "pk"))
    _leave([key for value, key in held.items() if value not in values], Q(provisioned=False) if has_scim else Q())
    _join(user, provider, sorted(value for value in values if value not in held))


def _is_provisioned(user: User, provider: IdentityProvider, now: datetime) -> bool:
    """Whether SCIM, or the Identity Store, tells of this person now: once nobody may write any more, what was told runs
    out at sign-ins."""
    is_known = ScimUser.objects.filter(user=user, provider=provider).exists()
    return is_known and (provider.may_write(now) or provider.is_read(now))


def _leave(keys: list[int], which: Q) -> None:
    """`which` is asked of the rows once more as they go: SCIM may have told of one meanwhile."""
    for some in batches(keys):
        IdpMembership.objects.filter(which, pk__in=some).delete()


def _join(user: User, provider: IdentityProvider, values: list[str]) -> None:
    """In one order for everybody: else two people with new groups in common wait for each other."""
    groups = [IdpGroup(provider=provider, value=value) for value in values]
    IdpGroup.objects.bulk_create(groups, batch_size=BATCH, ignore_conflicts=True)
    for some in batches(values):
        found = IdpGroup.objects.filter(provider=provider, value__in=some)
        IdpMembership.objects.bulk_create(
            [IdpMembership(user=user, group=group) for group in found], ignore_conflicts=True
        )
