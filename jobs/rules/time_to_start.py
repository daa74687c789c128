"""How a workload's time until its pods ran splits, by who had to act: the slices of one bar. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from jobs.rules.quota_bar import percent


class Phase(StrEnum):
    """What it waited for, in this order; UNACCOUNTED where the facts do not tell."""

    QUEUE = "queue"
    CHECKS = "checks"
    PODS = "pods"
    UNACCOUNTED = "unaccounted"


class Actor(TextChoices):
    """Who must act for the job to go on."""

    SCHEDULER = "scheduler", _("Scheduler")
    OWNER = "owner", _("You")
    PLATFORM = "platform", _("Platform admin")
    CLUSTER = "cluster", _("Cluster")
    UNKNOWN = "unknown", _("Not known")


@dataclass(frozen=True, slots=True)
class Attempt:
    """The milestones of one attempt to start. `queued_at` is when it began to wait; of the others None is not reached
    or not known. `phase` is what it waits for now, or waited for when it was given up at `ended_at`; None where it
    started. `waits_for` is who must act for it to get quota."""

    queued_at: datetime
    reserved_at: datetime | None = None
    admitted_at: datetime | None = None
    ready_at: datetime | None = None
    ended_at: datetime | None = None
    phase: Phase | None = None
    waits_for: Actor = Actor.SCHEDULER


@dataclass(frozen=True, slots=True)
class Slice:
    """One piece of the bar, which goes from `whole[0]` to `whole[1]`. Where it `lasts`, its end is now."""

    phase: Phase
    actor: Actor
    start: datetime
    end: datetime
    lasts: bool
    whole: tuple[datetime, datetime]

    @property
    def length(self) -> timedelta:
        return self.end - self.start

    @property
    def x(self) -> str:
        return self._share(self.start - self.whole[0])

    @property
    def width(self) -> str:
        return self._share(self.length)

    def _share(self, part: timedelta) -> str:
        return percent(_microseconds(part), _microseconds(self.whole[1] - self.whole[0]))


_ACTORS: Final = {
    Phase.QUEUE: Actor.SCHEDULER,
    Phase.CHECKS: Actor.CLUSTER,
    Phase.PODS: Actor.CLUSTER,
    Phase.UNACCOUNTED: Actor.UNKNOWN,
}


def time_to_start(attempt: Attempt, now: datetime) -> list[Slice]:
    """The bar's slices from `queued_at` on, one after the other without holes; empty ones are left out."""
    ends = list(_ends(attempt, now))
    whole = (attempt.queued_at, max([attempt.queued_at, *(end for _phase, _actor, end, _lasts in ends)]))
    start, slices = attempt.queued_at, []
    for phase, actor, told, lasts in ends:
        end = max(start, told)  # clocks differ: no phase ends before it begins
        slices.append(Slice(phase, actor, start, end, lasts, whole))
        start = end
    return [each for each in slices if each.length]


def by_actor(slices: Iterable[Slice]) -> dict[Actor, timedelta]:
    """How long each had to act, in the order of the bar."""
    total: dict[Actor, timedelta] = {}
    for each in slices:
        total[each.actor] = total.get(each.actor, timedelta()) + each.length
    return total


def _ends(attempt: Attempt, now: datetime) -> Iterator[tuple[Phase, Actor, datetime, bool]]:
    """When each phase ended, and whether that is only now. One whose end is missing cannot be told from the next: both
    are unaccounted for. What comes after the last known milestone is not part of the start."""
    milestones = {Phase.QUEUE: attempt.reserved_at, Phase.CHECKS: attempt.admitted_at, Phase.PODS: attempt.ready_at}
    is_missing = False
    for phase, milestone in milestones.items():
        is_last = phase is attempt.phase
        lasts = is_last and attempt.ended_at is None
        end = (attempt.ended_at or now) if is_last else milestone
        if end is not None:
            told = Phase.UNACCOUNTED if is_missing else phase
            actor = attempt.waits_for if lasts and told is Phase.QUEUE else _ACTORS[told]
            yield told, actor, end, lasts
        if is_last:
            return
        is_missing = end is None


def _microseconds(length: timedelta) -> int:
    return length // timedelta(microseconds=1)
