"""When a message may reach a person: quiet hours and the day's digest, by the clock on their wall. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from notices.kinds import How


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Not between `quiet_from` and `quiet_to`, past midnight where the first is later; equal or None: always."""

    zone: ZoneInfo
    digest_at: time
    quiet_from: time | None = None
    quiet_to: time | None = None

    def due(self, how: How, now: datetime) -> datetime:
        """When something that is told `now` is to be sent."""
        if how == How.DIGEST:
            return self._after_quiet(self._next(self.digest_at, now))
        return self._after_quiet(now)

    def is_quiet(self, at: datetime) -> bool:
        if self.quiet_from is None or self.quiet_to is None:
            return False
        wall = at.astimezone(self.zone).time()
        if self.quiet_from <= self.quiet_to:
            return self.quiet_from <= wall < self.quiet_to
        return wall >= self.quiet_from or wall < self.quiet_to

    def _after_quiet(self, at: datetime) -> datetime:
        """An hour that comes twice may be quiet twice, and ends twice then."""
        if self.quiet_to is None or not self.is_quiet(at):
            return at
        ends = (end for wall in (self.quiet_to, self.quiet_to.replace(fold=1)) for end in self._occurrences(wall, at))
        return min(end for end in ends if end > at and not self.is_quiet(end))

    def _next(self, wall: time, after: datetime) -> datetime:
        """When the clock shows `wall` next. Where clocks go forward over it, as long after the change as it was to be
        after the hour that is left out; where they go back, the first of the two."""
        return next(at for at in self._occurrences(wall, after) if at > after)

    def _occurrences(self, wall: time, around: datetime) -> Iterator[datetime]:
        today = around.astimezone(self.zone).date()
        for days in (0, 1, 2):
            yield datetime.combine(today + timedelta(days=days), wall, self.zone).astimezone(UTC)
