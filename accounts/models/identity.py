from datetime import datetime, timedelta
from typing import ClassVar, Final

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.people import User

_STALE: Final = timedelta(days=1)


class IdentityProvider(models.Model):
    """A SAML 2.0 identity provider. Its people are told apart by `slug`, so that no other one's can enter as them.

    `metadata` is the last good copy: pasted, or read from `metadata_url` by a worker at `read_at`; `error` says why
    the last reading failed. Keys of ours are never stored here.

    `identity_store` is the id of IAM Identity Center's directory, if a worker reads people and groups there:
    `store_read_at` and `store_error` tell of it. Empty: the provider writes them by SCIM, or nobody does.
    """

    class Kind(models.TextChoices):
        """What decides where in its console things are pasted, and nothing else."""

        IDENTITY_CENTER = "identity_center", "IAM Identity Center"
        ENTRA = "entra", "Microsoft Entra ID"
        OTHER = "other", _("another SAML 2.0 identity provider")

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=20, choices=Kind, default=Kind.OTHER)
    metadata_url = models.URLField(max_length=500, blank=True)
    metadata = models.TextField(blank=True)
    read_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=300, blank=True)
    groups_attribute = models.CharField(max_length=200)
    signs_response = models.BooleanField()
    enabled = models.BooleanField()
    identity_store = models.CharField(max_length=40, blank=True)
    identity_store_region = models.CharField(max_length=40, blank=True)
    store_read_at = models.DateTimeField(null=True, blank=True)
    store_error = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering: ClassVar = ["slug"]

    def __str__(self) -> str:
        return self.name

    def may_write(self, now: datetime) -> bool:
        """Whether a SCIM client of it could write now."""
        return bool(self.scim_credentials.in_force(now).exists())

    def is_read(self, now: datetime) -> bool:
        """Whether its Identity Store was read within a day."""
        return bool(self.identity_store and self.store_read_at and self.store_read_at > now - _STALE)


class IdpGroup(models.Model):
    """A group as its identity provider names it in sign-ins: `value` is an id that is never used again."""

    provider = models.ForeignKey(IdentityProvider, models.CASCADE, related_name="groups")
    value = models.CharField(max_length=200)
    name = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["provider", "value"], name="idp_group_key")]

    def __str__(self) -> str:
        return f"{self.name} ({self.value})" if self.name else self.value


class IdpMembership(models.Model):
    """That a person was in a group when their identity provider last told: by SCIM (`provisioned`) or in a sign-in."""

    group = models.ForeignKey(IdpGroup, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="idp_memberships")
    provisioned = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "group"], name="idp_membership_key")]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.group_id}"


class GroupClaim(models.Model):
    """When a provider last told of a person's groups, and whether it told of all: if not, those known before stay."""

    provider = models.ForeignKey(IdentityProvider, models.CASCADE, related_name="group_claims")
    user = models.ForeignKey(User, models.CASCADE, related_name="group_claims")
    is_complete = models.BooleanField()
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "provider"], name="group_claim_key")]

    def __str__(self) -> str:
        return f"{self.provider_id} of {self.user_id}"


class UsedAssertion(models.Model):
    """An assertion that somebody signed in with; it is refused a second time as long as it would be valid."""

    digest = models.CharField(max_length=64, primary_key=True)
    valid_until = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.digest


class ProviderSession(models.Model):
    """A session here, and which session of the provider it came from: the provider may end it from a frame of its own
    page, to which browsers send no cookie of ours. `index` is a digest of what the provider calls its session."""

    session_key = models.CharField(max_length=40, primary_key=True)
    provider = models.ForeignKey(IdentityProvider, models.CASCADE, related_name="sessions")
    user = models.ForeignKey(User, models.CASCADE, related_name="provider_sessions")
    index = models.CharField(max_length=64)
    ends_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.user_id} by {self.provider_id}"
