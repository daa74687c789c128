"""The jobs that are evicted again and again: how often within some time, at what cost, and which of them in a loop.

A job is its workloads of one kind and name in one namespace: a new one is made each time that it is submitted again.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.db.models import Case, F, Max, Min, Q, When

from jobs.evictions.filter import EvictionFilter
from jobs.evictions.list import SUMS, Evictions, total_of
from jobs.lists.addresses import NONE, Age
from jobs.lists.reach import Owner, Reach
from jobs.models import EvictionLoop
from jobs.rules.loops import Loop
from jobs.rules.lost_work import Total
from teams.models import Cluster

MOST: Final = 50
"""So many of those evicted most often are shown."""

REPEATED: Final = 2
"""So often is one evicted that is evicted again."""

_TITLE: Final = Case(When(workload__owner_name="", then=F("workload__name")), default=F("workload__owner_name"))
_JOB: Final = ("cluster", "namespace", "workload__owner_kind", "title")


class Job(NamedTuple):
    """`cluster` is the key."""

    cluster: int
    namespace: str
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Victim:
    """`uid` is that of its workload evicted last. `loop` is its longest. `owner` is None where no team owns the
    namespace."""

    job: Job
    cluster: Cluster
    owner: Owner | None
    count: int
    lost: Total
    latest: datetime
    uid: str
    loop: Loop | None

    def history(self, age: Age) -> str:
        """The part of the address of all evictions that leads to those of the job."""
        team = self.owner.slug if self.owner else NONE
        wanted = EvictionFilter(q=self.job.title, time=age, team=team, cluster=self.cluster.slug, of_all=True)
        return wanted.query


def repeat_victims(found: Evictions, reach: Reach) -> list[Victim]:
    """Of these evictions, the jobs that have several: those with the most first."""
    titled = found.order_by().annotate(title=_TITLE)
    repeated = titled.values(*_JOB).annotate(latest=Max("decided_before"), **SUMS).filter(count__gte=REPEATED)
    rows = list(repeated.order_by("-count", "-expected", *_JOB)[:MOST])
    last, looping = _workloads(titled, {row["title"] for row in rows})
    clusters = {cluster.pk: cluster for cluster in reach.clusters}
    victims = []
    for row in rows:
        job = Job(*(row[name] for name in _JOB))
        owner = reach.owners.get((job.cluster, job.namespace))
        sums = (row["count"], total_of(row), row["latest"])
        victims.append(Victim(job, clusters[job.cluster], owner, *sums, last[job], looping.get(job)))
    return victims


def _workloads(titled: Any, titles: Iterable[str]) -> tuple[dict[Job, str], dict[Job, Loop]]:
    """Of each job the uid of its workload evicted last, and its longest loop of which some are among the evictions, if
    it has one."""
    of_title = Q(workload__owner_name__in=titles) | Q(workload__owner_name="", workload__name__in=titles)
    evictions = titled.filter(of_title)
    found = evictions.values_list(*_JOB, "workload__uid", "workload")
    workloads = list(
        found.annotate(first=Min("decided_before"), last=Max("decided_before")).order_by("last", "workload")
    )
    stored = EvictionLoop.objects.filter(workload__in={row[-3] for row in workloads}).by_workload()
    last: dict[Job, str] = {}
    loops: dict[Job, list[Loop]] = defaultdict(list)
    for *of, uid, workload, first, _ in workloads:
        job = Job(*of)
        last[job] = uid
        loops[job] += (loop for loop in stored.get(workload, ()) if loop.latest >= first)
    return last, {job: max(of_job) for job, of_job in loops.items() if of_job}
