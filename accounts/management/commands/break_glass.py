"""`manage.py break_glass USERNAME --hours N --reason TEXT`: a platform admin while no identity provider answers."""

from argparse import ArgumentParser
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse
from django.utils import timezone

from accounts.actions import break_glass, end_glass
from accounts.models import BreakGlass

_MOST_HOURS: Final = 24
_LONGEST_NAME: Final = 100
_LONGEST_REASON: Final = 300
_ACTOR: Final = "manage.py break_glass"


class Command(BaseCommand):
    help = "Make a platform admin who signs in once with a password printed here, or end it (--end)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="who is let in, as every page will say")
        parser.add_argument("--hours", type=int, help=f"for how long, 1 to {_MOST_HOURS}")
        parser.add_argument("--reason", help="why, as every page will say")
        parser.add_argument("--end", action="store_true", help="end it now")

    def handle(self, *args: Any, username: str, hours: int | None, reason: str | None, end: bool, **more: Any) -> None:
        if end:
            return self._end(username)
        _check_text("USERNAME", username, _LONGEST_NAME)
        _check_text("--reason", reason or "", _LONGEST_REASON)
        if not hours or not 1 <= hours <= _MOST_HOURS:
            raise CommandError(f"--hours must be 1 to {_MOST_HOURS}.")
        glass, password = break_glass(name=username, hours=hours, reason=reason or "", by=_ACTOR, now=timezone.now())
        self.stdout.write(f"{username} may be platform admin until {glass.ends_at:%Y-%m-%d %H:%M} UTC.")
        self.stdout.write(f"Sign in, once, at {settings.PORTAL_ADDRESS}{reverse('break-glass')} with {password}")
        return None

    def _end(self, username: str) -> None:
        now = timezone.now()
        found = BreakGlass.objects.in_force(now).filter(user__name=username).first()
        if found is None:
            raise CommandError(f"There is no break-glass access of {username!r}.")
        end_glass(glass=found, by=_ACTOR, now=now)
        self.stdout.write(f"The break-glass access of {username} has ended.")


def _check_text(name: str, text: str, longest: int) -> None:
    if not text.strip() or len(text) > longest or not text.isprintable():
        raise CommandError(f"{name} must be a text of 1 to {longest} printable characters.")
