"""What ends at a known time and has to be replaced before: how long it lasts, and how urgent that is."""

from datetime import datetime
from typing import Final

DAYS: Final = (7, 30, 60)
"""How long before its end something is told of, each time with more urgency."""


def days_left(ends: datetime, now: datetime) -> int:
    """Whole ones; below zero once it has ended."""
    return (ends - now).days


def warned(ends: datetime, now: datetime) -> int | None:
    """Within how many days it ends, one of DAYS; 0 if it has ended; None if that is far away."""
    if ends <= now:
        return 0
    return next((days for days in DAYS if days_left(ends, now) < days), None)
