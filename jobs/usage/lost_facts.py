"""What evictions threw away over a window, in the terms of `scheduling.lost_time`: the figures that stand beside each
eviction, and when the work was done. Work from before the window of all hours is in none of them.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from django.db.models import QuerySet

from jobs.ledger.eviction_losses import held_by_span, loss_of
from jobs.models import Eviction, Workload
from jobs.rules.dated_lines import Line, micros_until, pieces
from jobs.rules.lost_work import Basis
from scheduling.hour_rows import Stretch, Team, micros
from scheduling.lost_time import Figures, Lost, LostUnknown, LostWork
from scheduling.names import is_accelerator
from teams.models import Cluster

_MICROSECONDS: Final = 10**6  # of a second
_READ: Final = (
    "namespace", "observed", "decided_after", "decided_before", "work", "checkpoint_seconds", "checkpoint_at", "basis",
    "lost_low", "lost_expected", "lost_high", "lost_since", "span__cluster_queue", "span__admitted_at",
    "workload__queue_name", "workload__pod_sets",
)  # fmt: skip


class LostFacts:
    """Of one cluster from `start` to before `end`. `teams` by namespace, ClusterQueues by LocalQueue."""

    def __init__(
        self,
        cluster: Cluster,
        start: datetime,
        end: datetime,
        teams: Mapping[str, Line[int]],
        queues: Mapping[str, Line[str]],
    ) -> None:
        self.window = Stretch(micros(start), micros(end))
        self.teams, self.queues = teams, queues
        self.evictions = Eviction.objects.filter(cluster=cluster, decided_before__gte=start)
        self.until = end

    def known(self) -> Iterator[Lost]:
        found = list(_read(self.evictions.filter(lost_since__lt=self.until)))
        holds = held_by_span(each.span_id for each in found)
        for eviction in found:
            if eviction.span is None:
                yield from self._unseen(eviction)
                continue
            for (flavor, resource), held in holds.get(eviction.span_id, {}).items():
                loss = loss_of(eviction, eviction.span, held)
                runs = [(each.gpus, micros(each.start), micros_until(each.end)) for each in held]
                work = _work(eviction, runs, (loss.low, loss.expected, loss.high))
                for start, end, team in pieces(self.teams.get(eviction.namespace, []), self._within(work)):
                    yield Lost(eviction.span.cluster_queue, flavor, resource, team, start, end, work)

    def unknown(self) -> Iterator[LostUnknown]:
        for eviction in _read(self.evictions.filter(lost_expected__isnull=True, decided_before__lt=self.until)):
            at = micros(eviction.decided_before)
            for _, _, queue, team in self._places(eviction, Stretch(at, at + 1)):
                for resource in accelerators(eviction.workload):
                    yield LostUnknown(queue, resource, team, at)

    def _unseen(self, eviction: Eviction) -> Iterator[Lost]:
        for resource, amount, figures in _by_resource(eviction):
            since = micros(eviction.lost_since) if eviction.lost_since else 0
            work = _work(eviction, [(amount, since, micros(eviction.decided_before))], figures)
            for start, end, queue, team in self._places(eviction, self._within(work)):
                yield Lost(queue, "", resource, team, start, end, work)

    def _places(self, eviction: Eviction, stretch: Stretch) -> Iterator[tuple[int, int, str, Team]]:
        """Where its workload wanted to go then, and whose it was."""
        queues = self.queues.get(f"{eviction.namespace}/{eviction.workload.queue_name}", [])
        for start, end, queue in pieces(queues, stretch):
            for begin, stop, team in pieces(self.teams.get(eviction.namespace, []), Stretch(start, end)):
                yield begin, stop, queue or "", team

    def _within(self, work: LostWork) -> Stretch:
        return Stretch(max(work.start, self.window.start), min(work.end, self.window.end))


def accelerators(workload: Workload) -> dict[str, int]:
    """What all its pods ask for, by resource."""
    found: dict[str, int] = defaultdict(int)
    for pod_set in workload.pod_sets:
        for resource, amount in pod_set["requests"].items():
            if is_accelerator(resource):
                found[resource] += pod_set["count"] * amount
    return found


def _read(evictions: "QuerySet[Eviction]") -> Iterator[Eviction]:
    return evictions.select_related("workload", "span").only(*_READ).iterator(chunk_size=500)


def _work(eviction: Eviction, held: Sequence[tuple[int, int, int]], figures: Figures) -> LostWork:
    since, decided = eviction.lost_since or eviction.decided_before, eviction.decided_before
    low, expected, high = (_MICROSECONDS * each for each in figures)
    return LostWork(micros(since), micros(decided), held, (low, expected, high), eviction.basis != Basis.EXPECTED)


def _by_resource(eviction: Eviction) -> Iterator[tuple[str, int, Figures]]:
    """What it asks for, and its part of the loss: the parts add up."""
    wanted = accelerators(eviction.workload)
    whole, before = sum(wanted.values()), 0
    for resource, amount in sorted(wanted.items()):
        after = before + amount
        low, expected, high = (
            (each or 0) * after // whole - (each or 0) * before // whole
            for each in (eviction.lost_low, eviction.lost_expected, eviction.lost_high)
        )
        yield resource, amount, (low, expected, high)
        before = after
