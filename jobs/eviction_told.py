"""What lists, pages and files say of each eviction: for whom, what it cost, what became of the job, and loops."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from jobs.eviction_losses import run_of_unseen_loss
from jobs.eviction_words import TakenBy, label_of, loss_note, loss_text, taken_by
from jobs.loop_runs import loop_of, runs_of
from jobs.loops import Decision, Loop
from jobs.models import Eviction
from jobs.sight import Sight
from jobs.workload_list import Owner, Owners

_NOT_ASKED: Owners = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Told:
    """`ran` is how long it had been admitted, None where that was not seen; `resumed_at` when it was admitted again;
    `loop` what it is part of, if it is known to be; `owner` is None where no team owns the namespace or nobody asked.
    """

    eviction: Eviction
    taken_by: TakenBy | None
    ran: timedelta | None
    resumed_at: datetime | None
    loop: Loop | None
    owner: Owner | None

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
    runs = runs_of(Eviction.objects.filter(workload__in={each.workload_id for each in listed}))
    return [
        Told(
            each,
            taken_by(each, sight),
            _ran(each),
            each.resumed_at,
            loop_of(_decision(each), runs.get(each.workload_id, ())),
            owners.get((each.cluster_id, each.namespace)),
        )
        for each in listed
    ]


def _decision(eviction: Eviction) -> Decision:
    return Decision(eviction.decided_after, eviction.decided_before)


def _ran(eviction: Eviction) -> timedelta | None:
    if eviction.span is None:
        return run_of_unseen_loss(eviction)
    admitted = eviction.span.admitted_at
    return eviction.decided_before - admitted if admitted and eviction.observed else None


def collapsed(rows: Iterable[Told]) -> Iterator[Told]:
    """Newest first, of each loop the latest eviction alone: its count tells of the others."""
    told_of: set[tuple[int, Loop]] = set()
    for row in rows:
        if row.loop is not None:
            key = (row.eviction.workload_id, row.loop)
            if key in told_of:
                continue
            told_of.add(key)
        yield row
