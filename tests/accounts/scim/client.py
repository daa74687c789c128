"""A SCIM client over the test client, with the secret of one provider."""

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from accounts.models import IdentityProvider, ScimCredential
from accounts.scim.credentials import make_credential

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse"


@dataclass
class Scim:
    provider: IdentityProvider
    secret: str
    client: Client = field(default_factory=Client)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        sent = body if isinstance(body, bytes) else json.dumps(body) if body is not None else ""
        told = {name.replace("_", "-"): text for name, text in headers.items()}
        response: HttpResponse = self.client.generic(
            method,
            f"/scim/v2{path}",
            sent,
            content_type="application/scim+json; charset=utf-8",
            headers={"Authorization": f"Bearer {self.secret}"} | told,
        )
        assert response["Content-Type"] == "application/scim+json"
        if response.status_code >= 400:
            error = response.json()
            assert error["schemas"] == [ERROR]
            assert error["status"] == str(response.status_code)
        return response

    def get(self, path: str, **query: str) -> Any:
        return self.ask("GET", f"{path}?{urlencode(query)}" if query else path)

    def post(self, path: str, body: Any) -> Any:
        return self.ask("POST", path, body)

    def patch(self, path: str, *operations: Any) -> Any:
        return self.ask("PATCH", path, {"schemas": [PATCH], "Operations": list(operations)})

    def person(self, name: str, **told: Any) -> str:
        """The id of a new one."""
        response = self.post("/Users", person(name, **told))
        assert response.status_code == 201, response.content
        return str(response.json()["id"])

    def group(self, name: str, *members: str, **told: Any) -> str:
        body = {"schemas": [GROUP], "displayName": name, "externalId": f"g-{name}", **told}
        response = self.post("/Groups", body | {"members": [{"value": each} for each in members]})
        assert response.status_code == 201, response.content
        return str(response.json()["id"])

    def members(self, group: str) -> set[str]:
        return {each["value"] for each in self.get(f"/Groups/{group}").json().get("members", [])}


def person(name: str, **told: Any) -> dict[str, Any]:
    """As Entra sends somebody new."""
    return {
        "schemas": [USER, ENTERPRISE],
        "externalId": f"oid-{name}",
        "userName": f"{name.title()}@Example.com",
        "active": True,
        "displayName": name.title(),
        "emails": [{"primary": True, "type": "work", "value": f"{name}@Mail.Example.com"}],
        "meta": {"resourceType": "User"},
        "name": {"formatted": f"{name.title()} Silva", "familyName": "Silva", "givenName": name.title()},
        "roles": [],
        **told,
    }


def scim_of(provider: IdentityProvider, scope: ScimCredential.Scope = ScimCredential.Scope.WRITE) -> Scim:
    _, secret = make_credential(
        provider=provider, scope=scope, valid=timedelta(days=1), by="manage.py", now=timezone.now()
    )
    return Scim(provider, secret)
