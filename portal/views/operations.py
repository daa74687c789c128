"""What machines ask: /healthz and /readyz for probes, /metrics for Prometheus."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from portal.views.health import healthz, readyz
from portal.views.metrics import metrics

_VIEWS = {"/healthz": healthz, "/readyz": readyz, "/metrics": metrics}


def operations(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware before sessions, people, host names and TLS: probes come without any of them, by the pod's address."""

    def middleware(request: HttpRequest) -> HttpResponse:
        view = _VIEWS.get(request.path_info, get_response)
        return view(request)

    return middleware
