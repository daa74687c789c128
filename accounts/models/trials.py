from datetime import datetime, timedelta
from typing import ClassVar, Final
from uuid import uuid4

from django.db import models

from accounts.models.identity import IdentityProvider
from accounts.models.people import User

OPEN_FOR: Final = timedelta(minutes=10)


class SignInTrialQuerySet(models.QuerySet["SignInTrial"]):
    def open(self, now: datetime) -> "SignInTrialQuerySet":
        """Those that an answer may still end."""
        return self.filter(ended_at__isnull=True, begun_at__gt=now - OPEN_FOR)


class SignInTrial(models.Model):
    """A sign-in by a provider that `user` tries out: nobody is signed in by it, and nothing of it is kept but this.

    `request_id` is of the request with which they were sent there, which the answer has to name. `findings` are what
    arrived (`accounts.saml.findings`), empty until then. Changing the provider deletes its trials.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    provider = models.ForeignKey(IdentityProvider, models.CASCADE, related_name="trials")
    user = models.ForeignKey(User, models.CASCADE, related_name="sign_in_trials")
    request_id = models.CharField(max_length=100, unique=True)
    begun_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    findings = models.JSONField(default=dict)

    objects = SignInTrialQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["provider", "-begun_at"], name="trial_of_provider")]

    def __str__(self) -> str:
        return f"trial of {self.provider_id}"

    @property
    def passed(self) -> bool:
        """Whether it would have been a sign-in."""
        return self.ended_at is not None and not self.findings["reason"]
