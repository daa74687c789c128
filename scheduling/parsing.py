"""From the API server's JSON, v1beta1 or v1beta2, to the records of `objects`. The only parser.

Every `parse_*` raises MalformedObject with a sentence when a field it needs cannot be read. Fields, conditions, reasons
and resources it does not know are left as they are. Here Workloads; queue objects are read in `queue_parsing`.
"""

from collections.abc import Iterable, Mapping

from scheduling import names
from scheduling.objects import (
    Admission,
    AdmissionCheckState,
    Evictions,
    Json,
    Owner,
    PodSet,
    PodSetAssignment,
    Workload,
)
from scheduling.pods import pod_requests
from scheduling.queue_parsing import (
    parse_admission_check,
    parse_cluster_queue,
    parse_cohort,
    parse_local_queue,
    parse_priority_class,
    parse_resource_flavor,
)
from scheduling.reading import (
    EMPTY,
    UNREADABLE,
    MalformedObject,
    conditions,
    mapping,
    parse_resources,
    parse_time,
    read_object,
    text,
    version,
    words,
)

__all__ = [
    "UNREADABLE",
    "MalformedObject",
    "parse_admission_check",
    "parse_cluster_queue",
    "parse_cohort",
    "parse_local_queue",
    "parse_priority_class",
    "parse_resource_flavor",
    "parse_resources",
    "parse_time",
    "parse_workload",
    "pod_requests",
]


def parse_workload(obj: Json) -> Workload:
    """A Workload object. Raises MalformedObject."""
    return read_object(obj, _workload)


def _labels(meta: Json) -> Mapping[str, str]:
    labels = mapping(meta, "labels")
    words(labels, names.JOB_UID_LABEL)  # the one that is stored by itself
    return labels


def _owner(meta: Json) -> Owner | None:
    references = meta.get("ownerReferences") or ()
    for reference in references:
        if reference.get("controller") or len(references) == 1:
            return Owner(text(reference, "kind"), text(reference, "name"), text(reference, "uid"))
    return None


def _boost(annotations: Json) -> int:
    text = annotations.get(names.PRIORITY_BOOST_ANNOTATION)
    try:
        return int(text) if text else 0
    except ValueError:
        return 0  # Kueue falls back to the base priority, too


def _workload(meta: Json, obj: Json) -> Workload:
    spec = obj["spec"]
    status = obj.get("status") or EMPTY
    annotations = meta.get("annotations") or EMPTY
    requeue = status.get("requeueState") or EMPTY
    class_ref = spec.get("priorityClassRef") or EMPTY
    past = status.get("accumulatedPastExecutionTimeSeconds", status.get("accumulatedPastExexcutionTimeSeconds"))
    pod_sets = tuple([_pod_set(p) for p in spec.get("podSets") or ()])
    return Workload(
        uid=text(meta, "uid"),
        namespace=text(meta, "namespace"),
        name=text(meta, "name"),
        resource_version=version(meta),
        created_at=parse_time(meta.get("creationTimestamp")),
        deleted_at=parse_time(meta.get("deletionTimestamp")),
        labels=_labels(meta),
        queue_name=words(spec, "queueName"),
        priority=int(spec.get("priority") or 0),
        priority_boost=_boost(annotations),
        priority_class=words(class_ref, "name") or words(spec, "priorityClassName"),
        active=spec.get("active") is not False,
        owner=_owner(meta),
        pod_sets=pod_sets,
        conditions=conditions(status),
        admission=_admission(status.get("admission"), pod_sets),
        reclaimable=_reclaimable(status.get("reclaimablePods")),
        pending_requests=_pending_requests(status.get("resourceRequests")),
        requeue_at=parse_time(requeue.get("requeueAt")),
        requeue_count=int(requeue.get("count") or 0),
        evictions=_evictions(status.get("schedulingStats")),
        accumulated_seconds=int(past or 0),
        maximum_seconds=spec.get("maximumExecutionTimeSeconds"),
        checks=_checks(status.get("admissionChecks")),
        is_gated=bool(annotations.get(names.ADMISSION_GATE_ANNOTATION)),
        last_checkpoint=str(annotations.get(names.LAST_CHECKPOINT_ANNOTATION) or ""),
    )


def _reclaimable(pods: Iterable[Json] | None) -> Mapping[str, int]:
    return {p["name"]: int(p["count"]) for p in pods} if pods else EMPTY


def _pending_requests(requests: Iterable[Json] | None) -> Mapping[str, Mapping[str, int]]:
    return {r["name"]: parse_resources(r.get("resources")) for r in requests} if requests else EMPTY


def _evictions(stats: Json | None) -> tuple[Evictions, ...]:
    counters = stats.get("evictions") if stats else None
    if not counters:
        return ()
    return tuple([Evictions(text(c, "reason"), words(c, "underlyingCause"), int(c["count"])) for c in counters])


def _checks(checks: Iterable[Json] | None) -> tuple[AdmissionCheckState, ...]:
    if not checks:
        return ()
    return tuple([AdmissionCheckState(text(c, "name"), words(c, "state"), words(c, "message")) for c in checks])


def _pod_set(pod_set: Json) -> PodSet:
    return PodSet(pod_set["name"], int(pod_set["count"]), pod_set.get("minCount"), pod_set.get("template") or EMPTY)


def _admission(admission: Json | None, pod_sets: Iterable[PodSet]) -> Admission | None:
    if not admission:
        return None
    assignments = [_assignment(a, pod_sets) for a in admission.get("podSetAssignments") or ()]
    return Admission(text(admission, "clusterQueue"), tuple(assignments))


def _assignment(assignment: Json, pod_sets: Iterable[PodSet]) -> PodSetAssignment:
    name, count = assignment["name"], assignment.get("count")
    if count is None:
        count = next((p.count for p in pod_sets if p.name == name), 0)
    usage = parse_resources(assignment.get("resourceUsage"))
    flavors = mapping(assignment, "flavors")
    return PodSetAssignment(name, {resource: text(flavors, resource) for resource in flavors}, usage, int(count))
