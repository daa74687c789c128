from datetime import datetime

from django.db import models

from accounts import expiry


class Bearer(models.Model):
    """A secret that programs show; kept as a digest alone. Until `expires_at` it opens something, unless it was ended
    before. Its last use is noted within a minute."""

    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_used_from = models.GenericIPAddressField(null=True, blank=True)

    class Meta:
        abstract = True

    def days_left(self, now: datetime) -> int:
        return expiry.days_left(self.expires_at, now)

    def warned(self, now: datetime) -> int | None:
        return expiry.warned(self.expires_at, now)
