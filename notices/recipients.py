"""Whose notice it is: the person whom the job names, else all who follow the team; what needs a platform admin goes to
those, too."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction

from notices.kinds import OF_JOBS, OF_PLATFORM, USUAL, How, Kind
from notices.models import Choice, Notice, Receipt, Unfollowed
from notices.packing import schedule
from teams.permissions import GlobalRole
from teams.roles import holders_of

_BATCH: Final = 200


def address(now: datetime) -> int:
    """Give every notice of the outbox to its recipients; returns how many notices there were."""
    addressed = 0
    while notices := list(Notice.objects.filter(addressed_at__isnull=True).order_by("at")[:_BATCH]):
        with transaction.atomic():
            Receipt.objects.bulk_create(_receipts(notices, now), ignore_conflicts=True)
            schedule(Receipt.objects.filter(notice__in=notices), now)
            Notice.objects.filter(pk__in=[each.pk for each in notices]).update(addressed_at=now)
        addressed += len(notices)
    return addressed


def _receipts(notices: Sequence[Notice], now: datetime) -> Iterator[Receipt]:
    audience = audience_of({notice.team_id for notice in notices if notice.team_id})
    recipients = {notice.pk: audience.of(notice) for notice in notices}
    chosen = _choices({user for users in recipients.values() for user in users})
    for notice in notices:
        for user in sorted(recipients[notice.pk]):
            how = chosen.get((user, notice.kind), USUAL[Kind(notice.kind)])
            if how != How.NEVER:
                yield Receipt(notice=notice, user_id=user, how=how, at=now)


@dataclass(frozen=True, slots=True)
class Audience:
    """Keys of people. `named`: by team whatever name a job may give of a member, in lower case."""

    named: Mapping[int, Mapping[str, int]]
    followers: Mapping[int, Collection[int]]
    admins: frozenset[int]

    def of(self, notice: Notice) -> set[int]:
        found: set[int] = set()
        if notice.recipient_id is not None:
            found.add(notice.recipient_id)
        elif notice.kind in OF_JOBS and notice.team_id is not None:
            found.update(self.people_of(notice.team_id, notice.submitted_by))
        if notice.kind in OF_PLATFORM:
            found |= self.admins
        return found

    def people_of(self, team: int, submitted_by: str) -> Collection[int]:
        """Whose job it is, of a team whose people were asked for."""
        submitter = self.named.get(team, {}).get(submitted_by.lower())
        return self.followers.get(team, ()) if submitter is None else [submitter]


def audience_of(teams: Collection[int]) -> Audience:
    """The people of these teams, and the platform admins."""
    named: dict[int, dict[str, int]] = defaultdict(dict)
    followers: dict[int, set[int]] = defaultdict(set)
    unfollowed = set(Unfollowed.objects.filter(team__in=teams).values_list("team", "user"))
    admins: set[int] = set()
    for team, role, user, username, email in holders_of(teams):
        if team is None:
            admins.update({user} if role == GlobalRole.PLATFORM_ADMIN else ())
            continue
        named[team].update({name.lower(): user for name in (username, email) if name})
        if (team, user) not in unfollowed:
            followers[team].add(user)
    return Audience(named, followers, frozenset(admins))


def _choices(users: Collection[int]) -> dict[tuple[int, str], str]:
    rows = Choice.objects.filter(user__in=users).values_list("user", "kind", "how")
    return {(user, kind): how for user, kind, how in rows}
