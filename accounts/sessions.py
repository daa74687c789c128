"""Web sessions, kept in the database."""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.utils import timezone

_SESSION = "SELECT * FROM django_session WHERE session_key = %s"


def session_end(until: datetime | None, now: datetime) -> datetime:
    """The earlier of what was said at the sign-in and what the portal allows."""
    ours = now + timedelta(seconds=settings.SESSION_COOKIE_AGE)
    return min(ours, until) if until else ours


class SessionStore(DatabaseStore):
    """Reads the session in SQL, since every request does: the ORM needs twice as long to put that together."""

    def _get_session_from_db(self) -> Session | None:
        found = next(iter(Session.objects.raw(_SESSION, [self.session_key])), None)
        if found is None or found.expire_date <= timezone.now():
            self._session_key = None
            return None
        return found
