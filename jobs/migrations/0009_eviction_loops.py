from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any

import django.db.models.deletion
from django.db import migrations, models

_WITHIN = timedelta(hours=1)
_FROM = 3


def fill(apps: Any, _schema: Any) -> None:
    """With what the evictions make that are stored already."""
    rows = apps.get_model("jobs", "Eviction").objects.order_by("workload", "decided_before", "decided_after")
    dated = rows.values_list("workload", "decided_after", "decided_before").iterator()
    loop = apps.get_model("jobs", "EvictionLoop")
    loop.objects.bulk_create(
        loop(workload_id=workload, size=len(run), began=run[0], latest=run[-1])
        for workload, of_workload in groupby(dated, key=itemgetter(0))
        for run in _runs((after, before) for _, after, before in of_workload)
        if len(run) >= _FROM
    )


def _runs(decisions: Iterable[tuple[datetime, datetime]]) -> Iterator[list[datetime]]:
    """The later moments of decisions, each within the hour of those before."""
    run: list[datetime] = []
    reach = None
    for after, before in decisions:
        if before - after > _WITHIN:
            continue
        if reach is not None and before > reach + _WITHIN:
            yield run
            run = []
        run.append(before)
        reach = max(reach or after, after)
    yield run


class Migration(migrations.Migration):
    dependencies = [("jobs", "0008_told_evictions")]

    operations = [
        migrations.CreateModel(
            name="EvictionLoop",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("size", models.BigIntegerField()),
                ("began", models.DateTimeField()),
                ("latest", models.DateTimeField()),
                (
                    "workload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="eviction_loops", to="jobs.workload"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["latest"], name="eviction_loop_by_latest")],
                "constraints": [models.UniqueConstraint(fields=("workload", "began"), name="eviction_loop_key")],
            },
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
