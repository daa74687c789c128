"""Celery's side of the syncs: thin tasks that take ids."""

import socket
from os import getpid

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from jobs.sync.pull import heal_caches as heal
from jobs.sync.pull import pull_cluster
from jobs.sync.sources import ABOUT, EVENTS, last_good_read
from jobs.telling import interruptions, limits
from jobs.telling.trouble import look
from jobs.telling.words import words_of
from jobs.usage.hours import close_hours
from notices.delivery import deliver
from notices.packing import pack
from notices.pruning import prune_notices
from notices.recipients import address
from notices.sending import send
from portal.sync_runs import hold_lease, prune_runs, release_lease
from teams.models import Cluster

_LEASE = "pull"
_NOTICES = "notices"
_SELDOM = {ABOUT: 3600, EVENTS: 300}
"""Seconds between two reads of what need not be read every interval."""

_CLOSING_SECONDS = 300


@shared_task(name="jobs.pull_all", soft_time_limit=20, time_limit=30)
def pull_all() -> None:
    """One task per cluster, so that one that hangs holds up no other."""
    for cluster_id in Cluster.objects.active().values_list("pk", flat=True):
        pull_one.apply_async((cluster_id,), expires=settings.PULL_SECONDS)


@shared_task(name="jobs.pull_one", soft_time_limit=540, time_limit=600)
def pull_one(cluster_id: int) -> None:
    """Pull what no watch has brought within the last half interval."""
    cluster = Cluster.objects.active().get(pk=cluster_id)
    holder = f"{socket.gethostname()}:{getpid()}"

    def may_go_on() -> bool:
        """Asked before each source, so that a killed worker's lease holds up no more than one interval."""
        return hold_lease(_LEASE, cluster.slug, holder=holder, now=timezone.now(), seconds=settings.PULL_SECONDS)

    if not may_go_on():
        return
    try:
        pull_cluster(cluster, timezone.now, lambda source: may_go_on() and _is_due(cluster, source))
    finally:
        release_lease(_LEASE, cluster.slug, holder=holder)


def _is_due(cluster: Cluster, source: str) -> bool:
    read = last_good_read(cluster, source)
    interval = _SELDOM.get(source, settings.PULL_SECONDS / 2)
    return read is None or (timezone.now() - read).total_seconds() > interval


@shared_task(name="jobs.heal_caches", soft_time_limit=60, time_limit=90)
def heal_caches(cluster_id: int) -> None:
    """After namespaces changed hands."""
    heal(Cluster.objects.get(pk=cluster_id))


@shared_task(name="jobs.prune_runs", soft_time_limit=60, time_limit=90)
def prune_old_runs() -> None:
    prune_runs(timezone.now())


@shared_task(name="jobs.prune_notices", soft_time_limit=540, time_limit=600)
def prune_old_notices() -> None:
    prune_notices(timezone.now())


@shared_task(name="jobs.close_all_hours", soft_time_limit=20, time_limit=30)
def close_all_hours() -> None:
    for cluster_id in Cluster.objects.active().values_list("pk", flat=True):
        close_hours_of.apply_async((cluster_id,), expires=_CLOSING_SECONDS)


@shared_task(name="jobs.close_hours_of", soft_time_limit=540, time_limit=600)
def close_hours_of(cluster_id: int) -> None:
    """Roll up the hours that ended, and those that late facts touched."""
    close_hours(Cluster.objects.get(pk=cluster_id), timezone.now())


@shared_task(name="jobs.look_for_trouble", soft_time_limit=50, time_limit=60)
def look_for_trouble() -> None:
    """Tell what is wrong with each cluster, and which of its jobs were interrupted."""
    for cluster in Cluster.objects.active():
        look(cluster, timezone.now())
        interruptions.tell(cluster, timezone.now())


@shared_task(name="jobs.tell_beyond_limits", soft_time_limit=110, time_limit=120)
def tell_beyond_limits() -> None:
    """Tell each person what passed limits of their own."""
    limits.tell_beyond(timezone.now())


@shared_task(name="jobs.tell_people", soft_time_limit=50, time_limit=60)
def tell_people() -> None:
    """Bring the outbox to its recipients, and what is due to their channels; one worker at a time."""
    holder = f"{socket.gethostname()}:{getpid()}"

    def may_go_on() -> bool:
        """Asked before each message: none may take longer than that."""
        return hold_lease(_NOTICES, "", holder=holder, now=timezone.now(), seconds=60)

    if not may_go_on():
        return
    try:
        address(timezone.now())
        pack(timezone.now())
        deliver(words_of, send, timezone.now, may_go_on)
    finally:
        release_lease(_NOTICES, "", holder=holder)
