"""The holds of quota of one workload, newest first, read with one question."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, Subquery

from jobs.models import Span, Workload
from scheduling import names

_NAMES = dict(Span.End.choices)
_HOLD = (
    "pk", "cluster_queue", "reserved_at", "admitted_at", "evicted_at", "released_after", "released_before", "end",
)  # fmt: skip
_AMOUNT = ("flavor", "resource", "amount", "valid_to")


@dataclass(frozen=True, slots=True)
class HeldAmount:
    """Of one (flavor, resource), in smallest units; `until` is when it changed, None for the last one."""

    flavor: str
    resource: str
    amount: int
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Held:
    """One hold. It was released between `released_after` and `released_before`, both None while it lasts."""

    cluster_queue: str
    reserved_at: datetime
    admitted_at: datetime | None
    evicted_at: datetime | None
    released_after: datetime | None
    released_before: datetime | None
    end: str
    amounts: list[HeldAmount] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        return self.released_before is None

    @property
    def is_certain(self) -> bool:
        """Whether its end is one instant."""
        return self.released_after == self.released_before

    @property
    def ended_by(self) -> str:
        return str(_NAMES.get(self.end, self.end))


@dataclass(frozen=True, slots=True)
class History:
    """The newest holds, and how many there were in all."""

    holds: Sequence[Held]
    total: int

    @property
    def latest(self) -> Held | None:
        return self.holds[0] if self.holds else None


def history_of(workload: Workload, most: int) -> History:
    """The newest holds of the workload, of each the accelerators first."""
    of_it = Span.objects.filter(workload=workload)
    total = of_it.order_by().values("workload").annotate(total=Count("pk")).values("total")
    newest = Span.objects.filter(pk__in=of_it.order_by("-reserved_at").values("pk")[:most])
    ordered = newest.annotate(total=Subquery(total)).order_by(
        "-reserved_at", "usages__flavor", "usages__resource", "usages__valid_from"
    )
    found: dict[int, Held] = {}
    count = 0
    for row in ordered.values_list(*_HOLD, *(f"usages__{column}" for column in _AMOUNT), "total"):
        hold, amount, count = row[: len(_HOLD)], row[len(_HOLD) : -1], row[-1]
        held = found.setdefault(hold[0], Held(*hold[1:]))
        if amount[0] is not None:
            held.amounts.append(HeldAmount(*amount))
    for held in found.values():
        held.amounts.sort(key=lambda amount: not names.is_accelerator(amount.resource))
    return History(list(found.values()), count)
