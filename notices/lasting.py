"""What is wrong with a cluster for as long as it is: told when it begins, over when it is no more there."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from accounts.models import User
from notices.kinds import OF_PLATFORM, Kind
from notices.models import Notice
from notices.outbox import notice, post
from portal import audit
from teams.models import Cluster


@dataclass(frozen=True, slots=True)
class Trouble:
    """`subject` tells it from others of its kind in the cluster; the rest as on the notice."""

    kind: Kind
    subject: str = ""
    title: str = ""
    team_id: int | None = None
    submitted_by: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@transaction.atomic
def bring_up_to(
    cluster: Cluster, found: Iterable[Trouble], now: datetime, kinds: Collection[Kind] = OF_PLATFORM
) -> None:
    """Of these kinds, exactly what is `found` lasts from now on. Run twice it changes nothing."""
    there = {(trouble.kind, trouble.subject): trouble for trouble in found}
    for told in Notice.objects.filter(cluster=cluster, kind__in=kinds, ended_at__isnull=True):
        trouble = there.pop((Kind(told.kind), told.subject), None)
        if trouble is None:
            Notice.objects.filter(pk=told.pk).update(ended_at=now)
        elif told.details != trouble.details:
            Notice.objects.filter(pk=told.pk).update(details=trouble.details)
    post(_notice(cluster, trouble, now) for trouble in there.values())


def _notice(cluster: Cluster, trouble: Trouble, now: datetime) -> Notice:
    return notice(
        trouble.kind,
        cluster,
        trouble.subject,
        once=now.isoformat(),
        at=now,
        team_id=trouble.team_id,
        title=trouble.title,
        submitted_by=trouble.submitted_by,
        details=dict(trouble.details),
    )


@transaction.atomic
def acknowledge(*, notice: Notice, user: User, now: datetime) -> None:
    """Somebody looks after it; the first who says so stays."""
    if Notice.objects.filter(pk=notice.pk, acknowledged_at__isnull=True).update(
        acknowledged_at=now, acknowledged_by=user
    ):
        audit.record("notice.acknowledged", target=f"notice/{notice.pk}", by=user.username, now=now, kind=notice.kind)
