"""The other workloads that the same job was: Kueue makes a new one each time that a job is submitted again."""

from jobs.models import Workload


def of_same_job(workload: Workload, most: int) -> list[Workload]:
    """The newest other workloads of the job of that kind and name in the same namespace, without their JSON."""
    if not workload.owner_name:
        return []
    same = Workload.objects.filter(
        cluster=workload.cluster_id,
        namespace=workload.namespace,
        owner_kind=workload.owner_kind,
        owner_name=workload.owner_name,
    )
    others = same.exclude(pk=workload.pk).select_related("cluster").order_by("-created_at", "uid")
    return list(others.defer("labels", "pod_sets", "conditions", "status")[:most])
