"""What each eviction cost, from the hold that it ended: written beside it, the same whenever it is made again."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from jobs.lost_work import Basis, Checkpoints, Held, Loss, Work, gpu_seconds, loss
from jobs.models import Eviction, SpanUsage
from scheduling import names
from scheduling.quantities import saturate

_COLUMNS: Final = ("basis", "gpus", "lost_low", "lost_expected", "lost_high", "stopping", "by_flavor", "flavor")


def write_losses(evictions: Iterable[Eviction]) -> int:
    """Of evictions with the span that each ended; returns how many differed. Use inside `exclusive(cluster)`."""
    ended = [each for each in evictions if each.span is not None]
    flavors = _held([each.span_id for each in ended])
    changed = 0
    for eviction in ended:
        before = _values(eviction)
        _price(eviction, eviction.span, flavors.get(eviction.span_id, {}))
        if _values(eviction) != before:
            eviction.save(update_fields=_COLUMNS)
            changed += 1
    return changed


def write_unseen_loss(eviction: Eviction, ran: timedelta, gpus: int) -> None:
    """Of an eviction whose hold nobody saw: it had run for that long at most, since Kueue counts the time of stopping,
    too. What it held is what it asks for."""
    start = eviction.decided_before - ran
    found = loss(Work(eviction.work), [Held(gpus, start, None)], start, eviction.decided_before, _known(eviction))
    eviction.basis, eviction.gpus = found.basis, gpus
    eviction.lost_low, eviction.lost_expected, eviction.lost_high = found.low, found.expected, found.high


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


def _held(span_ids: Iterable[int | None]) -> dict[int | None, dict[str, list[Held]]]:
    """Accelerators by span and flavor; several kinds of one flavor (MIG slices) count together."""
    found: dict[int | None, dict[str, list[Held]]] = defaultdict(lambda: defaultdict(list))
    usages = SpanUsage.objects.filter(span_id__in=set(span_ids)).order_by("pk")
    for span_id, flavor, resource, amount, start, end in usages.values_list(
        "span_id", "flavor", "resource", "amount", "valid_from", "valid_to"
    ):
        if names.is_accelerator(resource):
            found[span_id][flavor].append(Held(amount, start, end))
    return found


def _price(eviction: Eviction, span: Any, flavors: Mapping[str, list[Held]]) -> None:
    losses = {flavor: _loss(eviction, span, held) for flavor, held in flavors.items()}
    eviction.basis = _loss(eviction, span, ()).basis
    eviction.lost_low = sum(each.low for each in losses.values())
    eviction.lost_expected = sum(each.expected for each in losses.values())
    eviction.lost_high = sum(each.high for each in losses.values())
    gpus = {flavor: _gpus_at(held, eviction.decided_before) for flavor, held in flavors.items()}
    eviction.gpus = saturate(sum(gpus.values()))
    stopping = {flavor: _stopping(eviction, span, held) for flavor, held in flavors.items()}
    eviction.stopping = None if span.released_before is None else sum(stopping.values())
    eviction.by_flavor = {
        flavor: [gpus[flavor], each.low, each.expected, each.high, stopping[flavor]] for flavor, each in losses.items()
    }
    eviction.flavor = only_flavor(eviction.by_flavor)


def only_flavor(by_flavor: Mapping[str, Any]) -> str | None:
    """Empty where there is none, None where there are several."""
    return next(iter(by_flavor), "") if len(by_flavor) < 2 else None


def _loss(eviction: Eviction, span: Any, held: Iterable[Held]) -> Loss:
    """Where the decision was not seen, it lies between that of its earliest and that of its latest moment."""
    known, work, held = _known(eviction), Work(eviction.work), list(held)
    latest = loss(work, held, span.admitted_at, eviction.decided_before, known)
    if eviction.observed:
        return latest
    earliest = loss(work, held, span.admitted_at, eviction.decided_after, known)
    expected = (earliest.expected + latest.expected) // 2
    return Loss(latest.basis, earliest.low, expected, latest.high)


def _gpus_at(held: Iterable[Held], moment: datetime) -> int:
    return sum(each.gpus for each in held if each.start <= moment and (each.end is None or each.end > moment))


def _stopping(eviction: Eviction, span: Any, held: Iterable[Held]) -> int:
    """What was held from the decision on, at most."""
    released = span.released_before or eviction.decided_before
    return gpu_seconds(held, eviction.decided_before if eviction.observed else released, released)
