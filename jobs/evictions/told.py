"""What lists, pages and files say of each eviction: for whom, what it cost, what became of the job, and loops."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, TypeAlias

from django.db.models import Count

from jobs.ledger.eviction_losses import run_of_unseen_loss
from jobs.lists.reach import Owner, Owners
from jobs.models import Eviction, EvictionLoop
from jobs.rules.loops import Decision, Loop
from jobs.sight import Sight
from jobs.words.evictions import TakenBy, label_of, loss_note, loss_text, taken_by

Unseen: TypeAlias = tuple[int, str, datetime, datetime]
"""A job, a reason, and the moments between which nobody saw how often it happened."""

_NOT_ASKED: Owners = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Told:
    """`ran` is how long it had been admitted, None where that was not seen; `resumed_at` when it was admitted again;
    `loop` what it is part of, if it is known to be; `owner` is None where no team owns the namespace or nobody asked.
    `together`: for how many unseen evictions of the job a collapsed row stands.
    """

    eviction: Eviction
    taken_by: TakenBy | None
    ran: timedelta | None
    resumed_at: datetime | None
    loop: Loop | None
    owner: Owner | None
    together: int = 1

    @property
    def label(self) -> str:
        return label_of(self.eviction)

    @property
    def loss(self) -> str:
        return loss_text(self.eviction)

    @property
    def loss_note(self) -> str:
        return loss_note(self.eviction)


def told(evictions: Iterable[Eviction], sight: Sight, owners: Owners = _NOT_ASKED) -> list[Told]:
    """In the order given; evictions as `eviction_list.with_objects` reads them."""
    listed: list[Any] = list(evictions)
    loops = EvictionLoop.objects.filter(workload__in={each.workload_id for each in listed}).by_workload()
    return [
        Told(
            each,
            taken_by(each, sight),
            _ran(each),
            each.resumed_at,
            _loop(each, loops.get(each.workload_id, ())),
            owners.get((each.cluster_id, each.namespace)),
        )
        for each in listed
    ]


def _loop(eviction: Eviction, loops: Iterable[Loop]) -> Loop | None:
    decision = Decision(eviction.decided_after, eviction.decided_before)
    return next((loop for loop in loops if loop.has(decision)), None)


def _ran(eviction: Eviction) -> timedelta | None:
    if eviction.span is None:
        return run_of_unseen_loss(eviction)
    admitted = eviction.span.admitted_at
    return eviction.decided_before - admitted if admitted and eviction.is_dated else None


def collapsed(rows: Iterable[Told]) -> Iterator[Told]:
    """Newest first, of each loop the latest eviction alone, whose count tells of the others; and one row, with their
    number, for all that a job suffered unseen for one reason between the same two moments."""
    listed = list(rows)
    numbers = _unseen_together(listed)
    told_of: set[object] = set()
    for row in listed:
        key: object = (row.eviction.workload_id, row.loop) if row.loop else _unseen(row.eviction)
        if key not in told_of:
            yield replace(row, together=numbers.get(_unseen(row.eviction), 1))
        if row.loop or key in numbers:
            told_of.add(key)


def _unseen_together(rows: Iterable[Told]) -> dict[Unseen, int]:
    """How many evictions nobody saw, by what tells them apart."""
    jobs = {row.eviction.workload_id for row in rows if not row.eviction.observed}
    if not jobs:
        return {}
    unseen = Eviction.objects.filter(workload__in=jobs, observed=False).order_by()
    counted = unseen.values_list("workload_id", "reason", "decided_after", "decided_before").annotate(Count("pk"))
    return {(job, reason, after, before): number for job, reason, after, before, number in counted}


def _unseen(eviction: Eviction) -> Unseen:
    return (eviction.workload_id, eviction.reason, eviction.decided_after, eviction.decided_before)
