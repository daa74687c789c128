"""What interrupted a workload while it kept its quota, from what became of its pods. Pure.

Pods that were hit at about the same time are one interruption: a job that loses one pod is mostly restarted whole. A
pod that came in another's stead and is hit, too, is the next one. The end of a job is no interruption of it: what is
hit shortly before the quota comes back, and not replaced, ended with the job.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import models
from django.utils.translation import gettext_lazy as _

TOGETHER: Final = timedelta(minutes=5)
"""Pods of one generation that are hit within so long are hit by the same."""

WHOLE_SECONDS: Final = timedelta(seconds=2)
"""Pods get their nodes in whole seconds, and a deletion is dated when it is seen: so much may look too early."""

SETTLES: Final = timedelta(minutes=2)
"""So long after its last pods a job may take until its quota comes back."""


class End(models.TextChoices):
    SUCCEEDED = "succeeded", _("Ended well")
    FAILED = "failed", _("Failed")
    DELETED = "deleted", _("Deleted")
    UNSEEN = "unseen", _("Unseen")


class Cause(models.TextChoices):
    NODE = "node", _("The node failed")
    FAILED = "failed", _("A pod failed by itself")
    DELETED = "deleted", _("Restarted: by the job's operator or a person")
    UNKNOWN = "unknown", _("Cause unknown")


@dataclass(frozen=True, slots=True)
class Run:
    """A pod on its node, as `PodRun` keeps it."""

    node: str
    bound_at: datetime
    stop_at: datetime | None
    ended_after: datetime | None
    ended_before: datetime | None
    end: str
    reason: str
    exit_code: int | None
    node_failed: bool

    @property
    def hit(self) -> tuple[datetime, datetime] | None:
        """Between when and when it stopped working; None while it works, and if it ended well."""
        if self.end == End.SUCCEEDED:
            return None
        if self.stop_at and not (self.ended_before and self.ended_before < self.stop_at):
            return self.stop_at, self.stop_at
        return (self.ended_after, self.ended_before) if self.ended_after and self.ended_before else None


@dataclass(frozen=True, slots=True)
class Hold:
    """A span by its key; `end` is when its pods had to go, at the earliest: None while it goes on."""

    pk: int
    start: datetime
    end: datetime | None


@dataclass(frozen=True, slots=True)
class Broken:
    """One interruption of the span `span`, as `Interruption` keeps it."""

    span: int
    after: datetime
    before: datetime
    cause: str
    reason: str
    exit_code: int | None
    pods: int
    nodes: tuple[str, ...]
    replaced_at: datetime | None


def interruptions(runs: Iterable[Run], holds: Sequence[Hold]) -> list[Broken]:
    """Of one workload, in order. `holds` in order, too; a pod belongs to the last one begun before it got its node."""
    by_hold: dict[Hold, list[Run]] = {hold: [] for hold in holds}
    for run in runs:
        begun = [hold for hold in holds if hold.start <= run.bound_at]
        if begun:
            by_hold[begun[-1]].append(run)
    return [broken for hold, of_it in by_hold.items() for broken in _of_hold(hold, of_it)]


def _of_hold(hold: Hold, runs: list[Run]) -> Iterator[Broken]:
    for group in _groups(runs, hold.end):
        broken = _broken(hold, group, runs)
        if broken.replaced_at or hold.end is None or hold.end - broken.before >= SETTLES:
            yield broken


Hit = tuple[datetime, datetime, Run]


def _groups(runs: Iterable[Run], end: datetime | None) -> list[list[Hit]]:
    """The pods that were surely hit before the end, with between when and when, those hit together in one list."""
    hits = [(*run.hit, run) for run in runs if run.hit]
    groups: list[list[Hit]] = []
    for hit in sorted((hit for hit in hits if end is None or hit[1] < end), key=lambda hit: hit[:2]):
        first = groups[-1][0] if groups else None
        if first and hit[2].bound_at <= first[1] and hit[0] - first[1] <= TOGETHER:
            groups[-1].append(hit)
        else:
            groups.append([hit])
    return groups


def _broken(hold: Hold, group: list[Hit], runs: Iterable[Run]) -> Broken:
    after, before, _first = group[0]
    hit = [run for _after, _before, run in group]
    cause, to_blame = _cause(hit)
    later = [run.bound_at for run in runs if run.bound_at >= after - WHOLE_SECONDS and run not in hit]
    return Broken(
        span=hold.pk,
        after=after,
        before=before,
        cause=cause,
        reason=next((run.reason for run in to_blame if run.reason), ""),
        exit_code=next((run.exit_code for run in to_blame if run.exit_code is not None), None),
        pods=len(hit),
        nodes=tuple(sorted({run.node for run in to_blame})),
        replaced_at=min(later, default=None),
    )


def _cause(hit: list[Run]) -> tuple[Cause, list[Run]]:
    """The cause, and the pods that tell it: a failed node takes pods of others along, a failed pod is not deleted."""
    on_failed_nodes = [run for run in hit if run.node_failed]
    if on_failed_nodes:
        return Cause.NODE, on_failed_nodes
    failed = [run for run in hit if run.end == End.FAILED]
    if failed:
        return Cause.FAILED, failed
    is_told = any(run.stop_at or run.end == End.DELETED for run in hit)
    return (Cause.DELETED if is_told else Cause.UNKNOWN), hit
