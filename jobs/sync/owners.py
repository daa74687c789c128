"""What jobs say of themselves on their own objects: when they last saved their work, how often they do, and whose they
are. Their owners are asked once, at the first admission and soon after each eviction, outside any transaction.
"""

import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from django.db.models import QuerySet

from gateways.errors import BadReply, Denied, GatewayError, NotFound
from gateways.http import Api
from gateways.owners import KINDS, owner_annotations
from jobs.ledger.eviction_losses import write_losses
from jobs.models import Eviction, Workload
from jobs.models.evictions import Source
from jobs.rules.lost_work import CheckpointIgnored, read_checkpoint, read_interval
from portal.sync_runs import Counts, sync_run
from portal.write_path import exclusive
from scheduling import names
from teams.models import Cluster

Clock: TypeAlias = Callable[[], datetime]

OWNERS: Final = "owners"

LAST_CHECKPOINT: Final = "last_checkpoint"
CHECKPOINT_INTERVAL: Final = "checkpoint_interval"
GONE: Final = "gone"

_RECENT: Final = timedelta(hours=1)  # older evictions are not asked about: the next run has written since
_MOST: Final = 200
_LONGEST_TEXT: Final = 253
_LONGEST_NAME: Final = 150
_PAUSE_SECONDS: Final = 5
_AFTER_REFUSAL_SECONDS: Final = 60


def read_owners(cluster: Cluster, api: Api, clock: Clock) -> Counts:
    """Ask the owners of what was evicted or admitted a short while ago. Raises GatewayError; a kind that may not be
    read holds up no other."""
    with sync_run(OWNERS, cluster.slug, clock) as counts:
        denied: dict[str, Denied] = {}
        for workload in to_ask(cluster, clock()):
            if workload.owner_kind in denied:
                continue
            try:
                said = _asked(api, workload)
            except Denied as error:
                denied[workload.owner_kind] = error
                continue
            except BadReply as error:
                counts.malformed.append(str(error))
                continue
            counts.seen += 1
            counts.written += _store(cluster, workload, said, clock())
        for refusal in denied.values():
            raise refusal
    return counts


def to_ask(cluster: Cluster, now: datetime) -> list[Workload]:
    """Those whose owners nobody asked yet, the latest evictions first; not all at once."""
    evicted = _unasked(cluster, now).filter(workload__owner_kind__in=KINDS).order_by("-decided_before")
    keys = list(dict.fromkeys(evicted.values_list("workload", flat=True)[:_MOST]))
    found = Workload.objects.in_bulk(keys)
    unnamed = Workload.objects.holding().filter(cluster=cluster, submitted_by_source="", owner_kind__in=KINDS)
    admitted = [each for each in unnamed.order_by("-since")[:_MOST] if each.pk not in found]
    return [*(found[key] for key in keys), *admitted][:_MOST]


def _unasked(cluster: Cluster, now: datetime) -> "QuerySet[Eviction]":
    return Eviction.objects.filter(cluster=cluster, owner_told__isnull=True, decided_before__gt=now - _RECENT)


def _asked(api: Api, workload: Workload) -> Mapping[str, str] | None:
    """The owner's annotations, None where it is gone."""
    try:
        return owner_annotations(api, workload.owner_kind, workload.namespace, workload.owner_name, workload.owner_uid)
    except NotFound:
        return None


def _store(cluster: Cluster, workload: Workload, said: Mapping[str, str] | None, now: datetime) -> int:
    """Returns how many rows know more now."""
    told = _told(said)
    with exclusive(cluster.slug):
        rows = list(_unasked(cluster, now).filter(workload=workload).select_related("span"))
        for row in rows:
            row.owner_told = told
            learn_checkpoints(row)
            row.save(update_fields=["owner_told", "checkpoint_at", "checkpoint_seconds", "checkpoint_source"])
        write_losses(rows)
        named = Workload.objects.filter(pk=workload.pk, submitted_by_source="").update(**_submitter(said))
    return len(rows) + named


def _told(said: Mapping[str, str] | None) -> dict[str, str | bool]:
    if said is None:
        return {GONE: True}
    texts = {
        LAST_CHECKPOINT: said.get(names.LAST_CHECKPOINT_ANNOTATION, ""),
        CHECKPOINT_INTERVAL: said.get(names.CHECKPOINT_INTERVAL_ANNOTATION, ""),
    }
    return {name: text[:_LONGEST_TEXT] for name, text in texts.items() if text}


def _submitter(said: Mapping[str, str] | None) -> dict[str, str | None]:
    if said is None:
        return {"submitted_by": None, "submitted_by_source": GONE}
    name = said.get(names.SUBMITTED_BY_ANNOTATION, "")
    return {"submitted_by": name[:_LONGEST_NAME], "submitted_by_source": "owner"}


def learn_checkpoints(row: Eviction) -> None:
    """What the owner says of the work that this eviction cost. A checkpoint must lie before it: a later one was written
    by the next run. What the pod template says of the interval goes first."""
    told = row.owner_told or {}
    if row.is_dated and told.get(LAST_CHECKPOINT):
        try:
            saved = read_checkpoint(told[LAST_CHECKPOINT], row.decided_before)
        except CheckpointIgnored:
            pass
        else:
            row.checkpoint_at = max(saved, row.checkpoint_at or saved)
    if row.checkpoint_source != Source.JOB and told.get(CHECKPOINT_INTERVAL):
        try:
            row.checkpoint_seconds = int(read_interval(told[CHECKPOINT_INTERVAL]).total_seconds())
        except CheckpointIgnored:
            return
        row.checkpoint_source = Source.JOB


class OwnerReader:
    """Asks the owners of one cluster within seconds of what happened to their jobs."""

    name = OWNERS

    def __init__(self, cluster: Cluster, api: Api, clock: Clock) -> None:
        self.cluster, self.api, self.clock = cluster, api, clock

    def run(self, stop: threading.Event) -> None:
        """Until `stop` is set."""
        pause = _PAUSE_SECONDS
        while not stop.wait(pause):
            pause = _PAUSE_SECONDS
            try:
                if to_ask(self.cluster, self.clock()):
                    read_owners(self.cluster, self.api, self.clock)
            except GatewayError:
                pause = _AFTER_REFUSAL_SECONDS
