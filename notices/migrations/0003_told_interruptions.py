from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("notices", "0002_interrupted"),
        ("teams", "0005_cost_centre_owners"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name="notice",
            index=models.Index(
                condition=models.Q(("kind", "interrupted")), fields=["subject"], name="notice_interrupted"
            ),
        ),
    ]
