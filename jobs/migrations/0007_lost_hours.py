from datetime import datetime, timedelta
from typing import Any

from django.db import migrations, models

_ROWS = 2000


def fill_since(apps: Any, _schema: Any) -> None:
    eviction = apps.get_model("jobs", "Eviction")
    rows = eviction.objects.filter(lost_high__gt=0).select_related("span").order_by("pk")
    found: list[Any] = []
    for row in rows.iterator(chunk_size=_ROWS):
        row.lost_since = _since(row)
        found.append(row)
        if len(found) == _ROWS:
            eviction.objects.bulk_update(found, ["lost_since"])
            found.clear()
    eviction.objects.bulk_update(found, ["lost_since"])


def _since(row: Any) -> datetime:
    if row.span is None:
        return row.decided_before - timedelta(seconds=-(-row.lost_high // row.gpus))
    if row.basis == "exact":
        return max(row.span.admitted_at, row.checkpoint_at)
    if row.basis == "expected":
        return max(row.span.admitted_at, row.decided_after - timedelta(seconds=row.checkpoint_seconds))
    return row.span.admitted_at


def open_all_hours(apps: Any, _schema: Any) -> None:
    """They are rolled up again within minutes, with what was lost in them."""
    reopened = apps.get_model("jobs", "ReopenedHours")
    closed = apps.get_model("jobs", "ClosedHours").objects.filter(until__gt=models.F("begun_at"))
    reopened.objects.bulk_create(
        reopened(
            cluster_id=row.cluster_id, start=row.begun_at.replace(minute=0, second=0, microsecond=0), end=row.until
        )
        for row in closed
    )


class Migration(migrations.Migration):
    dependencies = [("jobs", "0006_owners")]

    operations = [
        migrations.AddField("eviction", "lost_since", models.DateTimeField(null=True)),
        *(
            migrations.AddField("teamhour", name, models.BigIntegerField(default=0), preserve_default=False)
            for name in ("lost_low", "lost_expected", "lost_high", "lost_unknown")
        ),
        migrations.AlterField("teamhour", "cluster_queue", models.CharField(blank=True, max_length=253)),
        migrations.AlterField("teamhour", "flavor", models.CharField(blank=True, max_length=253)),
        migrations.RunPython(fill_since, migrations.RunPython.noop),
        migrations.RunPython(open_all_hours, migrations.RunPython.noop),
    ]
