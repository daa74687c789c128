"""How a workload's time until it ran splits, by who had to act. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Phase(StrEnum):
    """What it waited for."""

    QUEUE = "queue"
    CHECKS = "checks"
    PODS = "pods"
    UNACCOUNTED = "unaccounted"


class Actor(StrEnum):
    """Who must act for it to go on."""

    SCHEDULER = "scheduler"
    CLUSTER = "cluster"
    OWNER = "owner"
    NOBODY_KNOWS = "unknown"


@dataclass(frozen=True, slots=True)
class Instants:
    """The attempt's milestones; None: not reached, or not known. `queued_at` is when it last began to wait."""

    queued_at: datetime
    reserved_at: datetime | None
    admitted_at: datetime | None
    ready_at: datetime | None
    ended_at: datetime | None
    needs_a_change: bool


@dataclass(frozen=True, slots=True)
class Stretch:
    """One phase. Without an `end` it lasts."""

    phase: Phase
    actor: Actor
    start: datetime
    end: datetime | None

    def length(self, now: datetime) -> timedelta:
        return max((self.end or max(now, self.start)) - self.start, timedelta())


def stretches(instants: Instants) -> list[Stretch]:
    """The phases of the attempt in order, empty ones left out."""
    return [stretch for stretch in _stretches(instants) if stretch.end is None or stretch.end > stretch.start]


def _stretches(at: Instants) -> Iterator[Stretch]:
    waiting_for = Actor.OWNER if at.needs_a_change and at.reserved_at is None else Actor.SCHEDULER
    reserved, admitted, ready = at.reserved_at, at.admitted_at, at.ready_at
    yield Stretch(Phase.QUEUE, waiting_for, at.queued_at, reserved or at.ended_at)
    if reserved is None:
        return
    if admitted is None:
        yield Stretch(Phase.CHECKS, Actor.CLUSTER, reserved, at.ended_at)
        return
    yield Stretch(Phase.CHECKS, Actor.CLUSTER, reserved, admitted)
    if ready is None and at.ended_at is not None:
        yield Stretch(Phase.UNACCOUNTED, Actor.NOBODY_KNOWS, admitted, at.ended_at)
    else:
        yield Stretch(Phase.PODS, Actor.CLUSTER, admitted, ready)
