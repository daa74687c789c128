"""Times and durations in the reader's language and zone."""

from datetime import UTC, datetime, timedelta
from typing import Final

from django.utils.timezone import localtime
from django.utils.translation import gettext


def time_text(value: datetime) -> str:
    """Date and time to the second, without the zone: “8 Oct 2026 09:00:00”."""
    local = _local(value)
    month = gettext("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec").split()[local.month - 1]
    parts = {"day": local.day, "month": month, "year": local.year, "time": f"{local:%H:%M:%S}"}
    return gettext("%(day)d %(month)s %(year)d %(time)s") % parts


def zone_text(value: datetime) -> str:
    """What people call the reader's zone; the difference to UTC where it has no name of its own."""
    local = _local(value)
    if str(local.tzinfo) == "America/Sao_Paulo":
        return gettext("Brasília time")
    name = local.tzname() or ""
    return name if name[:1].isalpha() else f"UTC{name}"


def _local(value: datetime) -> datetime:
    """In UTC where the reader's zone has no such time: in the first and the last hours of all years."""
    try:
        return localtime(value)
    except OverflowError:
        return value.astimezone(UTC)


_JUST_NOW: Final = timedelta(seconds=5)


def ago_text(value: timedelta) -> str:
    """How long ago; below five seconds, which nobody needs counted, that it was just now."""
    if value < _JUST_NOW:
        return gettext("just now")
    return gettext("%(duration)s ago") % {"duration": duration_text(value)}


def duration_text(value: timedelta) -> str:
    """In its largest two units, at least 0 seconds."""
    whole = max(0, int(value.total_seconds()))
    if whole < 60:
        return _seconds() % {"seconds": whole}
    counts = {"days": whole // 86400, "hours": whole // 3600 % 24, "minutes": whole // 60 % 60}
    return (_days() if counts["days"] else _hours() if counts["hours"] else _minutes()) % counts


def duration_patterns() -> dict[str, str]:
    """How durations are written, by their largest unit, and what was just now: for the script that keeps them."""
    return {
        "now": gettext("just now"),
        "days": _days(),
        "hours": _hours(),
        "minutes": _minutes(),
        "seconds": _seconds(),
    }


def _days() -> str:
    return gettext("%(days)d d %(hours)d h")


def _hours() -> str:
    return gettext("%(hours)d h %(minutes)d min")


def _minutes() -> str:
    return gettext("%(minutes)d min")


def _seconds() -> str:
    return gettext("%(seconds)d s")
