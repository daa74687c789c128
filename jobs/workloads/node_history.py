"""Which jobs ran on a node between two times, as far as a person may see them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import F, Q, QuerySet
from django.utils.timezone import get_current_timezone, localtime
from django.utils.translation import gettext

from jobs.lists.called import BeginsWith
from jobs.lists.reach import Reach, in_namespaces
from jobs.models import PodRun, Workload
from teams.models import Cluster

_USUAL: Final = timedelta(days=7)
_LONGEST_NODE: Final = 253


@dataclass(frozen=True, slots=True)
class Window:
    """From `start` until before `end`."""

    start: datetime
    end: datetime

    @property
    def fields(self) -> dict[str, str]:
        """As a form writes them, in the reader's zone."""
        return {name: f"{localtime(time):%Y-%m-%dT%H:%M}" for name, time in (("from", self.start), ("to", self.end))}


def read_window(asked: Mapping[str, str], now: datetime) -> tuple[Window, list[str]]:
    """What an address asks for, and a sentence for what it cannot mean; without anything the last seven days."""
    notes: list[str] = []
    end = _read(asked.get("to", ""), notes) or now
    start = _read(asked.get("from", ""), notes) or min(end, now) - _USUAL
    if start >= end:
        notes.append(gettext("The time begins after its end: the seven days before the end are shown."))
        start = end - _USUAL
    return Window(start, end), notes


def _read(text: str, notes: list[str]) -> datetime | None:
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
        aware = time if time.tzinfo else time.replace(tzinfo=get_current_timezone())
        if 2000 <= aware.year < 2100:
            return aware
    except (ValueError, OverflowError):
        pass
    notes.append(gettext("“%(text)s” is no time and was left out.") % {"text": text[:40]})
    return None


def runs_in_reach(reach: Reach, cluster: Cluster, node: str) -> "QuerySet[PodRun]":
    """The pods on the node that the person may know of; of what is hidden none is looked at."""
    found = PodRun.objects.filter(cluster=cluster, node=node[:_LONGEST_NODE])
    return found if reach.is_everything else found.filter(workload__in=_in_reach(reach))


def runs_within(runs: "QuerySet[PodRun]", window: Window) -> "QuerySet[PodRun]":
    """Those that were on the node at some time of the window, the newest first."""
    there = Q(ended_before__isnull=True) | Q(ended_before__gt=window.start)
    found = runs.filter(there, bound_at__lt=window.end).order_by("-bound_at", "pk")
    return found.select_related("workload__cluster").defer(
        "workload__labels", "workload__pod_sets", "workload__conditions", "workload__status"
    )


def nodes_called(reach: Reach, text: str, most: int) -> list[tuple[Cluster, str]]:
    """Nodes whose names begin with the text and on which pods ran that the person may know of."""
    clusters = {cluster.pk: cluster for cluster in reach.clusters}
    if not clusters:
        return []
    found = PodRun.objects.filter(BeginsWith(F("node"), text.lower()), cluster__in=clusters)
    if not reach.is_everything:
        found = found.filter(workload__in=_in_reach(reach))
    names = found.order_by("node", "cluster").values_list("node", "cluster").distinct()[:most]
    return [(clusters[cluster], node) for node, cluster in names]


def _in_reach(reach: Reach) -> "QuerySet[Workload]":
    return Workload.objects.filter(in_namespaces(reach.namespaces())).only("pk")
