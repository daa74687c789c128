"""What is done to a response before or after it is signed, and how a refusal looks from outside."""

import copy
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.test import Client
from lxml import etree
from structlog.testing import capture_logs

from accounts.models import User
from tests.accounts.saml.conftest import NOW
from tests.accounts.saml.idp import NAMES, Idp, find
from tests.accounts.saml.journey import arrive, people_in_sessions

Change = Callable[[Any], None]
RESPONSE, ASSERTION = "/samlp:Response", "/samlp:Response/saml:Assertion"
DATA, CONDITIONS = "//saml:SubjectConfirmationData", "//saml:Conditions"


def refused(client: Client, idp: Idp, document: Any, reason: str, detail: str = "") -> None:
    """4xx, a line in the log with the reason and nothing that was sent, nobody made and nobody signed in."""
    with capture_logs() as lines:
        response = arrive(client, idp, document)
    assert response.status_code == 403, response
    told = [line for line in lines if line["event"] == "sign-in refused"]
    assert [line["reason"] for line in told] == [reason], told
    assert detail in told[0]["detail"]
    assert "ana-0001" not in str(told)
    assert people_in_sessions() == []
    assert User.objects.count() == 0


def no_change(document: Any) -> None:
    """As it is."""


def without(path: str, name: str = "") -> Change:
    def change(document: Any) -> None:
        for element in document.xpath(path, namespaces=NAMES):
            if name:
                del element.attrib[name]
            else:
                element.getparent().remove(element)

    return change


def with_(path: str, name: str, value: str) -> Change:
    return lambda document: find(document, path).set(name, value)


def text(path: str, value: str) -> Change:
    def change(document: Any) -> None:
        find(document, path).text = value

    return change


def twice(path: str, name: str = "") -> Change:
    """The element once more; its ID is `name` if there is one."""

    def change(document: Any) -> None:
        element = find(document, path)
        again = copy.deepcopy(element)
        if name:
            again.set("ID", name)
        element.addnext(again)

    return change


def inside(path: str, what: str) -> Change:
    """At the end of the element of the path, a new one, empty."""
    prefix, _, local = what.partition(":")
    return lambda document: etree.SubElement(find(document, path), f"{{{NAMES[prefix]}}}{local}")  # type: ignore[return-value]


def all_of(*changes: Change) -> Change:
    def change(document: Any) -> None:
        for each in changes:
            each(document)

    return change


def at(**apart: float) -> str:
    """Of the clock of these tests, so far from now."""
    return (NOW + timedelta(**apart)).strftime("%Y-%m-%dT%H:%M:%SZ")
