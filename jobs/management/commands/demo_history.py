"""`manage.py demo_history`: gives the demo sixty days of past, lived through by an emulated cluster of its own."""

import time
from argparse import ArgumentParser
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.utils import timezone

from jobs.ledger.late import hour_of
from jobs.past.cluster import past_cluster
from jobs.past.ledger import carry, known_from, ledger_beside, write
from jobs.sync.sources import LIVE, last_good_read
from jobs.usage.hours import close_hours
from teams.models import Cluster

_OWN_PAST: Final = timedelta(hours=7)  # the demo's cluster brings some hours itself
_YOUNG: Final = timedelta(days=1)
_WAIT_SECONDS: Final = 120
_MOST_DAYS: Final = 366


class Command(BaseCommand):
    help = "Fill the demo's empty ledger with a past; does nothing where there is one already."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--days", type=int, default=60, help=f"length of the past, 1 to {_MOST_DAYS}")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO or connection.vendor != "sqlite":
            raise CommandError("Only the demo has a made-up past.")
        if not 1 <= options["days"] <= _MOST_DAYS:
            raise CommandError(f"--days must be 1 to {_MOST_DAYS}.")
        began = time.monotonic()
        for cluster in Cluster.objects.active():
            first = _first_read(cluster)
            if timezone.now() - first < _YOUNG:
                self._fill(cluster, hour_of(first - _OWN_PAST), timedelta(days=options["days"]))
        self.stdout.write(f"{time.monotonic() - began:.0f} seconds")

    def _fill(self, cluster: Cluster, until: datetime, length: timedelta) -> None:
        begin, folder = until - length, settings.VAR_DIR
        with ledger_beside(folder / "past.sqlite3"), past_cluster(begin, folder / "past.kubeconfig") as lived:
            past = write(cluster, lived.live_until(until), until)
        carry(cluster, past, begin)
        close_hours(cluster, timezone.now())
        self.stdout.write(f"{cluster.slug}: {len(past.workloads)} workloads, {len(past.evictions)} evictions")


def _first_read(cluster: Cluster) -> datetime:
    """Since when the cluster is known, once all of it was read. Raises CommandError if that takes too long."""
    latest = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < latest:
        first = known_from(cluster)
        if first and all(last_good_read(cluster, source) for source in LIVE):
            return first
        time.sleep(0.5)
    raise CommandError(f"{cluster.slug} was not read yet.")
