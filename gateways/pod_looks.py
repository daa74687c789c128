"""The pods that Kueue let run, cluster-wide: what the ledger keeps of them, without their specs."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from gateways.http import Api
from gateways.lists import list_pages
from gateways.records import Page, PodLook
from gateways.watches import watch
from gateways.watching import Source
from scheduling import names
from scheduling.objects import Json
from scheduling.parsing import UNREADABLE, MalformedObject, parse_time

RELIST_SECONDS: Final = 3600.0  # pods are listed whole, and there may be tens of thousands

_PATH: Final = "/api/v1/pods"
_EMPTY: Final[dict[str, Any]] = {}
_LONGEST_REASON: Final = 200
_OVER: Final = ("Succeeded", "Failed")


def pod_source(api: Api) -> Source[PodLook]:
    """What `watching.follow` needs of these pods."""
    follow = partial(watch, api, _PATH, parse_pod_look, selector=names.POD_SET_LABEL)
    return Source(partial(list_pod_looks, api), follow, relist_seconds=RELIST_SECONDS)


def list_pod_looks(api: Api) -> Iterator[Page[PodLook]]:
    """All that are there. Raises GatewayError."""
    return list_pages(api, _PATH, parse_pod_look, query={"labelSelector": names.POD_SET_LABEL})


def parse_pod_look(obj: Json) -> PodLook:
    """A Pod object. Raises MalformedObject."""
    try:
        return _look(obj["metadata"], obj.get("spec") or _EMPTY, obj.get("status") or _EMPTY)
    except UNREADABLE as error:
        raise MalformedObject(f"a pod with a field missing or unexpected ({error})") from error


def _look(meta: Json, spec: Json, status: Json) -> PodLook:
    labels, annotations = meta.get("labels") or _EMPTY, meta.get("annotations") or _EMPTY
    containers = [each.get("state") or _EMPTY for each in status.get("containerStatuses") or ()]
    ends = [state["terminated"] for state in containers if state.get("terminated")]
    is_over = status.get("phase") in _OVER or bool(ends) and len(ends) == len(containers)
    reason, exit_code = _why(status, ends)
    node = str(spec.get("nodeName") or "")
    return PodLook(
        uid=str(meta["uid"]),
        namespace=str(meta["namespace"]),
        name=str(meta["name"]),
        resource_version=int(meta["resourceVersion"]),
        workload=str(annotations.get(names.WORKLOAD_ANNOTATION) or labels.get(names.POD_GROUP_LABEL) or ""),
        job_uids=tuple(dict.fromkeys(_job_uids(meta, labels))),
        node=node,
        bound_at=_bound_at(meta, status) if node else None,
        phase=str(status.get("phase") or ""),
        stop_at=_stop_at(meta),
        ended_at=_ended_at(ends, status) if is_over else None,
        reason=reason[:_LONGEST_REASON],
        exit_code=exit_code,
        restarts=sum(int(each.get("restartCount") or 0) for each in status.get("containerStatuses") or ()),
    )


def _job_uids(meta: Json, labels: Json) -> Iterator[str]:
    yield str(meta["uid"])
    yield from (str(owner["uid"]) for owner in meta.get("ownerReferences") or ())
    yield from (str(value) for label, value in labels.items() if label.endswith("uid") and value)


def _condition(status: Json, kind: str) -> Json:
    """The condition if it is true."""
    conditions = status.get("conditions") or ()
    return next((c for c in conditions if (c.get("type"), c.get("status")) == (kind, "True")), _EMPTY)


def _bound_at(meta: Json, status: Json) -> datetime | None:
    scheduled = _condition(status, "PodScheduled").get("lastTransitionTime")
    return parse_time(scheduled or status.get("startTime") or meta.get("creationTimestamp"))


def _stop_at(meta: Json) -> datetime | None:
    """The deletion's time is when the pod's grace will be over."""
    end = parse_time(meta.get("deletionTimestamp"))
    return end - timedelta(seconds=int(meta.get("deletionGracePeriodSeconds") or 0)) if end else None


def _ended_at(ends: list[Json], status: Json) -> datetime | None:
    told = [parse_time(end.get("finishedAt")) for end in ends]
    known = [time for time in told if time]
    return max(known) if known else parse_time(_condition(status, names.DISRUPTION_TARGET).get("lastTransitionTime"))


def _why(status: Json, ends: list[Json]) -> tuple[str, int | None]:
    """What stopped it from outside, else how the first container that failed did."""
    disrupted = _condition(status, names.DISRUPTION_TARGET).get("reason") or status.get("reason")
    bad = next((end for end in ends if end.get("exitCode")), _EMPTY)
    code = bad.get("exitCode")
    return str(disrupted or bad.get("reason") or ""), None if code is None else int(code)
