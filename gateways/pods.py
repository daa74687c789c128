"""The pods of a job, whatever its kind, as the cluster shows them now."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final
from urllib.parse import quote

from gateways.http import Api
from gateways.lists import list_pages
from gateways.records import ContainerRecord, PodRecord
from scheduling.names import POD_GROUP_LABEL, POD_LABEL_OF_KIND, WORKLOAD_ANNOTATION
from scheduling.objects import Json, Owner
from scheduling.parsing import UNREADABLE, MalformedObject, parse_time

_MOST_PAGES: Final = 4
_LONGEST_LABEL: Final = 63
_EMPTY: Final[dict[str, Any]] = {}
_STATES: Final = ("waiting", "terminated", "running")


@dataclass(frozen=True, slots=True)
class JobName:
    """A job as its Workload names it; what is not known is empty."""

    namespace: str
    workload: str
    kind: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class JobPods:
    """`unread` counts pods that could not be read. Not complete: the namespace has more pods than were looked at."""

    pods: tuple[PodRecord, ...]
    unread: int
    is_complete: bool


def pods_of(api: Api, job: JobName, seconds: float = 5.0) -> JobPods:
    """The job's pods among the first 2,000 of its namespace, or of those that carry the label of its kind. After
    `seconds` no further page is asked for. Raises GatewayError."""
    narrow, end = _narrowed(job), time.monotonic() + seconds
    found = _read(api, job, narrow, end)
    return found if found.pods or not narrow else _read(api, job, {}, end)


def _narrowed(job: JobName) -> dict[str, str]:
    """A query that the server can answer with the job's pods alone; empty where it cannot, or they may be others."""
    if job.kind == "Pod":
        return {"fieldSelector": f"metadata.name={job.name}"}
    label, name = POD_LABEL_OF_KIND.get(job.kind, ""), job.name
    if not job.name:
        label, name = POD_GROUP_LABEL, job.workload
    return {"labelSelector": f"{label}={name}"} if label and len(name) <= _LONGEST_LABEL else {}


def _read(api: Api, job: JobName, query: dict[str, str], end: float) -> JobPods:
    path = f"/api/v1/namespaces/{quote(job.namespace, safe='')}/pods"
    pods: list[PodRecord] = []
    unread, is_complete = 0, False
    for page in islice(list_pages(api, path, parse_pod, query={**query}), _MOST_PAGES):
        if page.restarted:
            pods, unread = [], 0
        pods += [pod for pod in page.records if is_of(pod, job)]
        unread += len(page.malformed)
        is_complete = page.is_last
        if time.monotonic() > end:
            break
    return JobPods(tuple(pods), unread, is_complete)


def is_of(pod: PodRecord, job: JobName) -> bool:
    """Whether the pod is the job's: by uid, by what Kueue noted, or by a label with the job's name, unless its owner is
    another job of that name."""
    if job.uid and job.uid in {pod.uid, *(owner.uid for owner in pod.owners), *pod.labels.values()}:
        return True
    if pod.workload or POD_GROUP_LABEL in pod.labels:
        return job.workload in (pod.workload, pod.labels.get(POD_GROUP_LABEL))
    label = POD_LABEL_OF_KIND.get(job.kind)
    is_namesake = any((owner.kind, owner.name) == (job.kind, job.name) for owner in pod.owners)
    return label is not None and pod.labels.get(label) == job.name and not is_namesake


def parse_pod(obj: Json) -> PodRecord:
    """A Pod object. Raises MalformedObject."""
    try:
        meta, spec, status = obj["metadata"], obj.get("spec") or _EMPTY, obj.get("status") or _EMPTY
        reason, message = _why(status)
        return PodRecord(
            name=_text(meta["name"]),
            uid=_text(meta["uid"]),
            owners=tuple([Owner(o["kind"], o["name"], o["uid"]) for o in meta.get("ownerReferences") or ()]),
            labels={name: _text(value) for name, value in (meta.get("labels") or _EMPTY).items()},
            workload=_text((meta.get("annotations") or _EMPTY).get(WORKLOAD_ANNOTATION)),
            created_at=parse_time(meta.get("creationTimestamp")),
            is_stopping=bool(meta.get("deletionTimestamp")),
            phase=_text(status.get("phase")),
            reason=reason,
            message=message,
            node=_text(spec.get("nodeName")),
            containers=tuple(_containers(spec, status)),
        )
    except UNREADABLE as error:
        raise MalformedObject(f"a pod with a field missing or unexpected ({error})") from error


def _why(status: Json) -> tuple[str, str]:
    """Its own reason and message, or why it has no node."""
    if status.get("reason") or status.get("message"):
        return _text(status.get("reason")), _text(status.get("message"))
    for condition in status.get("conditions") or ():
        if (condition.get("type"), condition.get("status")) == ("PodScheduled", "False"):
            return _text(condition.get("reason")), _text(condition.get("message"))
    return "", ""


def _containers(spec: Json, status: Json) -> Iterator[ContainerRecord]:
    """In the order of the spec; one that nothing is told of yet has no state."""
    for listed, told, is_init in (
        ("initContainers", "initContainerStatuses", True),
        ("containers", "containerStatuses", False),
        ("ephemeralContainers", "ephemeralContainerStatuses", False),
    ):
        statuses = {each["name"]: each for each in status.get(told) or ()}
        for container in spec.get(listed) or ():
            yield _container(container, statuses.get(container["name"]) or _EMPTY, is_init)


def _container(container: Json, status: Json, is_init: bool) -> ContainerRecord:
    state, last = status.get("state") or _EMPTY, status.get("lastState") or _EMPTY
    kind = next((kind for kind in _STATES if kind in state), "")
    now, before = state.get(kind) or _EMPTY, last.get("terminated") or _EMPTY
    return ContainerRecord(
        name=_text(container["name"]),
        image=_text(container.get("image")),
        is_init=is_init,
        is_ready=bool(status.get("ready")),
        restarts=int(status.get("restartCount") or 0),
        state=kind,
        reason=_text(now.get("reason")),
        message=_text(now.get("message")),
        exit_code=_code(now),
        last_reason=_text(before.get("reason")),
        last_exit_code=_code(before),
    )


def _code(state: Json) -> int | None:
    code = state.get("exitCode")
    return None if code is None else int(code)


def _text(value: object) -> str:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} where a text was expected")
    return value or ""
