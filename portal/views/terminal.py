"""How a team's people reach their clusters from a terminal of theirs."""

from dataclasses import dataclass

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.requests import Request
from teams.access import get_team_or_404
from teams.models import Cluster, Team, Terminal
from teams.terminal_text import (
    Place,
    aws_config,
    configure_command,
    first_commands,
    kubeconfig,
    sign_in_commands,
)
from teams.terminals import place_of, terminals_of


@dataclass(frozen=True, slots=True)
class Shown:
    """One cluster's part of the page."""

    cluster: Cluster
    terminal: Terminal
    config: str
    configure: str
    sign_in: tuple[str, ...]
    first: tuple[str, ...]
    has_kubeconfig: bool


@require_safe
def team_terminal(request: Request, slug: str) -> HttpResponse:
    team = get_team_or_404(request, slug)
    shown = [_shown(terminal, place) for terminal, place in terminals_of(team)]
    return render(request, "portal/terminal.html", {"team": team, "shown": shown})


def _shown(terminal: Terminal, place: Place) -> Shown:
    cluster = terminal.cluster
    texts = (aws_config(place), configure_command(place), sign_in_commands(place), first_commands(place))
    return Shown(cluster, terminal, *texts, bool(cluster.api_endpoint))


@require_safe
def team_kubeconfig(request: Request, slug: str, cluster: str) -> HttpResponse:
    """A file without a secret, where the portal knows the cluster's address and certificate."""
    team = get_team_or_404(request, slug)
    terminal, place = _terminal_or_404(team, cluster)
    content = kubeconfig(place, terminal.cluster.api_endpoint, terminal.cluster.api_authority)
    response = HttpResponse(content, content_type="application/yaml")
    response["Content-Disposition"] = f'attachment; filename="kubeconfig-{place.profile}.yaml"'
    return response


def _terminal_or_404(team: Team, cluster: str) -> tuple[Terminal, Place]:
    found = place_of(team, cluster)
    if found is None or not found[0].cluster.api_endpoint:
        raise Http404("There is no kubeconfig of such a cluster for this team.")
    return found
