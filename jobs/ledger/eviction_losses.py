"""What each eviction cost, from the hold that it ended: written beside it, the same whenever it is made again."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from jobs.ledger.late import Change, reopen
from jobs.models import Eviction, SpanUsage
from jobs.rules.lost_work import Basis, Checkpoints, Held, Loss, Work, gpu_seconds, loss, lost_since
from scheduling import names
from scheduling.objects import FlavorResource
from scheduling.quantities import saturate

_COLUMNS: Final = (
    "basis", "gpus", "lost_low", "lost_expected", "lost_high", "lost_since", "stopping", "by_flavor", "flavor",
)  # fmt: skip
_MOMENT: Final = timedelta(microseconds=1)

Holds: TypeAlias = Mapping[FlavorResource, Collection[Held]]
"""The accelerators that one span held."""


def write_losses(evictions: Iterable[Eviction]) -> int:
    """Of evictions with the span that each ended, if it was seen; opens again the hours whose losses differ. Returns
    how many evictions differed. Use inside `exclusive(cluster)`."""
    evictions = list(evictions)
    holds = held_by_span(each.span_id for each in evictions)
    changed, hours = 0, list[Change]()
    for eviction in evictions:
        before, since = _values(eviction), eviction.lost_since
        if eviction.span is None:
            _price_unseen(eviction)
        else:
            _price(eviction, eviction.span, holds.get(eviction.span_id, {}))
        if _values(eviction) != before:
            eviction.save(update_fields=_COLUMNS)
            changed += 1
            hours += [(each, eviction.decided_before) for each in (since, eviction.lost_since) if each is not None]
    if hours:
        reopen(evictions[0].cluster, hours)
    return changed


def hours_of_loss(eviction: Eviction) -> Change:
    """From when to when it counts in hours: while the work was done; if its cost is not known, when it was decided."""
    return eviction.lost_since or eviction.decided_before, eviction.decided_before + _MOMENT


def write_unseen_loss(eviction: Eviction, ran: timedelta, gpus: int) -> None:
    """Of an eviction whose hold nobody saw: it had run for that long at most, since Kueue counts the time of stopping,
    too. What it held is what it asks for."""
    start = eviction.decided_before - ran
    found = loss(Work(eviction.work), [Held(gpus, start, None)], start, eviction.decided_before, _known(eviction))
    eviction.basis, eviction.gpus = found.basis, gpus
    eviction.lost_low, eviction.lost_expected, eviction.lost_high = found.low, found.expected, found.high
    _place(eviction)


def _price_unseen(eviction: Eviction) -> None:
    """As it was, unless an event has dated it and work was saved within what is lost: that is what is lost since."""
    _place(eviction)
    saved, since = eviction.checkpoint_at, eviction.lost_since
    if eviction.is_dated and saved is not None and since is not None and saved >= since:
        write_unseen_loss(eviction, eviction.decided_before - saved, eviction.gpus)


def _place(eviction: Eviction) -> None:
    """Of what nobody saw it is known how much was lost, and that it was just before."""
    length = -(-eviction.lost_high // eviction.gpus) if eviction.lost_high else None
    eviction.lost_since = None if length is None else eviction.decided_before - timedelta(seconds=length)


def run_of_unseen_loss(eviction: Eviction) -> timedelta | None:
    """The run that such a loss was made of, None where the loss does not tell it."""
    lost, interval = eviction.lost_high, eviction.checkpoint_seconds
    is_whole = eviction.basis == Basis.WHOLE or (
        eviction.basis == Basis.EXPECTED and lost is not None and lost < eviction.gpus * (interval or 0)
    )
    return timedelta(seconds=lost // eviction.gpus) if is_whole and lost and eviction.gpus else None


def _known(eviction: Eviction) -> Checkpoints:
    interval = eviction.checkpoint_seconds
    return Checkpoints(None if interval is None else timedelta(seconds=interval), eviction.checkpoint_at)


def _values(eviction: Eviction) -> list[Any]:
    return [getattr(eviction, name) for name in _COLUMNS]


def held_by_span(span_ids: Iterable[int | None]) -> dict[int | None, Holds]:
    """The accelerators that these spans held."""
    found: dict[int | None, dict[FlavorResource, list[Held]]] = defaultdict(lambda: defaultdict(list))
    usages = SpanUsage.objects.filter(span_id__in={pk for pk in span_ids if pk is not None}).order_by("pk")
    for span_id, flavor, resource, amount, start, end in usages.values_list(
        "span_id", "flavor", "resource", "amount", "valid_from", "valid_to"
    ):
        if names.is_accelerator(resource):
            found[span_id][flavor, resource].append(Held(amount, start, end))
    return dict(found)


def _price(eviction: Eviction, span: Any, holds: Holds) -> None:
    parts: dict[str, list[int]] = {}
    for (flavor, _), held in holds.items():  # several kinds of one flavor (MIG slices) count together
        part = loss_of(eviction, span, held)
        gpus, stopping = _gpus_at(held, _decided(eviction, span)[1]), _stopping(eviction, span, held)
        figures = (gpus, part.low, part.expected, part.high, stopping)
        parts[flavor] = [a + b for a, b in zip(parts.get(flavor, [0] * 5), figures, strict=True)]
    gpus, low, expected, high, stopping = (sum(each) for each in zip([0] * 5, *parts.values(), strict=True))
    eviction.basis = loss_of(eviction, span, ()).basis
    eviction.gpus = saturate(gpus)
    eviction.lost_low, eviction.lost_expected, eviction.lost_high = low, expected, high
    eviction.lost_since = _lost_since(eviction, span) if high else None
    eviction.stopping = None if span.released_before is None else stopping
    eviction.by_flavor = parts
    eviction.flavor = only_flavor(parts)


def _lost_since(eviction: Eviction, span: Any) -> datetime:
    return lost_since(span.admitted_at, _decided(eviction, span)[0], _known(eviction))


def _decided(eviction: Eviction, span: Any) -> tuple[datetime, datetime]:
    """Between which moments. A clock that runs ahead dates it after the quota came back: then no work was done."""
    last = span.released_before or eviction.decided_before
    return min(eviction.decided_after, last), min(eviction.decided_before, last)


def only_flavor(by_flavor: Mapping[str, Any]) -> str | None:
    """Empty where there is none, None where there are several."""
    return next(iter(by_flavor), "") if len(by_flavor) < 2 else None


def loss_of(eviction: Eviction, span: Any, held: Iterable[Held]) -> Loss:
    """Of what the span held. Where the decision was not seen, it lies between that of its earliest and that of its
    latest moment."""
    known, work, held = _known(eviction), Work(eviction.work), list(held)
    first, last = _decided(eviction, span)
    latest = loss(work, held, span.admitted_at, last, known)
    if eviction.observed:
        return latest
    earliest = loss(work, held, span.admitted_at, first, known)
    expected = (earliest.expected + latest.expected) // 2
    return Loss(latest.basis, earliest.low, expected, max(earliest.high, latest.high))


def _gpus_at(held: Iterable[Held], moment: datetime) -> int:
    return sum(each.gpus for each in held if each.start <= moment and (each.end is None or each.end > moment))


def _stopping(eviction: Eviction, span: Any, held: Iterable[Held]) -> int:
    """What was held from the decision on, at most."""
    released = span.released_before or eviction.decided_before
    return gpu_seconds(held, eviction.decided_before if eviction.observed else released, released)
