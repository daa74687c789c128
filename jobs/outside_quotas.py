"""GPUs on healthy nodes that no quota covers: nobody can use them until the platform admin gives them to a queue."""

from collections import defaultdict

from scheduling import names
from teams.models import Cluster, NodeCapacity, QuotaLine, SpecVersion


def outside_quotas(cluster: Cluster) -> dict[str, int]:
    """Whole accelerators by instance type, only where quotas name the type and leave some over."""
    type_of = instance_types(cluster)
    promised: dict[str, int] = defaultdict(int)
    lines = QuotaLine.objects.current().filter(cluster=cluster)
    for flavor, resource, nominal in lines.values_list("flavor", "resource", "nominal"):
        if names.is_accelerator(resource):
            promised[type_of.get(flavor, flavor)] += nominal
    capacities = NodeCapacity.objects.current().filter(cluster=cluster, instance_type__in=promised)
    left = {
        instance_type: healthy - promised[instance_type]
        for instance_type, healthy in capacities.values_list("instance_type", "healthy_accelerators")
    }
    return {instance_type: gpus for instance_type, gpus in left.items() if gpus > 0}


def instance_types(cluster: Cluster) -> dict[str, str]:
    """The instance type that each flavor selects."""
    kind = SpecVersion.Kind.RESOURCE_FLAVOR
    versions = SpecVersion.objects.current().filter(cluster=cluster, kind=kind, deleted=False)
    return {
        flavor: (spec.get("nodeLabels") or {}).get(names.INSTANCE_TYPE_LABEL, flavor)
        for flavor, spec in versions.values_list("name", "spec")
    }
