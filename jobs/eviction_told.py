"""What lists, pages and files say of each eviction: for whom, what it cost, what became of the job, and loops."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from jobs.attention import LOOP_FROM, LOOP_WITHIN
from jobs.eviction_words import TakenBy, label_of, loss_note, loss_text, taken_by
from jobs.models import Eviction
from jobs.sight import Sight


@dataclass(frozen=True, slots=True)
class Told:
    """`ran` is how long it had been admitted, None where that was not seen; `resumed_at` when it was admitted again;
    `loop` how often it was evicted within an hour of this, 0 if that is no loop."""

    eviction: Eviction
    taken_by: TakenBy | None
    ran: timedelta | None
    resumed_at: datetime | None
    loop: int

    @property
    def label(self) -> str:
        return label_of(self.eviction)

    @property
    def loss(self) -> str:
        return loss_text(self.eviction)

    @property
    def loss_note(self) -> str:
        return loss_note(self.eviction)


def told(evictions: Iterable[Eviction], sight: Sight) -> list[Told]:
    """In the order given; evictions as `eviction_list.with_objects` reads them."""
    listed: list[Any] = list(evictions)
    times = _decisions(listed)
    return [
        Told(each, taken_by(each, sight), _ran(each), each.resumed_at, loop_size(times[each.workload_id], each))
        for each in listed
    ]


def _ran(eviction: Eviction) -> timedelta | None:
    admitted = eviction.span.admitted_at if eviction.span else None
    return eviction.decided_before - admitted if admitted and eviction.observed else None


def _decisions(evictions: Sequence[Eviction]) -> dict[int, list[datetime]]:
    """When the workloads were evicted around these times."""
    found: dict[int, list[datetime]] = defaultdict(list)
    if evictions:
        start = min(each.decided_before for each in evictions) - LOOP_WITHIN
        end = max(each.decided_before for each in evictions) + LOOP_WITHIN
        around = Eviction.objects.filter(
            workload_id__in={each.workload_id for each in evictions}, decided_before__range=(start, end)
        )
        for workload_id, decided in around.order_by("decided_before").values_list("workload_id", "decided_before"):
            found[workload_id].append(decided)
    return found


def loop_size(decisions: Sequence[datetime], eviction: Eviction) -> int:
    """`decisions` in order: how many of them follow each other within an hour and hold this one."""
    place = bisect_left(decisions, eviction.decided_before)
    first = last = min(place, len(decisions) - 1)
    while first > 0 and decisions[first] - decisions[first - 1] <= LOOP_WITHIN:
        first -= 1
    while last + 1 < len(decisions) and decisions[last + 1] - decisions[last] <= LOOP_WITHIN:
        last += 1
    size = last - first + 1
    return size if size >= LOOP_FROM else 0


def collapsed(rows: Iterable[Told]) -> Iterator[Told]:
    """Newest first, of each loop the latest eviction alone: its count tells of the others."""
    latest: dict[int, datetime] = {}
    for row in rows:
        workload, decided = row.eviction.workload_id, row.eviction.decided_before
        after = latest.get(workload)
        if row.loop:
            latest[workload] = decided
        if not row.loop or after is None or after - decided > LOOP_WITHIN:
            yield row
