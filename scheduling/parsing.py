"""From the API server's JSON, v1beta1 or v1beta2, to the records of `objects`. The only parser.

Every `parse_*` raises MalformedObject with a sentence when a field it needs cannot be read. Fields, conditions, reasons
and resources it does not know are left as they are.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from scheduling import names
from scheduling.objects import (
    WEIGHT_ONE,
    Admission,
    AdmissionCheckState,
    ClusterQueue,
    Cohort,
    Condition,
    Evictions,
    FlavorQuotas,
    Json,
    LocalQueue,
    Owner,
    PodSet,
    PodSetAssignment,
    Preemption,
    PriorityClass,
    QueueStatus,
    Quota,
    ReportedUsage,
    ResourceFlavor,
    ResourceGroup,
    Workload,
)
from scheduling.quantities import BadQuantity, parse_milli, parse_quantity, saturate

Record = TypeVar("Record")

_EMPTY: Mapping[str, Any] = {}
_TRUTH = {"True": True, "False": False}
_LONGEST_REASON = 200


class MalformedObject(ValueError):
    """An object of the cluster that cannot be read; the text names it and says why."""


def parse_workload(obj: Json) -> Workload:
    """A Workload object. Raises MalformedObject."""
    return _read(obj, _workload)


def parse_cluster_queue(obj: Json) -> ClusterQueue:
    """A ClusterQueue object. Raises MalformedObject."""
    return _read(obj, _cluster_queue)


def parse_cohort(obj: Json) -> Cohort:
    """A Cohort object. Raises MalformedObject."""
    return _read(obj, _cohort)


def parse_local_queue(obj: Json) -> LocalQueue:
    """A LocalQueue object. Raises MalformedObject."""
    return _read(obj, _local_queue)


def parse_resource_flavor(obj: Json) -> ResourceFlavor:
    """A ResourceFlavor object. Raises MalformedObject."""
    return _read(obj, _resource_flavor)


def parse_priority_class(obj: Json) -> PriorityClass:
    """A WorkloadPriorityClass object, whose value stands beside its metadata. Raises MalformedObject."""
    return _read(obj, _priority_class)


def parse_time(text: str | None) -> datetime | None:
    """An API time as an aware UTC datetime; None stays None. Raises ValueError."""
    if not text:
        return None
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def parse_resources(listed: Json | None) -> dict[str, int]:
    """A resource list in smallest units. Raises BadQuantity."""
    return {name: parse_quantity(text, name) for name, text in listed.items()} if listed else {}


def pod_requests(template: Json) -> dict[str, int]:
    """What one pod of a template asks for, limits standing in for missing requests. Raises BadQuantity."""
    spec = template.get("spec") or _EMPTY
    running = _sum(_requests_of(c) for c in spec.get("containers") or ())
    sidecars: dict[str, int] = {}
    starting: dict[str, int] = {}
    for container in spec.get("initContainers") or ():
        asked = _requests_of(container)
        if container.get("restartPolicy") == "Always":
            running, sidecars = _sum((running, asked)), _sum((sidecars, asked))
            continue
        starting = _most(starting, _sum((sidecars, asked)))  # only the sidecars before it run by then
    together = {**_most(running, starting), **_pod_level(spec)}
    return _sum((together, parse_resources(spec.get("overhead"))))


def _pod_level(spec: Json) -> dict[str, int]:
    """Requests of the pod as a whole, which replace those of its containers."""
    return {name: amount for name, amount in _requests_of(spec).items() if names.is_pod_level(name)}


def _most(amounts: Mapping[str, int], others: Mapping[str, int]) -> dict[str, int]:
    return {name: max(amounts.get(name, 0), others.get(name, 0)) for name in {**amounts, **others}}


def _requests_of(container: Json) -> dict[str, int]:
    resources = container.get("resources") or _EMPTY
    return parse_resources({**(resources.get("limits") or _EMPTY), **(resources.get("requests") or _EMPTY)})


def _sum(amounts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for each in amounts:
        for name, amount in each.items():
            total[name] = saturate(total.get(name, 0) + amount)
    return total


def _read(obj: Json, read: Callable[[Json, Json], Record]) -> Record:
    try:
        return read(obj["metadata"], obj)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
        raise MalformedObject(f"{_title(obj)}: {_why(error)}") from error


def _title(obj: object) -> str:
    meta = obj.get("metadata") if isinstance(obj, dict) else None
    if not isinstance(meta, dict):
        return "an object without metadata"
    place = "/".join(str(part) for part in (meta.get("namespace"), meta.get("name")) if part)
    return f"{obj.get('kind') or 'object'} {place or '(no name)'}"  # type: ignore[attr-defined]


def _why(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"field {error.args[0]} is missing"
    if isinstance(error, BadQuantity):
        return str(error)
    return f"a field has an unexpected form ({type(error).__name__}: {str(error)[:_LONGEST_REASON]})"


def _text(holder: Json, field: str) -> str:
    text = holder[field]
    if not isinstance(text, str):
        raise TypeError(f"{field} is {type(text).__name__}")
    return text


def _mapping(holder: Json, field: str) -> Mapping[str, Any]:
    mapping = holder.get(field) or _EMPTY
    if not isinstance(mapping, dict):
        raise TypeError(f"{field} is {type(mapping).__name__}")
    return mapping


def _version(meta: Json) -> int:
    return int(meta.get("resourceVersion") or 0)


def _conditions(status: Json) -> dict[str, Condition]:
    return {
        c["type"]: Condition(
            c["type"],
            _TRUTH.get(c["status"]),
            c.get("reason") or "",
            c.get("message") or "",
            parse_time(c.get("lastTransitionTime")),
        )
        for c in status.get("conditions") or ()
    }


def _owner(meta: Json) -> Owner | None:
    references = meta.get("ownerReferences") or ()
    for reference in references:
        if reference.get("controller") or len(references) == 1:
            return Owner(reference["kind"], reference["name"], reference["uid"])
    return None


def _boost(annotations: Json) -> int:
    text = annotations.get(names.PRIORITY_BOOST_ANNOTATION)
    try:
        return int(text) if text else 0
    except ValueError:
        return 0  # Kueue falls back to the base priority, too


def _workload(meta: Json, obj: Json) -> Workload:
    spec = obj["spec"]
    status = obj.get("status") or _EMPTY
    annotations = meta.get("annotations") or _EMPTY
    requeue = status.get("requeueState") or _EMPTY
    class_ref = spec.get("priorityClassRef") or _EMPTY
    past = status.get("accumulatedPastExecutionTimeSeconds", status.get("accumulatedPastExexcutionTimeSeconds"))
    pod_sets = tuple([_pod_set(p) for p in spec.get("podSets") or ()])
    return Workload(
        uid=_text(meta, "uid"),
        namespace=_text(meta, "namespace"),
        name=_text(meta, "name"),
        resource_version=_version(meta),
        created_at=parse_time(meta.get("creationTimestamp")),
        deleted_at=parse_time(meta.get("deletionTimestamp")),
        labels=_mapping(meta, "labels"),
        queue_name=spec.get("queueName") or "",
        priority=int(spec.get("priority") or 0),
        priority_boost=_boost(annotations),
        priority_class=class_ref.get("name") or spec.get("priorityClassName") or "",
        active=spec.get("active") is not False,
        owner=_owner(meta),
        pod_sets=pod_sets,
        conditions=_conditions(status),
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
    )


def _reclaimable(pods: Iterable[Json] | None) -> Mapping[str, int]:
    return {p["name"]: int(p["count"]) for p in pods} if pods else _EMPTY


def _pending_requests(requests: Iterable[Json] | None) -> Mapping[str, Mapping[str, int]]:
    return {r["name"]: parse_resources(r.get("resources")) for r in requests} if requests else _EMPTY


def _evictions(stats: Json | None) -> tuple[Evictions, ...]:
    counters = stats.get("evictions") if stats else None
    if not counters:
        return ()
    return tuple([Evictions(c["reason"], c.get("underlyingCause") or "", int(c["count"])) for c in counters])


def _checks(checks: Iterable[Json] | None) -> tuple[AdmissionCheckState, ...]:
    if not checks:
        return ()
    return tuple([AdmissionCheckState(c["name"], c.get("state") or "", c.get("message") or "") for c in checks])


def _pod_set(pod_set: Json) -> PodSet:
    return PodSet(pod_set["name"], int(pod_set["count"]), pod_set.get("minCount"), pod_set.get("template") or _EMPTY)


def _admission(admission: Json | None, pod_sets: Iterable[PodSet]) -> Admission | None:
    if not admission:
        return None
    assignments = [_assignment(a, pod_sets) for a in admission.get("podSetAssignments") or ()]
    return Admission(_text(admission, "clusterQueue"), tuple(assignments))


def _assignment(assignment: Json, pod_sets: Iterable[PodSet]) -> PodSetAssignment:
    name, count = assignment["name"], assignment.get("count")
    if count is None:
        count = next((p.count for p in pod_sets if p.name == name), 0)
    usage = parse_resources(assignment.get("resourceUsage"))
    return PodSetAssignment(name, _mapping(assignment, "flavors"), usage, int(count))


def _cluster_queue(meta: Json, obj: Json) -> ClusterQueue:
    spec = _current_spelling(obj.get("spec") or _EMPTY)
    return ClusterQueue(
        name=meta["name"],
        uid=meta["uid"],
        resource_version=_version(meta),
        created_at=parse_time(meta.get("creationTimestamp")),
        deleted_at=parse_time(meta.get("deletionTimestamp")),
        cohort=spec.get("cohortName") or None,
        groups=_groups(spec),
        strategy=spec.get("queueingStrategy") or names.BEST_EFFORT_FIFO,
        preemption=_preemption(spec.get("preemption") or _EMPTY),
        stop_policy=spec.get("stopPolicy") or names.STOP_NONE,
        fair_weight=_weight(spec),
        conditions=_conditions(obj.get("status") or _EMPTY),
        status=_queue_status(obj.get("status") or _EMPTY),
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
            tuple(FlavorQuotas(f["name"], _quotas(f.get("resources") or ())) for f in group.get("flavors") or ()),
        )
        for group in spec.get("resourceGroups") or ()
    )


def _quotas(resources: Iterable[Json]) -> dict[str, Quota]:
    return {
        r["name"]: Quota(
            parse_quantity(r.get("nominalQuota") or 0, r["name"]),
            _limit(r.get("borrowingLimit"), r["name"]),
            _limit(r.get("lendingLimit"), r["name"]),
        )
        for r in resources
    }


def _limit(text: str | int | None, resource: str) -> int | None:
    return None if text is None else parse_quantity(text, resource)


def _preemption(preemption: Json) -> Preemption:
    borrowing = preemption.get("borrowWithinCohort") or _EMPTY
    return Preemption(
        preemption.get("withinClusterQueue") or names.NEVER,
        preemption.get("reclaimWithinCohort") or names.NEVER,
        borrowing.get("policy") or names.NEVER,
        borrowing.get("maxPriorityThreshold"),
    )


def _weight(spec: Json) -> int:
    weight = (spec.get("fairSharing") or _EMPTY).get("weight")
    return WEIGHT_ONE if weight is None else parse_milli(weight)


def _queue_status(status: Json) -> QueueStatus:
    return QueueStatus(
        _reported(status.get("flavorsReservation") or ()),
        _reported(status.get("flavorsUsage") or ()),
        int(status.get("pendingWorkloads") or 0),
        int(status.get("reservingWorkloads") or 0),
        int(status.get("admittedWorkloads") or 0),
        (status.get("fairSharing") or _EMPTY).get("weightedShare"),
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
    spec = obj.get("spec") or _EMPTY
    status = obj.get("status") or _EMPTY
    return Cohort(
        name=meta["name"],
        uid=meta["uid"],
        resource_version=_version(meta),
        created_at=parse_time(meta.get("creationTimestamp")),
        parent=spec.get("parentName") or None,
        groups=_groups(spec),
        fair_weight=_weight(spec),
        weighted_share=(status.get("fairSharing") or _EMPTY).get("weightedShare"),
        spec=spec,
    )


def _local_queue(meta: Json, obj: Json) -> LocalQueue:
    spec = obj.get("spec") or _EMPTY
    return LocalQueue(
        namespace=meta["namespace"],
        name=meta["name"],
        uid=meta["uid"],
        resource_version=_version(meta),
        created_at=parse_time(meta.get("creationTimestamp")),
        cluster_queue=spec.get("clusterQueue") or "",
        stop_policy=spec.get("stopPolicy") or names.STOP_NONE,
        conditions=_conditions(obj.get("status") or _EMPTY),
        spec=spec,
    )


def _resource_flavor(meta: Json, obj: Json) -> ResourceFlavor:
    spec = obj.get("spec") or _EMPTY
    return ResourceFlavor(
        name=meta["name"],
        uid=meta["uid"],
        resource_version=_version(meta),
        created_at=parse_time(meta.get("creationTimestamp")),
        node_labels=spec.get("nodeLabels") or _EMPTY,
        topology=spec.get("topologyName") or "",
        spec=spec,
    )


def _priority_class(meta: Json, obj: Json) -> PriorityClass:
    value, description = int(obj["value"]), obj.get("description") or ""
    return PriorityClass(
        name=meta["name"],
        uid=meta["uid"],
        resource_version=_version(meta),
        created_at=parse_time(meta.get("creationTimestamp")),
        value=value,
        description=description,
        spec={"value": value, "description": description},
    )
