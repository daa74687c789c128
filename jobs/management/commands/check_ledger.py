"""`manage.py check_ledger`: dated rows are contiguous, spans make sense, what is derived equals the ledger."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from django.core.management.base import BaseCommand
from django.db import models
from django.db.models import F

from jobs.ledger import now as caches
from jobs.ledger.eviction_loops import renew_all_loops
from jobs.ledger.eviction_losses import write_losses
from jobs.ledger.interruption_rows import renew_all
from jobs.models import Eviction, Span
from portal.write_path import exclusive
from teams.models import Cluster, NamespaceBinding, NodeCapacity, QuotaLine, SpecVersion

_LINES: list[tuple[Any, tuple[str, ...], bool]] = [
    (SpecVersion, ("cluster_id", "kind", "name"), True),
    (QuotaLine, ("cluster_id", "owner_kind", "owner", "flavor", "resource"), False),
    (NamespaceBinding, ("cluster_id", "namespace"), False),
    (NodeCapacity, ("cluster_id", "instance_type"), True),
]


class Command(BaseCommand):
    help = "Check the ledger; prints a line per fault and exits with 1 if there is one."

    def handle(self, *args: Any, **options: Any) -> None:
        faults = [*_dated_rows(), *_spans(), *_derived_faults()]
        for fault in faults:
            self.stdout.write(fault)
        self.stdout.write(f"{len(faults)} faults")
        if faults:
            raise SystemExit(1)


def _dated_rows() -> Iterator[str]:
    for model, key, is_gapless in _LINES:
        rows = model.objects.order_by(*key, "valid_from").values_list(*key, "valid_from", "valid_to")
        for earlier, later in pairwise(rows.iterator()):
            if earlier[:-2] == later[:-2]:
                yield from _seam(model, earlier, later, is_gapless)


def _seam(
    model: type[models.Model], earlier: tuple[Any, ...], later: tuple[Any, ...], is_gapless: bool
) -> Iterator[str]:
    end, start = earlier[-1], later[-2]
    if end is None or end > start:
        yield f"{model.__name__} {earlier[:-2]}: the version of {earlier[-2]} overlaps the next"
    elif is_gapless and end < start:
        yield f"{model.__name__} {earlier[:-2]}: nothing holds from {end} to {start}"


def _spans() -> Iterator[str]:
    wrong: list[tuple[str, models.QuerySet[Any]]] = [
        ("released before it was reserved", Span.objects.filter(released_before__lt=F("reserved_at"))),
        (
            "open although its workload is gone",
            Span.objects.filter(released_before__isnull=True, workload__gone_before__isnull=False),
        ),
        (
            "open although its workload finished",
            Span.objects.filter(released_before__isnull=True, workload__finished_at__isnull=False),
        ),
        ("with a usage that ends before it starts", Span.objects.filter(usages__valid_to__lt=F("usages__valid_from"))),
        ("with a usage from before it was reserved", Span.objects.filter(usages__valid_from__lt=F("reserved_at"))),
    ]
    for what, spans in wrong:
        for pk in spans.values_list("pk", flat=True)[:20]:
            yield f"Span {pk}: {what}"


def _derived_faults() -> Iterator[str]:
    for renew, what in _DERIVED.items():
        for cluster in Cluster.objects.all():
            with exclusive(cluster.slug):
                differing = renew(cluster)
            if differing:
                yield f"Cluster {cluster.slug}: {differing} {what}; they were mended"


def _losses(cluster: Cluster) -> int:
    return write_losses(Eviction.objects.filter(cluster=cluster).select_related("span"))


_DERIVED: Final[Mapping[Callable[[Cluster], int], str]] = {
    caches.refresh: "cached rows differed from the ledger",
    _losses: "evictions cost something else",
    renew_all_loops: "workloads were in other loops",
    renew_all: "workloads were interrupted otherwise",
}
"""What brings rows up to those that they are made of and says how many differed."""
