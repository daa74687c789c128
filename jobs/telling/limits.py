"""What passed a limit that a person set for themselves: a job's waiting, a team's loss in a week."""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime, time, timedelta
from typing import Final

from django.db.models import Q, Sum

from jobs.models import Eviction, Workload
from notices.kinds import Kind
from notices.models import Habits, Notice
from notices.outbox import notice, post
from notices.recipients import Audience, audience_of
from teams.models import Cluster, NamespaceBinding, Team
from teams.roles import read_roles

_HOUR: Final = 3600


def tell_beyond(now: datetime) -> None:
    """Once for each wait, and once for each week, team and cluster. Run twice it changes nothing."""
    limited = Habits.objects.exclude(wait_hours=None, loss_gpu_hours=None).filter(user__archived_at__isnull=True)
    for habits in limited.select_related("user"):
        teams = Team.objects.active().filter(pk__in=read_roles(habits.user).teams)
        followed = {team.pk: team for team in teams.exclude(unfollowed__user=habits.user_id)}
        if habits.wait_hours is not None:
            post(_waiting(habits.user_id, habits.wait_hours, set(teams.values_list("pk", flat=True)), now))
        if habits.loss_gpu_hours is not None:
            post(_losses(habits.user_id, habits.loss_gpu_hours, followed, now))


def _waiting(person: int, hours: int, teams: Collection[int], now: datetime) -> Iterator[Notice]:
    """Jobs of the person, and those that name nobody of a team that they follow."""
    audience: Audience = audience_of(teams)
    owners = {(each.cluster_id, each.namespace): each.team_id for each in _bindings(teams)}
    long = Workload.objects.waiting().of_teams(Team.objects.filter(pk__in=teams))
    for workload in long.filter(since__lt=now - timedelta(hours=hours)).select_related("cluster"):
        team = owners[workload.cluster_id, workload.namespace]
        if person in audience.people_of(team, workload.submitter):
            yield notice(
                Kind.WAITS_LONG,
                workload.cluster,
                workload.uid,
                once=f"{person} {workload.since}",
                at=now,
                team_id=team,
                title=workload.title,
                recipient_id=person,
                details={"namespace": workload.namespace, "hours": hours},
            )


def _losses(person: int, limit: int, teams: dict[int, Team], now: datetime) -> Iterator[Notice]:
    monday = datetime.combine(now.astimezone(UTC).date() - timedelta(days=now.weekday()), time(), UTC)
    for (team, cluster), places in _places(teams).items():
        of_week = Eviction.objects.filter(places, decided_before__gte=monday, decided_before__lte=now)
        lost = of_week.aggregate(lost=Sum("lost_expected"))["lost"]
        if (lost or 0) > limit * _HOUR:
            yield notice(
                Kind.TEAM_LOSS,
                Cluster.objects.get(pk=cluster),
                teams[team].slug,
                once=f"{person} {monday.date()}",
                at=now,
                team_id=team,
                title=teams[team].name,
                recipient_id=person,
                details={"lost": lost, "limit": limit},
            )


def _places(teams: Collection[int]) -> dict[tuple[int, int], Q]:
    """Where each team has namespaces now, by team and cluster."""
    found: dict[tuple[int, int], Q] = {}
    for each in _bindings(teams):
        place = Q(cluster=each.cluster_id, namespace=each.namespace)
        key = (each.team_id, each.cluster_id)
        found[key] = found[key] | place if key in found else place
    return found


def _bindings(teams: Collection[int]) -> Iterator[NamespaceBinding]:
    yield from NamespaceBinding.objects.current().filter(team__in=teams, cluster__archived_at__isnull=True)
