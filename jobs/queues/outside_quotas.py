"""GPUs on healthy nodes that no quota covers: nobody can use them until the platform admin gives them to a queue."""

from collections import defaultdict

from scheduling import names
from scheduling.forest import quotas
from teams.queues import CurrentQueues


def promised(queues: CurrentQueues) -> dict[str, int]:
    """Accelerators that queues and cohorts guarantee, by instance type."""
    found: dict[str, int] = defaultdict(int)
    of_queues = (queue.groups for queue in queues.cluster_queues.values())
    of_cohorts = (cohort.groups for cohort in queues.cohorts.values())
    for groups in (*of_queues, *of_cohorts):
        for (flavor, resource), quota in quotas(groups).items():
            if names.is_accelerator(resource):
                found[queues.instance_type_of.get(flavor, flavor)] += quota.nominal
    return dict(found)


def outside_quotas(queues: CurrentQueues) -> dict[str, int]:
    """Whole accelerators by instance type, only where quotas name the type and leave some over."""
    left = {
        instance_type: queues.nodes[instance_type].healthy_accelerators - gpus
        for instance_type, gpus in promised(queues).items()
        if instance_type in queues.nodes
    }
    return {instance_type: gpus for instance_type, gpus in left.items() if gpus > 0}
