"""People. What they may do is decided in `teams`."""

from typing import ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import models
from django.utils import timezone


class UserManager(BaseUserManager["User"]):
    """Users are made by sign-in and by the set-up file, never with a password."""

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(username=username)


class User(AbstractBaseUser):
    """A person. Archived, never deleted; `username` is what the set-up file and the identity provider call them.
    `last_team` is the slug of the team of theirs whose page they opened last."""

    username = models.CharField(max_length=150, unique=True)
    name = models.CharField(max_length=200)
    email = models.EmailField(blank=True)
    time_zone = models.CharField(max_length=60, blank=True)
    has_keys = models.BooleanField(default=True)
    last_team = models.CharField(max_length=50, blank=True)
    created_at = models.DateTimeField()
    archived_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "username"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_active(self) -> bool:  # type: ignore[override]
        """Archived people lose their sessions: Django asks this at every request. Who is let in for some hours is
        archived as of their end."""
        return self.archived_at is None or self.archived_at > timezone.now()
