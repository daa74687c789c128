"""Which notices one look at a workload gives rise to: evicted, waiting again, running again, failed, finished."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from jobs.ledger.observed import submitted_by
from jobs.models import Eviction, ToldEviction
from jobs.rules.episodes import tells_of_evictions
from jobs.states import HOLDING, OVER, WAITING, JobState, state_of
from notices.kinds import Kind
from notices.models import Notice
from notices.outbox import notice, post
from scheduling import names
from scheduling.objects import Workload
from teams.models import Cluster, NamespaceBinding

_RUNS: Final = (JobState.PREPARING, JobState.RUNNING)
_ENDS: Final = {JobState.FAILED: Kind.FAILED, JobState.FINISHED: Kind.FINISHED}


def tell(
    cluster: Cluster,
    looks: Iterable[Workload],
    before: Mapping[str, str],
    evictions: Mapping[str, Iterable[Eviction]],
    submitters: Mapping[str, str],
    *,
    now: datetime,
    last_seen: datetime,
) -> None:
    """Write what is news of these looks, in their transaction. `before`: the stored states by uid, without those that
    are seen for the first time; `evictions`: those just written, `submitters`: whom owners named, by uid.

    Of a workload that is seen for the first time only that is news which happened since `last_seen`: the rest was over
    before the portal came."""
    found = [each for look in looks for each in _news(cluster, look, before.get(look.uid), evictions, now, last_seen)]
    if found:
        owners = NamespaceBinding.objects.team_ids(cluster)
        for each in found:
            each.team_id = owners.get(each.details["namespace"])
            each.submitted_by = each.submitted_by or submitters.get(each.subject, "")
        post(each for each in found if each.team_id is not None)


def _news(
    cluster: Cluster,
    look: Workload,
    before: str | None,
    evictions: Mapping[str, Iterable[Eviction]],
    now: datetime,
    last_seen: datetime,
) -> Iterator[Notice]:
    for eviction in evictions.get(look.uid, ()):
        if before is not None or eviction.decided_after > last_seen:
            yield _notice(Kind.EVICTED, cluster, look, _once(eviction), eviction.decided_before, eviction=eviction.pk)
    kind, at = _change(look, before)
    if kind is not None and (before is not None or (at or now) > last_seen):
        yield _notice(kind, cluster, look, str(at or now), at or now)


def eviction_notice(eviction: Eviction, team_id: int) -> Notice:
    """Of a stored one, which no look at its workload tells of."""
    workload = eviction.workload
    return notice(
        Kind.EVICTED,
        eviction.cluster,
        workload.uid,
        once=_once(eviction),
        at=eviction.decided_before,
        team_id=team_id,
        title=workload.title,
        submitted_by=workload.submitter,
        details={"namespace": eviction.namespace, "eviction": eviction.pk},
    )


def notice_of_told(row: ToldEviction, team_id: int) -> Notice:
    """Of an eviction that events alone tell of. The row goes if its workload turns up: the notice holds the cause."""
    return notice(
        Kind.EVICTED,
        row.cluster,
        row.workload_uid,
        once=f"{row.reason} {row.cause} at {row.at}",
        at=row.at,
        team_id=team_id,
        title=row.workload_name,
        details={
            "namespace": row.namespace,
            "told": {"reason": row.reason, "cause": row.cause, "preemption": row.preemption},
        },
    )


def _once(eviction: Eviction) -> str:
    return f"{eviction.reason} {eviction.cause} {eviction.ordinal}"


def _change(look: Workload, before: str | None) -> tuple[Kind | None, datetime | None]:
    """What became of it, and when."""
    state = state_of(look)
    if state in _ENDS and before not in OVER:
        return _ENDS[state], look.since(names.FINISHED)
    if not tells_of_evictions(look):
        return None, None
    if state in _RUNS and before not in _RUNS:
        return Kind.READMITTED, look.since(names.ADMITTED)
    if state in WAITING and state != JobState.PAUSED and before in HOLDING:
        return Kind.REQUEUED, look.since(names.QUOTA_RESERVED)
    return None, None


def _notice(kind: Kind, cluster: Cluster, look: Workload, once: str, at: datetime, **details: int) -> Notice:
    return notice(
        kind,
        cluster,
        look.uid,
        once=once,
        at=at,
        title=look.owner.name if look.owner else look.name,
        submitted_by=submitted_by(look),
        details={"namespace": look.namespace, **details},
    )
