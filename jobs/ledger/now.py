"""QueueNow and TeamNow from the ledger: what each queue and each team holds at this moment.

Rebuilt from open spans and current specs; only rows that differ are written.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from django.db.models import Q

from jobs.ledger.holds import nominal_of, splits, usages_of_open_spans
from jobs.ledger.observed import Key
from jobs.ledger.wide_sums import halves, whole
from jobs.models import QueueNow, TeamNow
from portal.write_path import upsert
from scheduling.cohort import QueueFigures, figures
from scheduling.quantities import saturate
from teams.models import Cluster, NamespaceBinding
from teams.queues import CurrentQueues, current_queues

Amounts: TypeAlias = dict[Key, int]

_QUEUE = (
    "cluster_id", "cluster_queue", "flavor", "resource", "cohort", "root", "listed", "nominal", "borrowing_limit",
    "lending_limit", "reservation", "usage", "borrowed", "lendable", "available", "potential", "lent_low", "lent_high",
    "over_committed",
)  # fmt: skip
_QUEUE_KEY = ("cluster_id", "cluster_queue", "flavor", "resource")
_TEAM = ("team_id", "cluster_id", "cluster_queue", "flavor", "resource", "own", "borrowed")
_TEAM_KEY = ("team_id", "cluster_id", "cluster_queue", "flavor", "resource")


@dataclass(slots=True)
class _Held:
    """What one ClusterQueue's open spans hold, in all and by namespace."""

    reservation: Amounts = field(default_factory=lambda: defaultdict(int))
    usage: Amounts = field(default_factory=lambda: defaultdict(int))
    by_namespace: dict[str, Amounts] = field(default_factory=lambda: defaultdict(lambda: defaultdict(int)))


def refresh(cluster: Cluster, touched: Collection[str] | None = None) -> int:
    """Bring the caches up to the ledger after the holds of `touched` ClusterQueues changed (None: all, and the specs).

    Returns how many rows differed. Use inside `exclusive(cluster)`.
    """
    if touched is not None and not touched:
        return 0
    cluster.refresh_from_db(fields=["specs_version"])  # another process may have written
    queues = current_queues(cluster)
    held = _held(cluster, touched)
    changed = _refresh_queues(cluster, queues, held, touched)
    return changed + _refresh_teams(cluster, queues, held, touched)


def _held(cluster: Cluster, touched: Collection[str] | None) -> dict[str, _Held]:
    """Sums by queue."""
    holds = Q(valid_to__isnull=True)
    used = holds & Q(span__admitted_at__isnull=False)
    (all_high, all_low), (used_high, used_low) = halves("amount", filter=holds), halves("amount", filter=used)
    sums = (
        usages_of_open_spans(cluster, touched)
        .values_list("span__cluster_queue", "span__workload__namespace", "flavor", "resource")
        .annotate(all_high=all_high, all_low=all_low, used_high=used_high, used_low=used_low)
    )
    held: dict[str, _Held] = defaultdict(_Held)
    for queue, namespace, flavor, resource, *of_all, high, low in sums:
        if of_all[0] is None:
            continue  # former usages only
        key, amount = (flavor, resource), whole(*of_all)
        held[queue].reservation[key] += amount
        held[queue].usage[key] += whole(high, low)
        held[queue].by_namespace[namespace][key] += amount
    return held


def _refresh_queues(
    cluster: Cluster, queues: CurrentQueues, held: Mapping[str, _Held], touched: Collection[str] | None
) -> int:
    stored = {row[1:4]: row for row in QueueNow.objects.filter(cluster=cluster).values_list(*_QUEUE)}
    wanted = _queue_rows(cluster, queues, *_totals(stored.values(), held, touched))
    rows = [row for key, row in wanted.items() if stored.get(key) != row]
    upsert(QueueNow, _QUEUE, rows, key=_QUEUE_KEY)
    vanished = [key for key in stored if key not in wanted]
    for queue, flavor, resource in vanished:
        QueueNow.objects.filter(cluster=cluster, cluster_queue=queue, flavor=flavor, resource=resource).delete()
    return len(rows) + len(vanished)


def _totals(
    stored: Iterable[tuple[Any, ...]], held: Mapping[str, _Held], touched: Collection[str] | None
) -> tuple[dict[str, Amounts], dict[str, Amounts]]:
    """Reservation and usage by queue: freshly summed for touched queues, as cached for the others."""
    reservation = {queue: dict(sums.reservation) for queue, sums in held.items()}
    usage = {queue: dict(sums.usage) for queue, sums in held.items()}
    if touched is None:
        return reservation, usage
    for row in stored:
        line = dict(zip(_QUEUE, row, strict=True))
        queue, key = line["cluster_queue"], (line["flavor"], line["resource"])
        if queue not in touched:
            reservation.setdefault(queue, {})[key] = line["reservation"]
            usage.setdefault(queue, {})[key] = line["usage"]
    return reservation, usage


def _queue_rows(
    cluster: Cluster, queues: CurrentQueues, reservation: Mapping[str, Amounts], usage: Mapping[str, Amounts]
) -> dict[tuple[str, str, str], tuple[Any, ...]]:
    found = figures(queues.cluster_queues.values(), queues.cohorts.values(), reservation, usage)
    rows = {
        (name, *key): _queue_row(cluster, name, key, queues.cluster_queues[name].cohort, standing.root, line)
        for name, standing in found.queues.items()
        for key, line in standing.figures.items()
    }
    for name in reservation.keys() - found.queues.keys():
        for key, amount in reservation[name].items():
            if amount:
                rows[name, *key] = _orphan_row(cluster, name, key, amount, usage[name].get(key, 0))
    return rows


def _queue_row(
    cluster: Cluster, name: str, key: Key, cohort: str | None, root: str | None, line: QueueFigures
) -> tuple[Any, ...]:
    return (
        cluster.pk,
        name,
        *key,
        cohort or "",
        root or "",
        line.listed,
        line.nominal,
        line.borrowing_limit,
        line.lending_limit,
        saturate(line.reservation),
        saturate(line.usage),
        line.borrowed,
        line.lendable,
        line.available,
        line.potential,
        line.lent_low,
        line.lent_high,
        line.over_committed,
    )


def _orphan_row(cluster: Cluster, name: str, key: Key, reservation: int, usage: int) -> tuple[Any, ...]:
    """Quota still held in a ClusterQueue that no longer exists."""
    amounts = (saturate(reservation), saturate(usage))
    return (cluster.pk, name, *key, "", "", False, 0, None, None, *amounts, 0, *(None,) * 5, False)


def _refresh_teams(
    cluster: Cluster, queues: CurrentQueues, held: Mapping[str, _Held], touched: Collection[str] | None
) -> int:
    now = TeamNow.objects.filter(cluster=cluster)
    if touched is not None:
        now = now.filter(cluster_queue__in=touched)
    stored = {(row[0], *row[2:5]): row for row in now.values_list(*_TEAM)}
    team_of = NamespaceBinding.objects.team_ids(cluster)
    wanted = {}
    for name, sums in held.items():
        for (team, flavor, resource), (own, borrowed) in _split_by_team(cluster, queues, name, sums, team_of).items():
            wanted[team, name, flavor, resource] = (team, cluster.pk, name, flavor, resource, own, borrowed)
    rows = [row for key, row in wanted.items() if stored.get(key) != row]
    upsert(TeamNow, _TEAM, rows, key=_TEAM_KEY)
    vanished = [key for key in stored if key not in wanted]
    for team, queue, flavor, resource in vanished:
        now.filter(team_id=team, cluster_queue=queue, flavor=flavor, resource=resource).delete()
    return len(rows) + len(vanished)


def _split_by_team(
    cluster: Cluster, queues: CurrentQueues, name: str, held: _Held, team_of: Mapping[str, int]
) -> dict[tuple[int, str, str], tuple[int, int]]:
    """(own, borrowed) by (team, flavor, resource). Who came first matters only where several namespaces share a queue
    that borrows."""
    by_team: dict[tuple[int, str, str], tuple[int, int]] = defaultdict(lambda: (0, 0))
    for key, total in held.reservation.items():
        nominal, in_cohort = nominal_of(queues, name, key)
        amounts = {ns: sums[key] for ns, sums in held.by_namespace.items() if key in sums}
        borrowed = max(0, total - max(0, nominal)) if in_cohort else 0
        parts = {ns: (amount, 0) for ns, amount in amounts.items()}
        if borrowed and len(amounts) == 1:
            parts = {ns: (amount - borrowed, borrowed) for ns, amount in amounts.items()}
        elif borrowed:
            parts = _split_by_order(cluster, queues, name, key)
        for namespace, (own, over) in parts.items():
            if namespace in team_of:
                before = by_team[team_of[namespace], *key]
                by_team[team_of[namespace], *key] = (saturate(before[0] + own), saturate(before[1] + over))
    return dict(by_team)


def _split_by_order(cluster: Cluster, queues: CurrentQueues, name: str, key: Key) -> dict[str, tuple[int, int]]:
    usages = usages_of_open_spans(cluster, [name]).filter(flavor=key[0], resource=key[1])
    namespaces = dict(usages.values_list("span__workload__uid", "span__workload__namespace"))
    parts: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for uid, split in splits(cluster, queues, [name], [key[1]]).items():
        if key in split:
            own, borrowed = parts[namespaces[uid]]
            parts[namespaces[uid]] = (own + split[key].own, borrowed + split[key].borrowed)
    return dict(parts)
