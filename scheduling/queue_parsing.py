"""ClusterQueues, cohorts, LocalQueues, flavors and priority classes from the API server's JSON."""

from collections.abc import Iterable

from scheduling import names
from scheduling.objects import (
    WEIGHT_ONE,
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    Json,
    LocalQueue,
    Preemption,
    PriorityClass,
    QueueStatus,
    Quota,
    ReportedUsage,
    ResourceFlavor,
    ResourceGroup,
)
from scheduling.quantities import parse_milli, parse_quantity
from scheduling.reading import EMPTY, conditions, mapping, parse_time, read_object, text, version, words


def parse_cluster_queue(obj: Json) -> ClusterQueue:
    """A ClusterQueue object. Raises MalformedObject."""
    return read_object(obj, _cluster_queue)


def parse_cohort(obj: Json) -> Cohort:
    """A Cohort object. Raises MalformedObject."""
    return read_object(obj, _cohort)


def parse_local_queue(obj: Json) -> LocalQueue:
    """A LocalQueue object. Raises MalformedObject."""
    return read_object(obj, _local_queue)


def parse_resource_flavor(obj: Json) -> ResourceFlavor:
    """A ResourceFlavor object. Raises MalformedObject."""
    return read_object(obj, _resource_flavor)


def parse_priority_class(obj: Json) -> PriorityClass:
    """A WorkloadPriorityClass object, whose value stands beside its metadata. Raises MalformedObject."""
    return read_object(obj, _priority_class)


def parse_admission_check(obj: Json) -> AdmissionCheck:
    """An AdmissionCheck object. Raises MalformedObject."""
    return read_object(obj, _admission_check)


def _cluster_queue(meta: Json, obj: Json) -> ClusterQueue:
    spec = _current_spelling(obj.get("spec") or EMPTY)
    return ClusterQueue(
        name=text(meta, "name"),
        uid=text(meta, "uid"),
        resource_version=version(meta),
        created_at=parse_time(meta.get("creationTimestamp")),
        deleted_at=parse_time(meta.get("deletionTimestamp")),
        cohort=words(spec, "cohortName") or None,
        groups=_groups(spec),
        strategy=words(spec, "queueingStrategy") or names.BEST_EFFORT_FIFO,
        preemption=_preemption(spec.get("preemption") or EMPTY),
        stop_policy=words(spec, "stopPolicy") or names.STOP_NONE,
        fair_weight=_weight(spec),
        conditions=conditions(obj.get("status") or EMPTY),
        status=_queue_status(obj.get("status") or EMPTY),
        spec=spec,
    )


def _current_spelling(spec: Json) -> Json:
    """v1beta1's names and values of a ClusterQueue's fields in v1beta2's spelling, as Kueue itself converts them."""
    spelled = {name: value for name, value in spec.items() if name not in ("cohort", "admissionChecks")}
    if spec.get("cohort"):
        spelled["cohortName"] = spec["cohort"]
    if spec.get("admissionChecks"):
        spelled["admissionChecksStrategy"] = {"admissionChecks": [{"name": name} for name in spec["admissionChecks"]]}
    if spec.get("flavorFungibility"):
        old = {"Borrow": "MayStopSearch", "Preempt": "MayStopSearch"}
        spelled["flavorFungibility"] = {
            name: old.get(value, value) for name, value in spec["flavorFungibility"].items()
        }
    return spelled


def _groups(spec: Json) -> tuple[ResourceGroup, ...]:
    return tuple(
        ResourceGroup(
            tuple(group.get("coveredResources") or ()),
            tuple(FlavorQuotas(text(f, "name"), _quotas(f.get("resources") or ())) for f in group.get("flavors") or ()),
        )
        for group in spec.get("resourceGroups") or ()
    )


def _quotas(resources: Iterable[Json]) -> dict[str, Quota]:
    return {
        text(r, "name"): Quota(
            parse_quantity(r.get("nominalQuota") or 0, r["name"]),
            _limit(r.get("borrowingLimit"), r["name"]),
            _limit(r.get("lendingLimit"), r["name"]),
        )
        for r in resources
    }


def _limit(text: str | int | None, resource: str) -> int | None:
    return None if text is None else parse_quantity(text, resource)


def _preemption(preemption: Json) -> Preemption:
    borrowing = preemption.get("borrowWithinCohort") or EMPTY
    return Preemption(
        preemption.get("withinClusterQueue") or names.NEVER,
        preemption.get("reclaimWithinCohort") or names.NEVER,
        borrowing.get("policy") or names.NEVER,
        borrowing.get("maxPriorityThreshold"),
    )


def _weight(spec: Json) -> int:
    weight = (spec.get("fairSharing") or EMPTY).get("weight")
    return WEIGHT_ONE if weight is None else parse_milli(weight)


def _queue_status(status: Json) -> QueueStatus:
    return QueueStatus(
        _reported(status.get("flavorsReservation") or ()),
        _reported(status.get("flavorsUsage") or ()),
        int(status.get("pendingWorkloads") or 0),
        int(status.get("reservingWorkloads") or 0),
        int(status.get("admittedWorkloads") or 0),
        (status.get("fairSharing") or EMPTY).get("weightedShare"),
    )


def _reported(flavors: Iterable[Json]) -> dict[tuple[str, str], ReportedUsage]:
    return {
        (flavor["name"], r["name"]): ReportedUsage(
            parse_quantity(r.get("total") or 0, r["name"]), parse_quantity(r.get("borrowed") or 0, r["name"])
        )
        for flavor in flavors
        for r in flavor.get("resources") or ()
    }


def _cohort(meta: Json, obj: Json) -> Cohort:
    spec = obj.get("spec") or EMPTY
    status = obj.get("status") or EMPTY
    return Cohort(
        name=text(meta, "name"),
        uid=text(meta, "uid"),
        resource_version=version(meta),
        created_at=parse_time(meta.get("creationTimestamp")),
        parent=words(spec, "parentName") or None,
        groups=_groups(spec),
        fair_weight=_weight(spec),
        weighted_share=(status.get("fairSharing") or EMPTY).get("weightedShare"),
        spec=spec,
    )


def _local_queue(meta: Json, obj: Json) -> LocalQueue:
    spec = obj.get("spec") or EMPTY
    return LocalQueue(
        namespace=text(meta, "namespace"),
        name=text(meta, "name"),
        uid=text(meta, "uid"),
        resource_version=version(meta),
        created_at=parse_time(meta.get("creationTimestamp")),
        cluster_queue=words(spec, "clusterQueue"),
        stop_policy=words(spec, "stopPolicy") or names.STOP_NONE,
        conditions=conditions(obj.get("status") or EMPTY),
        spec=spec,
    )


def _resource_flavor(meta: Json, obj: Json) -> ResourceFlavor:
    spec = obj.get("spec") or EMPTY
    return ResourceFlavor(
        name=text(meta, "name"),
        uid=text(meta, "uid"),
        resource_version=version(meta),
        created_at=parse_time(meta.get("creationTimestamp")),
        node_labels=mapping(spec, "nodeLabels"),
        topology=words(spec, "topologyName"),
        spec=spec,
    )


def _priority_class(meta: Json, obj: Json) -> PriorityClass:
    value, description = int(obj["value"]), words(obj, "description")
    return PriorityClass(
        name=text(meta, "name"),
        uid=text(meta, "uid"),
        resource_version=version(meta),
        created_at=parse_time(meta.get("creationTimestamp")),
        value=value,
        description=description,
        spec={"value": value, "description": description},
    )


def _admission_check(meta: Json, obj: Json) -> AdmissionCheck:
    spec = mapping(obj, "spec")
    return AdmissionCheck(
        name=text(meta, "name"),
        uid=text(meta, "uid"),
        resource_version=version(meta),
        created_at=parse_time(meta.get("creationTimestamp")),
        controller=words(spec, "controllerName"),
        conditions=conditions(mapping(obj, "status")),
        spec=spec,
    )
