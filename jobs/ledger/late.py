"""Closed hours that a late fact touches are opened again, in the transaction that writes the fact."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TypeAlias

from jobs.models import ClosedHours, ReopenedHours
from teams.models import Cluster

HOUR = timedelta(hours=1)
Change: TypeAlias = tuple[datetime, datetime | None]
"""From when to when the past differs from what was known; None: ever since."""


def hour_of(time: datetime) -> datetime:
    """The beginning of the UTC hour."""
    return time.replace(minute=0, second=0, microsecond=0)


def reopen(cluster: Cluster, changes: Collection[Change]) -> None:
    """Have these stretches rolled up again, as far as they are closed."""
    closed = ClosedHours.objects.filter(cluster=cluster).first() if changes else None
    if closed is None:
        return
    hours: set[tuple[datetime, datetime]] = set()
    for start, end in changes:
        first = max(hour_of(start), hour_of(closed.begun_at))
        last = closed.until if end is None else min(_next_hour(end), closed.until)
        if first < last:
            hours.add((first, last))
    ReopenedHours.objects.bulk_create(ReopenedHours(cluster=cluster, start=a, end=b) for a, b in sorted(hours))


def _next_hour(time: datetime) -> datetime:
    hour = hour_of(time)
    return hour if hour == time else hour + HOUR
