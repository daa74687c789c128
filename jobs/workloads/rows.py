"""What a list says of each workload: whose it is, what it runs on, and while it waits, where it stands and why."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from jobs.ledger.holds import OnGpus, gpu_shares
from jobs.lists.reach import Owner, Reach
from jobs.models import Workload
from jobs.queues.limits import NO_LIMITS, limits_of
from jobs.queues.team_now import Waiting, with_positions
from jobs.states import HOLDING, WAITING
from jobs.words.reasons import Reason, waiting_reason
from scheduling.accounting import Split
from teams.models import Cluster


@dataclass(frozen=True, slots=True)
class WorkloadRow(OnGpus):
    """`owner` is None where no team owns the namespace. `reason` and `place` belong to what waits, `gpus` (by flavor)
    to what holds quota; each where it was asked for."""

    workload: Workload
    owner: Owner | None
    reason: Reason | None = None
    place: Waiting | None = None
    gpus: Mapping[str, Split] = field(default_factory=dict)


def rows_of(
    workloads: Iterable[Workload], reach: Reach, *, with_places: bool = False, with_shares: bool = False
) -> list[WorkloadRow]:
    """The rows in the order given. `with_places` asks of every ClusterQueue in question who waits in it, `with_shares`
    who runs in it."""
    listed = list(workloads)
    waiting = [workload for workload in listed if workload.state in WAITING]
    places = _places(waiting) if with_places else {}
    limits = limits_of(waiting)
    gpus = _gpus(workload for workload in listed if workload.state in HOLDING) if with_shares else {}
    return [
        WorkloadRow(
            workload,
            reach.owners.get((workload.cluster_id, workload.namespace)),
            waiting_reason(workload, limits.get(workload.pk, NO_LIMITS)) if workload.state in WAITING else None,
            places.get(workload.pk),
            gpus.get(workload.pk, {}),
        )
        for workload in listed
    ]


def _places(waiting: Iterable[Workload]) -> dict[int, Waiting]:
    found = (place for cluster, here in _by_cluster(waiting).items() for place in with_positions(cluster, here))
    return {place.workload.pk: place for place in found if place.position}


def _gpus(holding: Iterable[Workload]) -> dict[int, Mapping[str, Split]]:
    shares = ((here, gpu_shares(cluster, here)) for cluster, here in _by_cluster(holding).items())
    return {workload.pk: of_uid.get(workload.uid, {}) for here, of_uid in shares for workload in here}


def _by_cluster(workloads: Iterable[Workload]) -> dict[Cluster, list[Workload]]:
    found: dict[Cluster, list[Workload]] = defaultdict(list)
    for workload in workloads:
        found[workload.cluster].append(workload)
    return found
