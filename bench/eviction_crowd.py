"""One team with fifty thousand evictions, for `bench.evictions`: rows as the ledger writes them, in bulk.

A fifth of them belong to jobs in a loop, evicted every ten minutes for days; the others are hours apart.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from bench import crowd
from jobs.ledger.eviction_loops import renew_all_loops
from jobs.ledger.observed import COLUMNS, row_of
from jobs.models import Eviction, Span, SpanUsage, Workload
from jobs.rules.lost_work import Basis, Work
from portal.write_path import BATCH
from scheduling import names
from scheduling.preemption_messages import parse_preemption
from teams.models import Cluster, Team
from tests.stories import GPU, P5, Job

TEAM, GPUS = 7, 8
LOOPING, EACH_LOOPING, EVERY = 20, 500, timedelta(minutes=10)
STEADY, EACH_STEADY, APART = 8_000, 5, timedelta(hours=9)
STOPPING = timedelta(seconds=30)
COUNT = LOOPING * EACH_LOOPING + STEADY * EACH_STEADY


def evict(cluster: Cluster, now: datetime) -> None:
    """Write them all, with the workloads and holds that they ended."""
    rng = random.Random(11)
    workloads = _workloads(cluster, rng, now)
    spans = list(_spans(rng, workloads, now))
    Span.objects.bulk_create(spans, batch_size=BATCH)
    SpanUsage.objects.bulk_create(map(_usage, spans), batch_size=BATCH)
    others = {team.slug: team for team in Team.objects.all()}
    preemptors = list(Workload.objects.exclude(namespace=crowd.namespace(TEAM))[:BATCH])
    rows = (_eviction(cluster, rng, span, number, others, rng.choice(preemptors)) for span, number in _numbered(spans))
    Eviction.objects.bulk_create(rows, batch_size=BATCH)
    renew_all_loops(cluster)


def _workloads(cluster: Cluster, rng: random.Random, now: datetime) -> list[Workload]:
    """The looping ones first."""
    looks = [_job(rng, number).record for number in range(LOOPING + STEADY)]
    rows = (Workload(**dict(zip(COLUMNS, row_of(look, cluster.pk, now), strict=True))) for look in looks)
    return Workload.objects.bulk_create(rows, batch_size=BATCH)


def _job(rng: random.Random, number: int) -> Job:
    job = Job(
        f"evicted-{number}", crowd.namespace(TEAM), queue=crowd.queue_name(TEAM), gpus=GPUS, uid=crowd.new_uid(rng),
        priority=rng.choice((0, 50, 100)),
    )  # fmt: skip
    if number < LOOPING:
        return job.waits(crowd.preempted(rng, TEAM), 1)
    return job.admit(1).finish(rng.uniform(2, 90))


def _spans(rng: random.Random, workloads: Sequence[Workload], now: datetime) -> Iterator[Span]:
    """Each workload's latest hold first."""
    for number, workload in enumerate(workloads):
        loops = number < LOOPING
        every, count = (EVERY, EACH_LOOPING) if loops else (APART, EACH_STEADY)
        latest = now - timedelta(seconds=rng.randrange(300 if loops else 86 * 86_400))
        for earlier in range(count):
            released = (latest - earlier * every).replace(microsecond=0)
            began = released - every * rng.uniform(0.5, 0.9)
            yield Span(
                workload=workload, cluster_queue=crowd.queue_name(TEAM), reserved_at=began, admitted_at=began,
                evicted_at=released - STOPPING, released_after=released, released_before=released, end=Span.End.EVICTED,
            )  # fmt: skip


def _usage(span: Span) -> SpanUsage:
    return SpanUsage(
        span=span, flavor=P5, resource=GPU, amount=GPUS, valid_from=span.reserved_at, valid_to=span.released_before
    )


def _numbered(spans: Sequence[Span]) -> Iterator[tuple[Span, int]]:
    """With how many evictions of its workload came before it, and itself."""
    for place, span in enumerate(spans):
        looping = LOOPING * EACH_LOOPING
        yield span, EACH_LOOPING - place % EACH_LOOPING if place < looping else EACH_STEADY - place % EACH_STEADY


def _eviction(
    cluster: Cluster, rng: random.Random, span: Span, number: int, teams: Mapping[str, Team], preemptor: Workload
) -> Eviction:
    decided, started = span.released_before - STOPPING, span.admitted_at
    lost, stopping = GPUS * int((decided - started).total_seconds()), GPUS * int(STOPPING.total_seconds())
    cause = _timeout() if rng.random() < 0.2 else _preempted(crowd.preempted(rng, TEAM), teams, preemptor)
    return Eviction(
        cluster=cluster, namespace=crowd.namespace(TEAM), workload=span.workload, span=span, ordinal=number,
        observed=True, decided_after=decided, decided_before=decided, priority=span.workload.priority,
        priority_class=span.workload.priority_class, work=Work.TRAINING, basis=Basis.WHOLE, gpus=GPUS, lost_low=lost,
        lost_expected=lost, lost_high=lost, stopping=stopping, flavor=P5,
        by_flavor={P5: [GPUS, lost, lost, lost, stopping]}, **cause,
    )  # fmt: skip


def _timeout() -> dict[str, Any]:
    return {"reason": names.PODS_READY_TIMEOUT, "message": "Exceeded the PodsReady timeout"}


def _preempted(message: str, teams: Mapping[str, Team], preemptor: Workload) -> dict[str, Any]:
    told = parse_preemption(message)
    path = list(told.preemptor_path or ())
    return {
        "reason": names.PREEMPTED,
        "message": message,
        "preemption": told.reason or "",
        "preemptor": preemptor,
        "preemptor_uid": preemptor.uid,
        "preemptor_job_uid": preemptor.job_uid,
        "preemptor_team": teams[preemptor.namespace.removeprefix("hyperpod-ns-")],
        "preemptor_queue": path[-1] if path else "",
        "preemptor_priority": preemptor.priority,
        "preemptor_priority_class": preemptor.priority_class,
        "preemptor_path": path,
        "preemptee_path": list(told.preemptee_path or ()),
    }
