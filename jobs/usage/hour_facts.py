"""What the ledger says of a cluster over a window, in the terms of `scheduling.hours`."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from jobs.models import Span, SpanUsage, Workload
from jobs.rules.dated_lines import lines_of, micros_until, pieces
from jobs.rules.waits import Hold, Over, paused_at, waits
from jobs.usage.lost_facts import LostFacts, accelerators
from portal.models import Gap
from scheduling.hour_rows import Claim, Era, Held, PerhapsHeld, Stretch, Waited, micros
from scheduling.hours import Facts
from scheduling.names import EVICTED, is_accelerator
from scheduling.parsing import parse_cluster_queue, parse_cohort
from teams.models import Cluster, NamespaceBinding, SpecVersion

Kind = SpecVersion.Kind


class HourFacts:
    """Of one cluster from `start` to before `end`. `sources` are those whose gaps leave something unseen."""

    def __init__(self, cluster: Cluster, start: datetime, end: datetime, sources: Iterable[str]) -> None:
        self.cluster, self.start, self.end, self.sources = cluster, start, end, sources
        self.window = Stretch(micros(start), micros(end))
        bindings = NamespaceBinding.objects.filter(self._in_force(), cluster=cluster)
        self.teams = lines_of(bindings.values_list("namespace", "valid_from", "valid_to", "team_id"))
        queues = self._specs(Kind.LOCAL_QUEUE).values_list("name", "valid_from", "valid_to", "spec")
        self.queues = lines_of((key, start, end, spec.get("clusterQueue", "")) for key, start, end, spec in queues)

    def read(self) -> Facts:
        held, perhaps = self._held()
        lost = LostFacts(self.cluster, self.start, self.end, self.teams, self.queues)
        return Facts(
            self._eras(),
            held,
            perhaps,
            list(self._waited()),
            list(self._claims()),
            self._gaps(),
            lost.known(),
            list(lost.unknown()),
        )

    def _in_force(self) -> Q:
        return Q(valid_from__lt=self.end) & (Q(valid_to__isnull=True) | Q(valid_to__gt=self.start))

    def _specs(self, kind: Kind) -> "QuerySet[SpecVersion]":
        return SpecVersion.objects.filter(self._in_force(), cluster=self.cluster, kind=kind, deleted=False)

    def _eras(self) -> list[Era]:
        queues, cohorts = (
            [
                (micros(start), micros_until(end), parse({"metadata": {"name": name, "uid": uid}, "spec": spec}))
                for name, uid, spec, start, end in self._specs(kind).values_list(
                    "name", "uid", "spec", "valid_from", "valid_to"
                )
            ]
            for kind, parse in ((Kind.CLUSTER_QUEUE, parse_cluster_queue), (Kind.COHORT, parse_cohort))
        )
        edges = sorted({time for start, end, _ in (*queues, *cohorts) for time in (start, end)} | {*self.window})
        return [
            Era(start, end, _standing(queues, start), _standing(cohorts, start))
            for start, end in zip(edges, edges[1:], strict=False)
            if start < self.window.end and end > self.window.start
        ]

    def _held(self) -> tuple[list[Held], list[PerhapsHeld]]:
        usages = SpanUsage.objects.filter(
            Q(span__released_before__isnull=True) | Q(span__released_before__gt=self.start),
            span__workload__cluster=self.cluster,
            span__reserved_at__lt=self.end,
        ).values_list(
            "span__cluster_queue", "flavor", "resource", "amount", "valid_from", "valid_to", "span__reserved_at",
            "span__released_after", "span__released_before", "span__workload__uid", "span__workload__namespace",
            "span_id",
        )  # fmt: skip
        held: list[Held] = []
        perhaps: list[PerhapsHeld] = []
        for queue, flavor, resource, *hold in usages.iterator():
            if is_accelerator(resource):
                self._take((queue, flavor, resource), hold, held, perhaps)
        return held, perhaps

    def _take(
        self, key: tuple[str, str, str], hold: Sequence[Any], held: list[Held], perhaps: list[PerhapsHeld]
    ) -> None:
        amount, start, end, reserved_at, after, before, uid, namespace, span = hold
        since, until = micros(start), min(micros_until(end), micros_until(after))
        name = f"{uid}/{span}"  # where the cluster's clock was set back, two spans of one workload may overlap
        for begin, stop, team in pieces(self.teams[namespace], self._within(since, until)):
            held.append(Held(*key, team, name, reserved_at, amount, begin, stop))
        if after and before and after < before and micros_until(end) > micros(after):
            perhaps.append(PerhapsHeld(*key, micros(after), micros(before)))

    def _waited(self) -> Iterator[Waited]:
        workloads = Workload.objects.not_over_by(self.start).filter(
            cluster=self.cluster, created_at__lt=self.end, gpus__gt=0
        )
        holds: dict[int, list[Hold]] = defaultdict(list)
        spans = Span.objects.filter(workload__in=workloads.values("pk")).order_by("reserved_at")
        values = spans.values_list("workload_id", "reserved_at", "released_after", "released_before")
        for pk, reserved_at, after, before in values:
            holds[pk].append((reserved_at, after, before))
        for workload in workloads.only(*_WAITING).iterator(chunk_size=500):
            over = Over(workload.finished_at, _paused_at(workload), workload.gone_after, workload.gone_before)
            for wait in waits(workload.created_at, holds[workload.pk], over):
                yield from self._waits_of(workload, micros(wait.start), micros(wait.end), wait.perhaps)

    def _waits_of(self, workload: Workload, start: int, end: int, perhaps: bool) -> Iterator[Waited]:
        queues = self.queues[f"{workload.namespace}/{workload.queue_name}"]
        wanted = accelerators(workload)
        for begin, stop, queue in pieces(queues, self._within(start, end)):
            for since, until, team in pieces(self.teams[workload.namespace], Stretch(begin, stop)):
                for resource, amount in wanted.items():
                    yield Waited(team, queue or "", resource, amount, since, until, perhaps)

    def _claims(self) -> Iterator[Claim]:
        for key, line in list(self.queues.items()):
            for start, end, queue in line:
                for since, until, team in pieces(self.teams[key.split("/")[0]], self._within(start, end)):
                    if team is not None:
                        yield Claim(team, queue, since, until)

    def _gaps(self) -> list[tuple[int, int]]:
        gaps = Gap.objects.filter(
            Q(end__isnull=True) | Q(end__gt=self.start),
            cluster=self.cluster.slug,
            source__in=self.sources,
            start__lt=self.end,
        )
        return [(micros(start), micros_until(end)) for start, end in gaps.values_list("start", "end")]

    def _within(self, start: int, end: int) -> Stretch:
        return Stretch(max(start, self.window.start), min(end, self.window.end))


_WAITING = (
    "namespace", "queue_name", "created_at", "finished_at", "gone_after", "gone_before", "pod_sets", "conditions",
    "status",
)  # fmt: skip


def _paused_at(workload: Workload) -> datetime | None:
    evicted = workload.condition(EVICTED)
    since = evicted.get("since")
    return paused_at(
        workload.created_at,
        is_paused=workload.status.get("deactivated", False),
        is_evicted=evicted.get("status"),
        evicted_at=datetime.fromisoformat(since) if since else None,
    )


def _standing(versions: Iterable[tuple[int, int, Any]], time: int) -> list[Any]:
    return [spec for start, end, spec in versions if start <= time < end]
