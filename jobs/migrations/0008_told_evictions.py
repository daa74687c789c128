import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0007_lost_hours"),
        ("teams", "0004_groups"),
    ]

    operations = [
        migrations.CreateModel(
            name="ToldEviction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("namespace", models.CharField(max_length=253)),
                ("workload_uid", models.CharField(max_length=64)),
                ("workload_name", models.CharField(max_length=253)),
                ("reason", models.CharField(max_length=316)),
                ("cause", models.CharField(blank=True, max_length=316)),
                ("preemption", models.CharField(blank=True, max_length=316)),
                ("at", models.DateTimeField()),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="told_evictions", to="teams.cluster"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["cluster", "namespace", "-at"], name="told_eviction_by_namespace")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("cluster", "workload_uid", "reason", "cause", "at"), name="told_eviction_key"
                    )
                ],
            },
        ),
    ]
