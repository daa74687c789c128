from datetime import datetime
from typing import ClassVar
from uuid import uuid4

from django.db import models
from django.db.models import Q

from accounts.models.bearer import Bearer
from accounts.models.identity import IdentityProvider, IdpGroup
from accounts.models.people import User


class ScimCredentialQuerySet(models.QuerySet["ScimCredential"]):
    def kept(self) -> "ScimCredentialQuerySet":
        """Those that nobody ended, expired ones included, in the order in which they were made."""
        return self.filter(ended_at__isnull=True).order_by("pk")

    def in_force(self, now: datetime) -> "ScimCredentialQuerySet":
        return self.kept().filter(expires_at__gt=now)


class ScimCredential(Bearer):
    """A secret with which one identity provider writes its people and groups. `made_by`: a username, or the command;
    empty where nobody knows."""

    class Scope(models.TextChoices):
        READ = "read"
        WRITE = "write"

    provider = models.ForeignKey(IdentityProvider, models.CASCADE, related_name="scim_credentials")
    scope = models.CharField(max_length=10, choices=Scope.choices)
    created_at = models.DateTimeField()
    made_by = models.CharField(max_length=150, blank=True)

    objects: ClassVar = ScimCredentialQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.scope} for {self.provider_id}"


class Provisioned(models.Model):
    """What SCIM keeps of a person or a group: their id there, the client's own id for them, and a version that every
    change raises. `name_key` is what filters compare, which are blind to case."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    external_id = models.CharField(max_length=256, blank=True)
    name_key = models.CharField(max_length=256)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        abstract = True


class ScimUser(Provisioned):
    """A person as their identity provider described them; `told` holds that unchanged, but for id and meta.

    The person is the one whose NameID in sign-ins is `external_id`. `name_key` is of userName.
    """

    provider = models.ForeignKey(IdentityProvider, models.CASCADE, related_name="scim_users")
    user = models.OneToOneField(User, models.CASCADE, related_name="scim_user")
    email_key = models.CharField(max_length=320, blank=True)
    active = models.BooleanField()
    told = models.JSONField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["provider", "name_key"], name="scim_user_name"),
            models.UniqueConstraint(
                fields=["provider", "external_id"], condition=~Q(external_id=""), name="scim_user_external_id"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["provider", "email_key"], name="scim_user_by_email")]

    def __str__(self) -> str:
        return str(self.id)


class ScimGroup(Provisioned):
    """A group as its identity provider described it; in sign-ins it is called `external_id`. `name_key` is of
    displayName. Its members are the provisioned memberships of `group`."""

    provider = models.ForeignKey(IdentityProvider, models.CASCADE, related_name="scim_groups")
    group = models.OneToOneField(IdpGroup, models.CASCADE, related_name="scim_group")
    name = models.CharField(max_length=256)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["provider", "external_id"], condition=~Q(external_id=""), name="scim_group_external_id"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["provider", "name_key"], name="scim_group_by_name")]

    def __str__(self) -> str:
        return str(self.id)
