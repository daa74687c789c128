from datetime import datetime
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.models.bearer import Bearer
from accounts.models.people import User


class Scope(models.TextChoices):
    """What a token is for. It never opens more than its person may do."""

    READ = "read", pgettext_lazy("what a token is for", "read")
    SUBMIT = "submit", _("submit")
    QUOTA = "quota", _("quota")
    BILLING = "billing", _("billing")


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def kept(self) -> "ApiTokenQuerySet":
        """Those that nobody ended, expired ones included."""
        return self.filter(ended_at__isnull=True)

    def valid(self, now: datetime) -> "ApiTokenQuerySet":
        """Those that open something now."""
        return self.kept().filter(expires_at__gt=now, user__archived_at__isnull=True)


class ApiToken(Bearer):
    """A secret by which a program asks as a person. `scopes`: a list of Scope."""

    user = models.ForeignKey(User, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=60)
    scopes = models.JSONField()
    made_at = models.DateTimeField()

    objects: ClassVar = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-made_at", "-pk"]
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(expires_at__gt=models.F("made_at")), name="token_expires_after_made"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.user_id}"

    @property
    def scope_labels(self) -> list[str]:
        return [str(Scope(scope).label) for scope in self.scopes]
