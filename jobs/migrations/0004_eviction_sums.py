from typing import Any

from django.db import migrations, models

_ROWS = 2000


def fill_flavors(apps: Any, _schema: Any) -> None:
    eviction = apps.get_model("jobs", "Eviction")
    rows = eviction.objects.exclude(by_flavor={}).only("by_flavor")
    found = []
    for row in rows.iterator(chunk_size=_ROWS):
        row.flavor = next(iter(row.by_flavor)) if len(row.by_flavor) == 1 else None
        found.append(row)
    eviction.objects.bulk_update(found, ["flavor"], batch_size=_ROWS)


_LISTED = [
    "cluster", "namespace", "-decided_before", "-id", "reason", "preemption", "priority_class", "preemptor_team",
    "workload", "flavor", "gpus", "lost_low", "lost_expected", "lost_high", "stopping",
]  # fmt: skip


class Migration(migrations.Migration):
    dependencies = [("jobs", "0003_hours")]

    operations = [
        migrations.AddField("eviction", "flavor", models.CharField(default="", max_length=253, null=True)),
        migrations.RunPython(fill_flavors, migrations.RunPython.noop),
        migrations.RemoveIndex("eviction", "eviction_by_namespace"),
        migrations.AddIndex("eviction", models.Index(fields=_LISTED, name="eviction_listed")),
        migrations.RemoveIndex("eviction", "eviction_by_workload"),
        migrations.AddIndex(
            "eviction",
            models.Index(fields=["workload", "decided_before", "decided_after"], name="eviction_by_workload"),
        ),
    ]
