"""The database itself refuses to change or delete what the audit trail holds."""

from django.db import migrations

_POSTGRESQL = [
    """
    CREATE FUNCTION portal_audit_is_final() RETURNS trigger AS $$
    BEGIN RAISE EXCEPTION 'the audit trail cannot be changed'; END
    $$ LANGUAGE plpgsql
    """,
    """
    CREATE TRIGGER portal_audit_is_final BEFORE UPDATE OR DELETE OR TRUNCATE ON portal_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION portal_audit_is_final()
    """,
]
_SQLITE = [
    f"""
    CREATE TRIGGER portal_audit_no_{act} BEFORE {act} ON portal_auditevent
    BEGIN SELECT RAISE(ABORT, 'the audit trail cannot be changed'); END
    """
    for act in ("UPDATE", "DELETE")
]


def add_triggers(apps, schema_editor):
    for statement in _POSTGRESQL if schema_editor.connection.vendor == "postgresql" else _SQLITE:
        schema_editor.execute(statement)


def remove_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP FUNCTION portal_audit_is_final CASCADE")
        return
    for act in ("UPDATE", "DELETE"):
        schema_editor.execute(f"DROP TRIGGER portal_audit_no_{act}")


class Migration(migrations.Migration):
    dependencies = [("portal", "0001_initial")]
    operations = [migrations.RunPython(add_triggers, remove_triggers)]
