"""Who lends and who borrows GPUs, per tree of cohorts and GPU type: over some time, by the hours rolled up, and now."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from jobs.models import ClosedHours, QueueHour, QueueNow, TeamHour
from jobs.queues.platform_now import teams_feeding
from jobs.usage.chart import Bucket, HourSums
from jobs.usage.stretches import Stretch, edges_of
from scheduling import names
from teams.models import Cluster, Team
from teams.queues import current_queues


class Key(NamedTuple):
    cluster_queue: str
    flavor: str
    resource: str


@dataclass(slots=True)
class Line:
    """One ClusterQueue and GPU type. `teams` feed the queue now. `hours` is None before the first hour is over;
    `by_team`: amount·microseconds borrowed by the name of each team that borrowed then, the most first; empty for what
    no team owned. `now` is None where the queue is not there or lists the type no more."""

    key: Key
    teams: tuple[Team, ...] = ()
    hours: Bucket | None = None
    by_team: dict[str, int] = field(default_factory=dict)
    now: QueueNow | None = None

    @property
    def tells_teams(self) -> bool:
        """Whether who borrowed is more than the queue's only team."""
        return [*self.by_team] != [team.name for team in self.teams]

    @property
    def order(self) -> tuple[int, int, Key]:
        """Who lent most comes first, then who borrowed most."""
        return (-self.hours.lent_high, -self.hours.borrowed, self.key) if self.hours else (0, 0, self.key)


@dataclass(frozen=True, slots=True)
class LentType:
    """One GPU type in one tree."""

    flavor: str
    resource: str
    lines: list[Line]

    @property
    def borrowed(self) -> int:
        """By all of them, in amount·microseconds."""
        return sum(line.hours.borrowed for line in self.lines if line.hours)


@dataclass(frozen=True, slots=True)
class LendingTree:
    """The queues that are under one root cohort now; `root` is empty for those outside any, None for those gone."""

    root: str | None
    gpu_types: list[LentType]


@dataclass(frozen=True, slots=True)
class ClusterLending:
    """`start` to `until`: the closed hours that were added up; None before the first."""

    cluster: Cluster
    start: datetime | None
    until: datetime | None
    trees: list[LendingTree]


def lending_of(cluster: Cluster, stretch: Stretch) -> ClusterLending:
    """Of one cluster, read with its `closed_hours`."""
    closed: ClosedHours | None = getattr(cluster, "closed_hours", None)
    if closed is not None and closed.until <= closed.begun_at:
        closed = None
    edges = edges_of(stretch, closed.until) if closed else []
    sums = HourSums(cluster, closed, [edges[0], edges[-1]]) if closed else None
    lines, roots = _now(cluster)
    if sums:
        _add_hours(lines, sums)
    trees = _trees(lines.values(), roots)
    if closed is None:
        return ClusterLending(cluster, None, None, trees)
    return ClusterLending(cluster, edges[0], max(edges[0], min(closed.until, edges[-1])), trees)


def _now(cluster: Cluster) -> tuple[dict[Key, Line], Mapping[str, str]]:
    """Lines of what is there, and the root cohort by ClusterQueue."""
    teams = teams_feeding(cluster, current_queues(cluster))
    rows = [row for row in QueueNow.objects.filter(cluster=cluster) if names.is_accelerator(row.resource)]
    keyed = ((Key(row.cluster_queue, row.flavor, row.resource), row) for row in rows)
    lines = {key: Line(key, teams.get(key.cluster_queue, ()), now=row) for key, row in keyed}
    return lines, {row.cluster_queue: row.root for row in rows}


def _add_hours(lines: dict[Key, Line], sums: HourSums) -> None:
    for line in lines.values():
        (line.hours,) = sums.buckets()
    columns = ("borrowed", "lent_low", "lent_high", "unknown")
    for key, _, amounts in sums.of(QueueHour.objects.filter(sums.window), Key._fields, columns):
        _hours_of(_line(lines, Key(*key)), sums).add(**amounts)
    for key, team, amount in sorted(_borrowed(sums), key=lambda each: (-each[2], each[1])):
        _line(lines, key).by_team[team] = amount


def _borrowed(sums: HourSums) -> Iterator[tuple[Key, str, int]]:
    """By which team, by name."""
    rows = TeamHour.objects.filter(sums.window, borrowed__gt=0)
    for (*key, team), _, amounts in sums.of(rows, (*Key._fields, "team__name"), ("borrowed",)):
        yield Key(*key), team or "", amounts["borrowed"]


def _line(lines: dict[Key, Line], key: Key) -> Line:
    return lines.setdefault(key, Line(key))


def _hours_of(line: Line, sums: HourSums) -> Bucket:
    if line.hours is None:
        (line.hours,) = sums.buckets()
    return line.hours


def _trees(lines: Iterable[Line], roots: Mapping[str, str]) -> list[LendingTree]:
    """Cohorts by name, then the queues outside any, then those that are gone; the type that was borrowed most first."""
    grouped: dict[str | None, dict[tuple[str, str], list[Line]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        grouped[roots.get(line.key.cluster_queue)][line.key.flavor, line.key.resource].append(line)
    return [
        LendingTree(root, _by_borrowed(grouped[root]))
        for root in sorted(grouped, key=lambda root: (root is None, not root, root or ""))
    ]


def _by_borrowed(types: Mapping[tuple[str, str], list[Line]]) -> list[LentType]:
    found = [LentType(*key, sorted(lines, key=lambda line: line.order)) for key, lines in types.items()]
    return sorted(found, key=lambda each: (-each.borrowed, each.flavor, each.resource))
