import pytest
from django.test import Client

from accounts.actions import end_access
from portal.models import AuditEvent
from tests.people import People
from tests.stories import START

pytestmark = pytest.mark.django_db


def test_access_ends_in_every_session_and_of_nobody_else(people: People) -> None:
    phone, desk, other = Client(), Client(), Client()
    for client, user in ((phone, people.member), (desk, people.member), (other, people.viewer)):
        client.force_login(user)
        assert client.get("/me/").status_code == 200
    end_access(user=people.member, by="identity_provider/corp", now=START)
    assert [client.get("/me/").status_code for client in (phone, desk, other)] == [302, 302, 200]
    event = AuditEvent.objects.get(event="access.ended")
    assert (event.actor, event.target) == ("identity_provider/corp", "person/member")


def test_access_that_ended_twice_ends_what_began_between(people: People) -> None:
    end_access(user=people.member, by="x", now=START)
    client = Client()
    client.force_login(people.member)
    assert client.get("/me/").status_code == 200
    end_access(user=people.member, by="x", now=START)
    assert client.get("/me/").status_code == 302
