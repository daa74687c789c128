"""Pages that keep themselves current: the page asks for its own live part every few seconds and mostly gets a 304.

A part's ETag is a hash of who reads it with which roles, in which language and zone, at which address, and of the
version of the facts of the clusters shown; ages are left to the script. It is keyed, so that nobody can guess the
versions of what is not shown to them, and weak, since ages differ. Roles and versions cost one query each.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any, TypeAlias, TypeVar

from django.http import HttpResponse, HttpResponseNotModified
from django.shortcuts import render
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers
from django.utils.crypto import salted_hmac
from django.utils.http import parse_etags

from accounts.requests import Request
from portal.sync_runs import Freshness, SlugQuery, freshness
from teams.roles import Roles, roles_of

View = TypeVar("View", bound=Callable[..., HttpResponse])
Slugs: TypeAlias = Collection[str] | SlugQuery

_PART = "live"


@dataclass(frozen=True, slots=True)
class Facts:
    """How old each shown cluster's facts are, at the moment of the request."""

    by_cluster: Mapping[str, Freshness]
    now: datetime

    def is_stale(self, cluster: str) -> bool:
        return self.by_cluster[cluster].is_stale(self.now)

    def told(self, clusters: Iterable[Any]) -> list[tuple[Any, Freshness, bool]]:
        """Those of the clusters that the page shows, each with the age of its facts and whether they are old."""
        shown = (cluster for cluster in clusters if cluster.slug in self.by_cluster)
        return [(each, self.by_cluster[each.slug], self.is_stale(each.slug)) for each in shown]

    @property
    def as_of(self) -> datetime | None:
        """The oldest of them; None when one was never read."""
        reads = [fresh.as_of for fresh in self.by_cluster.values()]
        return None if None in reads else min((read for read in reads if read), default=None)


def live(
    sources: Collection[str], clusters_of: Callable[..., Slugs], *, renew_seconds: int = 0
) -> Callable[[View], View]:
    """For views that show facts of clusters. `clusters_of(request, **url)` gives their slugs, or a query for them,
    without deciding access: that is the view's, which runs unless the reader has this very version already. The view
    finds `request.facts`. `renew_seconds`: what the page says also depends on time alone, so it is made anew so often.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapped(request: Request, **url: Any) -> HttpResponse:
            shown = clusters_of(request, **url)
            facts = request.facts = Facts(freshness(sources, shown), timezone.now())
            if not is_part(request):
                return _with_headers(view(request, **url), facts)
            etag = _etag(request, facts, renew_seconds)
            is_known = etag in parse_etags(request.headers.get("If-None-Match", ""))
            response = HttpResponseNotModified() if is_known else view(request, **url)
            return _with_headers(response, facts, etag)

        return wrapped  # type: ignore[return-value]

    return decorate


def is_part(request: Request) -> bool:
    """Whether the page's script asks for the live part alone."""
    return request.headers.get("HX-Request") == "true"


def render_live(request: Request, template: str, context: dict[str, Any]) -> HttpResponse:
    """The whole page, or its part named `live`."""
    name = f"{template}#{_PART}" if is_part(request) else template
    return render(request, name, {**context, "facts": request.facts, "now": request.facts.now})


def _etag(request: Request, facts: Facts, renew_seconds: int) -> str:
    """Of facts that are old, the page tells since when and why, too."""
    states = [
        (slug, fresh.version, fresh if facts.is_stale(slug) else None)
        for slug, fresh in sorted(facts.by_cluster.items())
    ]
    roles = roles_of(request.user)
    parts = (request.user.pk, _role_set(roles), translation.get_language(), timezone.get_current_timezone_name())
    period = int(facts.now.timestamp()) // renew_seconds if renew_seconds else 0
    text = repr((parts, request.get_full_path(), states, period))
    return f'W/"{salted_hmac("portal.live", text, algorithm="sha256").hexdigest()[:32]}"'


def _role_set(roles: Roles) -> tuple[object, ...]:
    return (sorted(roles.teams.items()), sorted(roles.platform))


def _with_headers(response: HttpResponse, facts: Facts, etag: str = "") -> HttpResponse:
    if response.status_code not in (200, 304):
        return response  # of a page that is not there nothing is told
    if etag:
        response["ETag"] = etag
    patch_vary_headers(response, ["HX-Request", "Cookie"])
    if facts.as_of:
        response["X-Facts-As-Of"] = facts.as_of.isoformat()
    return response
