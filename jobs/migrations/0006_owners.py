from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0005_pods")]

    operations = [
        migrations.AddField(model_name="eviction", name="owner_told", field=models.JSONField(null=True)),
    ]
