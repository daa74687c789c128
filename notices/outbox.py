"""The outbox: notices that stand in the transaction of what they tell of, or not at all."""

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from notices.kinds import SEVERITY, Kind
from notices.models import Notice
from teams.models import Cluster

_SPACE: Final = uuid.UUID("5a3f5d0e-6f0c-5d1a-9a77-3a2f4b1c8e90")


def notice(
    kind: Kind, cluster: Cluster, subject: str, *, once: str, at: datetime, team_id: int | None = None, **columns: Any
) -> Notice:
    """A row to be written by `post`. `once` tells this event from others of its kind and subject."""
    key = "\n".join((kind, cluster.slug, subject, once))
    return Notice(
        id=uuid.uuid5(_SPACE, key),
        kind=kind,
        severity=SEVERITY[kind],
        cluster=cluster,
        team_id=team_id,
        subject=subject,
        at=at,
        **columns,
    )


def post(notices: Iterable[Notice]) -> None:
    """Write them; those that were written before stay as they are. Call it in the transaction of the facts."""
    Notice.objects.bulk_create(notices, ignore_conflicts=True)
