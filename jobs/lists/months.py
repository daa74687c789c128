"""Calendar months, UTC, as addresses and selects tell them: 2026-11."""

import re
from datetime import UTC, datetime
from typing import Final

from django.utils.formats import date_format
from django.utils.translation import pgettext

_MONTH: Final = re.compile(r"(2\d{3})-(0[1-9]|1[0-2])", re.ASCII)


def month_of(text: str) -> datetime | None:
    """The first moment of the month that a text names; None where it names none."""
    month = _MONTH.fullmatch(text)
    return datetime(int(month[1]), int(month[2]), 1, tzinfo=UTC) if month else None


def month_after(start: datetime) -> datetime:
    """The first moment of the next month."""
    return start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)


def month_starts(last: datetime, count: int) -> list[datetime]:
    """Of so many months up to the one that `last` lies in, the newest first."""
    number = last.year * 12 + last.month - 1
    return [datetime(each // 12, each % 12 + 1, 1, tzinfo=UTC) for each in range(number, number - count, -1)]


def latest_months(now: datetime, count: int) -> list[tuple[str, str]]:
    """So many months up to this one, the newest first, each with its name."""
    written = pgettext("a month, in the letters of Django's date filter", "F Y")
    return [(f"{month:%Y-%m}", date_format(month, written)) for month in month_starts(now, count)]
