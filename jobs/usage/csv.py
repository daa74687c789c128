"""A team's use of GPUs over time as CSV: the rows of its usage page's tables. Empty is what is not known.

Amounts are in GPU-seconds; divided by `seconds_counted` they are the mean number of GPUs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from jobs.lists.csv_text import Cell, csv_text
from jobs.usage.chart import Bucket, ClusterUsage, Usage

_SECOND: Final = 10**6


def csv_lines(sections: Iterable[ClusterUsage]) -> Iterator[str]:
    """The text, one GPU type of a queue after the other, the oldest stretch of each first."""
    yield csv_text([HEADER])
    for section in sections:
        for usage in section.usages:
            yield csv_text([cell(usage, bucket) for cell in _CELLS.values()] for bucket in usage.rows)


def _seconds(micros: int) -> int:
    """Halves go up."""
    return (micros + _SECOND // 2) // _SECOND


def _held(name: str) -> Callable[[Usage, Bucket], Cell]:
    """What was held or waited for, where that was seen."""
    return lambda usage, bucket: _seconds(getattr(bucket, name)) if usage.flavor and bucket.is_known else None


def _lost(name: str) -> Callable[[Usage, Bucket], Cell]:
    def cell(usage: Usage, bucket: Bucket) -> Cell:
        is_known = bucket.lost_high or (usage.flavor and bucket.is_known)
        return _seconds(getattr(bucket, name)) if is_known else None

    return cell


_CELLS: Final[Mapping[str, Callable[[Usage, Bucket], Cell]]] = {
    "from": lambda _, bucket: bucket.start,
    "to": lambda _, bucket: bucket.end,
    "cluster": lambda usage, _: usage.cluster.slug,
    "queue": lambda usage, _: usage.cluster_queue,
    "flavor": lambda usage, _: usage.flavor,
    "resource": lambda usage, _: usage.resource,
    "queue_is_shared": lambda usage, _: int(usage.is_shared),
    "own_gpu_seconds": _held("own"),
    "borrowed_gpu_seconds": _held("borrowed"),
    "guaranteed_gpu_seconds": _held("guaranteed"),
    "lent_gpu_seconds_at_least": _held("lent_low"),
    "lent_gpu_seconds_at_most": _held("lent_high"),
    "waiting_gpu_seconds": _held("waiting"),
    "lost_gpu_seconds": _lost("lost_expected"),
    "lost_gpu_seconds_at_least": _lost("lost_low"),
    "lost_gpu_seconds_at_most": _lost("lost_high"),
    "evictions_of_unknown_cost": lambda _, bucket: bucket.lost_unknown,
    "seconds_counted": lambda _, bucket: _seconds(bucket.counted),
    "seconds_not_seen": lambda _, bucket: _seconds(bucket.unknown),
}
HEADER: Final = tuple(_CELLS)
