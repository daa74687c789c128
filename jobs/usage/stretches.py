"""Over which time use is added up, and where its buckets lie. Pure. Buckets are UTC."""

from datetime import datetime, timedelta
from typing import Final, TypeAlias

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from jobs.ledger.late import HOUR
from jobs.lists.months import latest_months, month_after, month_of, month_starts


class Period(TextChoices):
    DAY = "day", _("Day")
    WEEK = "week", _("Week")
    MONTH = "month", _("30 days")
    YEAR = "year", _("13 months")


Stretch: TypeAlias = Period | datetime
"""A period up to now, or a calendar month by its first moment, UTC."""

_STEPS: Final = {Period.DAY: (1, 24), Period.WEEK: (3, 56), Period.MONTH: (24, 30)}
"""Hours of a bucket, and how many buckets; the longest period goes by calendar months, and a month by days."""
_MONTHS: Final = 13
_DAY: Final = timedelta(days=1)


def read_stretch(asked: str) -> Stretch:
    """What an address asks for; a week if it is nothing that can be shown."""
    return Period(asked) if asked in Period else month_of(asked) or Period.WEEK


def stretch_text(stretch: Stretch) -> str:
    """As addresses tell it."""
    return f"{stretch:%Y-%m}" if isinstance(stretch, datetime) else stretch.value


def months_to_choose(stretch: Stretch, now: datetime) -> list[tuple[str, str]]:
    """The latest months with their names, and the one that is shown."""
    found = latest_months(now, _MONTHS)
    text = stretch_text(stretch)
    return found if text in dict(found) or not isinstance(stretch, datetime) else [*found, (text, text)]


def edges_of(stretch: Stretch, until: datetime) -> list[datetime]:
    """Where the buckets begin, and where the last one ends; of a month no day that begins after `until`, but one."""
    if isinstance(stretch, datetime):
        days = max(1, -((stretch - min(month_after(stretch), until)) // _DAY))
        return [stretch + number * _DAY for number in range(days + 1)]
    if stretch == Period.YEAR:
        starts = month_starts(until - timedelta(microseconds=1), _MONTHS)
        return [*reversed(starts), month_after(starts[0])]
    hours, count = _STEPS[stretch]
    midnight = until.replace(hour=0)
    steps = -((midnight - until) // (hours * HOUR))
    end = midnight + steps * hours * HOUR
    return [end - number * hours * HOUR for number in range(count, -1, -1)]
