from django.db import migrations, models


def tell_who_made_them(apps, schema_editor):
    """The audit trail knows."""
    credentials = apps.get_model("accounts", "ScimCredential")
    for event in apps.get_model("portal", "AuditEvent").objects.filter(event="scim_credential.made"):
        credentials.objects.filter(pk=event.target.rpartition("/")[2]).update(made_by=event.actor)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0008_identity_store"),
        ("portal", "0002_audit_is_final"),
    ]

    operations = [
        migrations.AddField(
            model_name="scimcredential",
            name="last_used_from",
            field=models.GenericIPAddressField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="scimcredential",
            name="made_by",
            field=models.CharField(blank=True, max_length=150),
        ),
        migrations.RunPython(tell_who_made_them, migrations.RunPython.noop),
    ]
