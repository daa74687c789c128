"""`manage.py rebuild_hours`: every closed hour again from the ledger, and which rows differed."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jobs.usage.hours import rebuild_hours
from teams.models import Cluster


class Command(BaseCommand):
    help = "Roll up all hours of usage again from the ledger; prints how many rows differed and mends them."

    def handle(self, *args: Any, **options: Any) -> None:
        clusters = Cluster.objects.all()
        if not clusters:
            raise CommandError("There is no cluster yet.")
        for cluster in clusters:
            self.stdout.write(f"{cluster.slug}: {rebuild_hours(cluster)} rows differed")
