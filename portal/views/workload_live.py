"""Parts of a workload's page that are read from the cluster when somebody opens them: pods, events, the manifest.

Each is a page of its own, too. Nothing of them is kept: no ETag, no cache; and a cluster that does not answer, or not
as it should, is a sentence in the part.
"""

import re
from collections.abc import Callable
from typing import Any, Final

import structlog
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from accounts.requests import Request
from gateways.errors import ConfigurationError, Denied, GatewayError, NotFound, Unavailable
from jobs.access import get_workload_and_team_or_404
from jobs.live.event_rows import event_rows
from jobs.live.manifest_text import yaml_text
from jobs.live.masking import masked, messages_of
from jobs.live.pod_rows import pod_rows, texts_of
from jobs.live.reads import events_now, manifest_now, pods_now
from jobs.models import Workload
from jobs.redaction import redaction_for
from portal.live import is_part
from teams.permissions import Permission

log = structlog.get_logger(__name__)

_UID: Final = re.compile(r"[A-Za-z0-9.-]{1,64}")
_MOST_PODS: Final = 100
_MOST_EVENTS: Final = 100
_KINDS: Final = {Unavailable: "silent", Denied: "denied", ConfigurationError: "unreachable"}


@require_safe
def workload_pods(request: Request, cluster: str, uid: str) -> HttpResponse:
    return _part(request, cluster, uid, "pods", _pods)


@require_safe
def workload_events(request: Request, cluster: str, uid: str) -> HttpResponse:
    """Of the workload and its job, or of the pod whose uid `pod` is."""
    return _part(request, cluster, uid, "events", _events)


@require_safe
def workload_manifest(request: Request, cluster: str, uid: str) -> HttpResponse:
    return _part(request, cluster, uid, "manifest", _manifest)


def _pods(request: Request, workload: Workload) -> dict[str, Any]:
    found = pods_now(workload)
    own = (name for pod in found.pods for name in (pod.name, pod.uid))
    redaction = redaction_for(request.user, workload.cluster, texts_of(found.pods), own)
    return {"found": found, "rows": pod_rows(found.pods, redaction)[:_MOST_PODS]}


def _events(request: Request, workload: Workload) -> dict[str, Any]:
    pod_uid = request.GET.get("pod", "")
    if pod_uid and not _UID.fullmatch(pod_uid):
        raise Http404("There is no such pod.")
    found = events_now(workload, pod_uid)
    shown = found[:_MOST_EVENTS]
    redaction = redaction_for(request.user, workload.cluster, (event.message for event in shown), _own(workload))
    return {"found": found, "rows": event_rows(shown, redaction), "pod": found[0].name if pod_uid and found else ""}


def _manifest(request: Request, workload: Workload) -> dict[str, Any]:
    manifest = manifest_now(workload)
    redaction = redaction_for(request.user, workload.cluster, messages_of(manifest), _own(workload))
    return {"text": yaml_text(masked(manifest, redaction.apply))}


def _own(workload: Workload) -> tuple[str, ...]:
    return tuple(filter(None, (workload.uid, workload.owner_uid, workload.job_uid, workload.name, workload.owner_name)))


def _part(
    request: Request, cluster: str, uid: str, part: str, read: Callable[[Request, Workload], dict[str, Any]]
) -> HttpResponse:
    workload, team = get_workload_and_team_or_404(request, cluster, uid, Permission.SEE_RAW)
    context: dict[str, Any] = {"workload": workload, "team": team, "part": part, "now": timezone.now()}
    try:
        context |= read(request, workload)
    except NotFound:
        context["trouble"] = "gone"
    except GatewayError as error:
        log.warning("live read failed", cluster=workload.cluster.slug, part=part, error=type(error).__name__)
        context |= {"trouble": _KINDS.get(type(error), "unreadable"), "error": str(error)}
        context["request_id"] = structlog.contextvars.get_contextvars().get("request_id", "")
    template = "portal/workload_live.html"
    response = render(request, f"{template}#part" if is_part(request) else template, context)
    response["Cache-Control"] = "no-store"
    patch_vary_headers(response, ["HX-Request", "Cookie"])
    return response
