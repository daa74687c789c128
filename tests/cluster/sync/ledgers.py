"""Two ledgers of one real cluster: one is kept up by pulls, the other by a running watch."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from jobs.models import QueueNow, Span, TeamNow, Workload
from jobs.sync.pull import pull_cluster
from jobs.sync.sources import WORKLOADS
from jobs.sync.watch import ClusterWatch
from portal.models import SyncRun
from teams.models import Cluster, NamespaceBinding, QuotaLine, SpecVersion, Team
from tests.cluster.sync.facts import Facts, kept_by, told_by_kueue
from tests.cluster.sync.scene import QUOTA, Scene
from tests.factories import TeamFactory

WAIT_SECONDS = 90  # a busy machine is slow


@dataclass
class Ledger:
    """What the portal knows of the scene through one cluster row. `ahead` is how far its clock goes before ours."""

    cluster: Cluster
    scene: Scene
    teams: dict[str, Team]
    ahead: timedelta = field(default_factory=timedelta)

    def __str__(self) -> str:
        return self.cluster.slug

    def clock(self) -> datetime:
        return timezone.now() + self.ahead

    def look(self) -> None:
        """See what happened up to now, if nobody else sees to it."""

    def until(self, what: str, is_so: Callable[[], Any]) -> None:
        """Look until it is so."""
        end = time.monotonic() + WAIT_SECONDS
        while not is_so():
            assert time.monotonic() < end, f"{self}: {what} not within {WAIT_SECONDS} s"
            time.sleep(0.1)
            self.look()

    def agree(self) -> None:
        """Wait until the ledger holds what Kueue says; Kueue's own counters may come seconds late."""
        end = time.monotonic() + WAIT_SECONDS
        self.look()
        while (kept := self.kept) != (told := self.told) and time.monotonic() < end:
            time.sleep(0.1)
            self.look()
        assert kept == told

    @property
    def told(self) -> Facts:
        return told_by_kueue(self.scene)

    @property
    def kept(self) -> Facts:
        return kept_by(self.cluster, self.scene)

    @property
    def last_list(self) -> SyncRun:
        """Of the Workloads."""
        return SyncRun.objects.filter(cluster=str(self), source=WORKLOADS).latest("pk")

    def workload(self, team: str, name: str) -> Workload:
        rows = Workload.objects.filter(cluster=self.cluster, namespace=self.scene.place(team), name=name)
        return rows.latest("created_at", "pk")

    def state(self, team: str, name: str) -> str:
        return self.workload(team, name).state

    def spans(self, team: str, name: str) -> list[Span]:
        return list(self.workload(team, name).spans.order_by("reserved_at"))

    def queue(self, team: str, flavor: str = "") -> QueueNow:
        wanted = {"cluster_queue": self.scene.place(team), "flavor": flavor or self.scene.flavor}
        return QueueNow.objects.get(cluster=self.cluster, **wanted)

    def team(self, team: str, queue_of: str = "") -> tuple[int, int]:
        """GPUs that the team's Workloads hold in its own queue, or in another team's: (own, borrowed)."""
        rows = TeamNow.objects.filter(cluster=self.cluster, team=self.teams[team])
        now = rows.filter(cluster_queue=self.scene.place(queue_of or team)).first()
        return (now.own, now.borrowed) if now else (0, 0)

    def nominals(self, team: str) -> list[int]:
        """The guaranteed GPUs of the team's ClusterQueue, one after the other; no time lies between two."""
        lines = QuotaLine.objects.filter(cluster=self.cluster, owner=self.scene.place(team), flavor=self.scene.flavor)
        dated = list(lines.order_by("valid_from"))
        assert [line.valid_to for line in dated[:-1]] == [line.valid_from for line in dated[1:]]
        return [line.nominal for line in dated]

    def versions(self, team: str) -> list[SpecVersion]:
        """The line of the team's ClusterQueue."""
        line = SpecVersion.objects.filter(cluster=self.cluster, kind="ClusterQueue", name=self.scene.place(team))
        return list(line.order_by("valid_from"))


class Pulled(Ledger):
    def look(self) -> None:
        pull_cluster(self.cluster, self.clock)


class Watched(Ledger):
    watch: ClusterWatch | None = None

    def start(self) -> None:
        self.watch = ClusterWatch(self.cluster, self.clock)
        self.watch.start()

    def stop(self) -> None:
        """Fails if it broke before."""
        if self.watch is not None:
            ended, self.watch = self.watch, None
            is_alive = ended.is_alive
            ended.stop()
            assert is_alive, "the watch broke"


class Ledgers:
    """Both, to be asked one after the other."""

    def __init__(self, pulled: Pulled, watched: Watched) -> None:
        self.pulled, self.watched = pulled, watched

    def __iter__(self) -> Iterator[Ledger]:
        return iter((self.pulled, self.watched))

    def agree(self) -> None:
        for ledger in self:
            ledger.agree()


def ledgers_of(scene: Scene, kubeconfig: str) -> Ledgers:
    """Over empty tables. The watch is not started."""
    teams = {team: TeamFactory(slug=scene.place(team)) for team in QUOTA}
    rows = [_cluster(slug, kubeconfig) for slug in ("pulled", "watched")]
    for cluster in rows:
        for name, team in teams.items():
            NamespaceBinding.objects.create(
                cluster=cluster, namespace=scene.place(name), team=team, valid_from=timezone.now()
            )
    return Ledgers(Pulled(rows[0], scene, teams), Watched(rows[1], scene, teams))


def _cluster(slug: str, kubeconfig: str) -> Cluster:
    return Cluster.objects.create(
        slug=slug, name=slug.title(), access=Cluster.Access.KUBECONFIG, kubeconfig_path=kubeconfig
    )
