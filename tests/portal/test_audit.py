import pytest
import structlog
from django.db import DatabaseError, transaction

from portal import audit
from portal.models import AuditEvent
from tests.stories import START

pytestmark = pytest.mark.django_db


def record() -> AuditEvent:
    audit.record("team.archived", target="team/research", by="platform-admin", now=START, reason="merged")
    return AuditEvent.objects.get()


def test_an_act_is_kept_by_name_with_its_details() -> None:
    event = record()
    assert (event.at, event.actor, event.event, event.target) == (
        START,
        "platform-admin",
        "team.archived",
        "team/research",
    )
    assert (event.details, event.request_id) == ({"reason": "merged"}, "")


def test_the_request_that_acted_is_named() -> None:
    with structlog.contextvars.bound_contextvars(request_id="abc123"):
        assert record().request_id == "abc123"


@pytest.mark.parametrize("act", ["update", "delete"])
def test_the_database_refuses_to_change_or_delete_an_act(act: str) -> None:
    record()
    events = AuditEvent.objects.all()
    with pytest.raises(DatabaseError, match="audit trail cannot be changed"), transaction.atomic():
        events.update(actor="nobody") if act == "update" else events.delete()
    assert AuditEvent.objects.get().actor == "platform-admin"
