"""Looks at pods into PodRun rows, and the interruptions that follow: the one comparison that list and watch share.

What a look once told of a pod stays: it was bound, told to stop, gone. So looks may come late or twice.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from gateways.records import PodLook
from jobs.ledger.interruption_rows import renew
from jobs.models import PodRun, Workload
from jobs.rules.interruptions import End
from portal.sync_runs import GAP_AFTER
from portal.write_path import BATCH, exclusive, upsert
from scheduling import names
from teams.models import Cluster

_ENDS = {"Succeeded": End.SUCCEEDED, "Failed": End.FAILED}


@dataclass(frozen=True, slots=True)
class PodGone:
    """A pod that vanished between `after` and `before`. `watched`: its deletion itself was seen."""

    uid: str
    after: datetime
    before: datetime
    watched: bool


class SickNodes(Protocol):
    """Tells which of these nodes are not there or not healthy at this moment."""

    def __call__(self, nodes: Collection[str]) -> Collection[str]: ...


class _Run(NamedTuple):
    """A row as `upsert` takes it."""

    cluster_id: int
    uid: str
    workload_id: int
    name: str
    node: str
    resource_version: int
    bound_at: datetime
    stop_at: datetime | None = None
    ended_after: datetime | None = None
    ended_before: datetime | None = None
    end: str = ""
    reason: str = ""
    exit_code: int | None = None
    node_failed: bool = False
    restarts: int = 0


def write_pods(
    cluster: Cluster,
    looks: Sequence[PodLook],
    gone: Sequence[PodGone] = (),
    *,
    sick_nodes: SickNodes,
    now: datetime,
    last_seen: datetime | None,
) -> tuple[int, list[PodLook]]:
    """Bring the ledger up to these looks; returns how many pods changed, and the looks at pods with a node whose
    Workload the ledger does not know, or not yet. `last_seen`: when the pods were last known to be as stored."""
    written, unplaced = 0, []
    for start in range(0, max(len(looks), len(gone)), BATCH):
        some, vanished = looks[start : start + BATCH], gone[start : start + BATCH]
        sick = sick_nodes(_suspects(some, vanished) | _left_behind(cluster, vanished))
        with exclusive(cluster.slug):
            batch = _Batch(cluster, some, vanished, sick, now, last_seen or now)
            written += batch.write()
            unplaced += batch.unplaced
    return written, unplaced


def _suspects(looks: Sequence[PodLook], gone: Sequence[PodGone]) -> set[str]:
    """Nodes that may be to blame for what became of their pods, which do not say so themselves."""
    left = {each.uid for each in gone}
    hit = (look for look in looks if look.phase == "Failed" or look.stop_at or look.uid in left)
    return {look.node for look in hit if look.node and look.phase != "Succeeded" and not _blames_node(look)}


def _left_behind(cluster: Cluster, gone: Sequence[PodGone]) -> set[str]:
    """Nodes from which pods vanished between two lists: nothing tells what took them."""
    uids = [each.uid for each in gone if _is_fresh(each)]
    runs = PodRun.objects.filter(cluster=cluster, uid__in=uids, ended_before__isnull=True, node_failed=False)
    return set(runs.values_list("node", flat=True).distinct()) if uids else set()


def _is_fresh(gone: PodGone) -> bool:
    """Whether its node is now as it was when the pod went: after a gap nobody knows."""
    return gone.before - gone.after <= GAP_AFTER


def _blames_node(look: PodLook) -> bool:
    return look.reason in names.NODE_FAULTS


class _Batch:
    """One transaction's worth of looks, compared with what is stored."""

    def __init__(
        self,
        cluster: Cluster,
        looks: Sequence[PodLook],
        gone: Sequence[PodGone],
        sick: Collection[str],
        now: datetime,
        last_seen: datetime,
    ) -> None:
        self.cluster, self.sick, self.now, self.last_seen = cluster, sick, now, last_seen
        self.looks = [look for look in looks if look.node]
        self.gone = {each.uid: each for each in gone}
        self.unplaced: list[PodLook] = []
        self.stored = self._read({*(look.uid for look in self.looks), *self.gone})

    def _read(self, uids: Collection[str]) -> dict[str, _Run]:
        rows = PodRun.objects.filter(cluster=self.cluster, uid__in=uids)
        return {row[1]: _Run(*row) for row in rows.values_list(*_Run._fields)}

    def write(self) -> int:
        """Returns how many pods changed."""
        runs = dict(self.stored)
        for look, workload_id in self._placed():
            before = runs.get(look.uid) or self._first(look, workload_id)
            runs[look.uid] = self._after(before, look)
        for uid in self.gone.keys() & runs.keys():
            runs[uid] = self._vanished(runs[uid], self.gone[uid])
        changed = [run for uid, run in runs.items() if run != self.stored.get(uid)]
        upsert(PodRun, _Run._fields, changed, key=("cluster_id", "uid"))
        renew(self.cluster, {run.workload_id for run in changed})
        return len(changed)

    def _placed(self) -> Iterator[tuple[PodLook, int]]:
        """The looks whose Workload is known, with its key."""
        new = [look for look in self.looks if look.uid not in self.stored]
        by_name, by_job = self._by_name(new), self._by_job(new)
        for look in self.looks:
            stored = self.stored.get(look.uid)
            jobs = (by_job[uid] for uid in look.job_uids if uid in by_job)
            found = stored.workload_id if stored else by_name.get((look.namespace, look.workload)) or next(jobs, None)
            if found:
                yield look, found
            else:
                self.unplaced.append(look)

    def _by_name(self, looks: Sequence[PodLook]) -> Mapping[tuple[str, str], int]:
        """The newest of each name: names recur."""
        wanted = {look.workload for look in looks if look.workload}
        rows = Workload.objects.filter(cluster=self.cluster, name__in=wanted).order_by("created_at", "pk")
        return {(namespace, name): pk for namespace, name, pk in rows.values_list("namespace", "name", "pk")}

    def _by_job(self, looks: Sequence[PodLook]) -> Mapping[str, int]:
        wanted = {uid for look in looks if not look.workload for uid in look.job_uids}
        rows = Workload.objects.filter(cluster=self.cluster, job_uid__in=wanted).order_by("created_at", "pk")
        return dict(rows.values_list("job_uid", "pk"))

    def _first(self, look: PodLook, workload_id: int) -> _Run:
        bound_at = look.bound_at or self.now
        return _Run(self.cluster.pk, look.uid, workload_id, look.name, look.node, look.resource_version, bound_at)

    def _after(self, run: _Run, look: PodLook) -> _Run:
        """What is known of the pod after this look. Its version moves only with what is stored."""
        told = self._ended(run, look)._replace(
            stop_at=run.stop_at or look.stop_at,
            reason=run.reason or look.reason,
            exit_code=look.exit_code if run.exit_code is None else run.exit_code,
            restarts=max(run.restarts, look.restarts),
            node_failed=run.node_failed or self._failed_with_node(look),
        )
        version = max(run.resource_version, look.resource_version)
        return told if told == run else told._replace(resource_version=version)

    def _failed_with_node(self, look: PodLook) -> bool:
        was_hit = look.phase == "Failed" or bool(look.stop_at) or look.uid in self.gone
        is_known = _blames_node(look) or (was_hit and look.node in self.sick)
        return is_known and look.phase != "Succeeded"

    def _ended(self, run: _Run, look: PodLook) -> _Run:
        if run.ended_before or look.phase not in _ENDS:
            return run
        after, before = look.ended_at or self.last_seen, look.ended_at or self.now
        return _closed(run, after, before, _ENDS[look.phase])

    def _vanished(self, run: _Run, gone: PodGone) -> _Run:
        if run.ended_before:
            return run
        closed = _closed(run, gone.after, gone.before, End.DELETED if gone.watched else End.UNSEEN)
        return closed._replace(node_failed=run.node_failed or (run.node in self.sick and _is_fresh(gone)))


def _closed(run: _Run, after: datetime, before: datetime, end: End) -> _Run:
    """No pod ends before it began, whatever the clocks say."""
    before = max(before, run.bound_at)
    return run._replace(ended_after=max(min(after, before), run.bound_at), ended_before=before, end=end.value)
