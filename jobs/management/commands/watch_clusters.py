"""`manage.py watch_clusters`: the watcher process."""

import os
import signal
import socket
import threading
from typing import Any

import structlog
from django.core.management.base import BaseCommand
from django.db import DatabaseError, close_old_connections
from django.utils import timezone

from gateways.errors import GatewayError
from jobs.sync.sources import PULLED
from jobs.sync.watch import ClusterWatch
from portal.outages import told
from portal.sync_runs import SyncRefused, hold_lease, record_failure, release_lease
from teams.models import Cluster

log = structlog.get_logger(__name__)

LEASE = "watch"
_LEASE_SECONDS = 30
_TICK_SECONDS = 5.0


class Command(BaseCommand):
    help = "Watch every cluster until SIGTERM or SIGINT; a second watcher stands by."

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        watcher = Watcher(f"{socket.gethostname()}:{os.getpid()}")
        while not stop.is_set():
            try:
                watcher.tick()
            except DatabaseError as error:
                sentence = told(error)
                log.warning("the tick failed; trying again", error=sentence, exc_info=sentence is None)
            close_old_connections()
            stop.wait(_TICK_SECONDS)
        watcher.end()


class Watcher:
    """One process's watches, by cluster."""

    def __init__(self, holder: str) -> None:
        self.holder = holder
        self.watches: dict[str, ClusterWatch] = {}

    def tick(self) -> None:
        """Start, renew and end watches so that they match the clusters and the leases."""
        wanted = {cluster.slug: cluster for cluster in Cluster.objects.active()}
        for slug in [slug for slug, watch in self.watches.items() if not _goes_on(watch, wanted.get(slug))]:
            self._end(slug)
        for slug, cluster in wanted.items():
            held = hold_lease(LEASE, slug, holder=self.holder, now=timezone.now(), seconds=_LEASE_SECONDS)
            if held and slug not in self.watches:
                self._start(cluster)
            elif not held and slug in self.watches:
                log.warning("lease lost", cluster=slug)
                self._end(slug)

    def _start(self, cluster: Cluster) -> None:
        watch = ClusterWatch(cluster, timezone.now)
        try:
            watch.start()
        except (GatewayError, SyncRefused) as error:
            for source in PULLED:
                record_failure(source, cluster.slug, now=timezone.now(), error=error)
            return
        log.info("watching", cluster=cluster.slug)
        self.watches[cluster.slug] = watch

    def _end(self, slug: str) -> None:
        self.watches.pop(slug).stop()
        release_lease(LEASE, slug, holder=self.holder)

    def end(self) -> None:
        for slug in list(self.watches):
            self._end(slug)


def _goes_on(watch: ClusterWatch, cluster: Cluster | None) -> bool:
    """Whether the watch lives and still reads what the cluster's row says."""
    return cluster is not None and watch.is_alive and watch.cluster.connection == cluster.connection
