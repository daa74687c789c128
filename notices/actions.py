"""Writes of a person's choices about notices: in one transaction, audited."""

from collections.abc import Collection, Mapping
from datetime import datetime, time

from django.db import transaction

from accounts.models import User
from notices.kinds import How, Kind
from notices.models import Choice, Habits, Unfollowed
from portal import audit


@transaction.atomic
def choose(
    *,
    user: User,
    hows: Mapping[Kind, How],
    unfollowed: Collection[int],
    language: str,
    quiet_from: time | None,
    quiet_to: time | None,
    digest_at: time,
    now: datetime,
) -> None:
    """How a person hears of which kinds, of which of their teams (by key) they do not, and when they may be disturbed.
    Kinds that `hows` leaves out stay as they were."""
    for kind, how in hows.items():
        Choice.objects.update_or_create(user=user, kind=kind, defaults={"how": how})
    Unfollowed.objects.filter(user=user).exclude(team__in=unfollowed).delete()
    Unfollowed.objects.bulk_create((Unfollowed(user=user, team_id=team) for team in unfollowed), ignore_conflicts=True)
    times = {"quiet_from": quiet_from, "quiet_to": quiet_to, "digest_at": digest_at}
    Habits.objects.update_or_create(user=user, defaults={"language": language, **times})
    texts = {name: value.isoformat() if value else None for name, value in times.items()}
    chosen = {str(kind): str(how) for kind, how in hows.items()}
    target = f"person/{user.username}"
    audit.record("notices.chosen", target=target, by=user.username, now=now, **texts, language=language, kinds=chosen)
