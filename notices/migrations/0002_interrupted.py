from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("notices", "0001_initial"),
    ]

    operations = [
        migrations.AlterField(
            model_name="choice",
            name="kind",
            field=models.CharField(
                choices=[
                    ("evicted", "A job was evicted"),
                    ("requeued", "An evicted job waits again"),
                    ("readmitted", "An evicted job runs again"),
                    ("interrupted", "A job was interrupted and kept its quota"),
                    ("failed", "A job failed"),
                    ("finished", "A job finished"),
                    ("stuck", "An evicted job does not give its GPUs back"),
                    ("waits_long", "A job waits longer than you said"),
                    ("team_loss", "A team of yours lost more in a week than you said"),
                    ("looping", "A job is evicted again and again"),
                    ("sync_stalled", "A cluster cannot be read"),
                    ("nodes_below", "Quotas promise more than the healthy nodes have"),
                    ("queue_stopped", "A queue is stopped"),
                ],
                max_length=16,
            ),
        ),
        migrations.AlterField(
            model_name="notice",
            name="kind",
            field=models.CharField(
                choices=[
                    ("evicted", "A job was evicted"),
                    ("requeued", "An evicted job waits again"),
                    ("readmitted", "An evicted job runs again"),
                    ("interrupted", "A job was interrupted and kept its quota"),
                    ("failed", "A job failed"),
                    ("finished", "A job finished"),
                    ("stuck", "An evicted job does not give its GPUs back"),
                    ("waits_long", "A job waits longer than you said"),
                    ("team_loss", "A team of yours lost more in a week than you said"),
                    ("looping", "A job is evicted again and again"),
                    ("sync_stalled", "A cluster cannot be read"),
                    ("nodes_below", "Quotas promise more than the healthy nodes have"),
                    ("queue_stopped", "A queue is stopped"),
                ],
                max_length=16,
            ),
        ),
    ]
