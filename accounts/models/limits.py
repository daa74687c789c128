from django.db import models


class RequestCount(models.Model):
    """How often something was asked from one address in one window of time; `key` says what, when and from where."""

    key = models.CharField(max_length=120, primary_key=True)
    ends_at = models.DateTimeField()
    count = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.key}: {self.count}"
