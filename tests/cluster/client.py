"""A plain HTTP client of a Kubernetes API: what the tests use to arrange a cluster and to look at it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import requests
from requests.adapters import HTTPAdapter

Json = dict[str, Any]

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
VISIBILITY = "/apis/visibility.kueue.x-k8s.io/v1beta2"
MERGE_PATCH = "application/merge-patch+json"
NOT_FOUND = 404
CONFLICT = 409
TIMEOUT_SECONDS = 60
CONNECTIONS = 64

_GROUPS = {
    "namespaces": "/api/v1",
    "nodes": "/api/v1",
    "pods": "/api/v1",
    "services": "/api/v1",
    "events": "/api/v1",
    "jobs": "/apis/batch/v1",
    "clusterroles": "/apis/rbac.authorization.k8s.io/v1",
    "clusterrolebindings": "/apis/rbac.authorization.k8s.io/v1",
    "customresourcedefinitions": "/apis/apiextensions.k8s.io/v1",
    "mutatingwebhookconfigurations": "/apis/admissionregistration.k8s.io/v1",
    "validatingwebhookconfigurations": "/apis/admissionregistration.k8s.io/v1",
    "apiservices": "/apis/apiregistration.k8s.io/v1",
}


class Refused(Exception):
    """The API answered with an error; `status` is its HTTP status, `answer` the Status object."""

    def __init__(self, request: str, status: int, answer: Json) -> None:
        super().__init__(f"{request}: {status} {answer.get('message', '')[:500]}")
        self.status = status
        self.answer = answer


@contextmanager
def ignored(status: int) -> Iterator[None]:
    """Nothing happens when the API refuses with that HTTP status."""
    try:
        yield
    except Refused as error:
        if error.status != status:
            raise


def path(resource: str, namespace: str = "", name: str = "", part: str = "") -> str:
    """The address of a collection, an object or its subresource; Kueue's kinds unless listed above."""
    pieces = [_GROUPS.get(resource, KUEUE)]
    if namespace:
        pieces += ["namespaces", namespace]
    return "/".join([*pieces, resource, *filter(None, (name, part))])


class Client:
    """Calls one API server with one token, or with none. `url` may be any server that speaks the same protocol."""

    def __init__(self, url: str, token: str, authority: str | None = None) -> None:
        self.url = url
        self.http = requests.Session()
        self.http.trust_env = False  # REQUESTS_CA_BUNDLE and proxies of the environment would come before ours
        self.http.verify = authority or True
        if token:
            self.http.headers["Authorization"] = f"Bearer {token}"
        for scheme in ("http://", "https://"):
            self.http.mount(scheme, HTTPAdapter(pool_maxsize=CONNECTIONS))

    def ask(self, method: str, address: str, **options: Any) -> requests.Response:
        """The bare answer, whatever its status."""
        return self.http.request(method, self.url + address, **{"timeout": TIMEOUT_SECONDS, **options})

    def call(self, method: str, address: str, **options: Any) -> Json:
        """The answer's object. Raises Refused."""
        answer = self.ask(method, address, **options)
        if not answer.ok:
            raise Refused(f"{method} {address}", answer.status_code, _status(answer))
        body: Json = answer.json()
        return body

    def read(self, resource: str, name: str, namespace: str = "") -> Json:
        return self.call("GET", path(resource, namespace, name))

    def items(self, resource: str, namespace: str = "", **parameters: str) -> list[Json]:
        items: list[Json] = self.call("GET", path(resource, namespace), params=parameters)["items"]
        return items

    def create(self, resource: str, obj: Json) -> Json:
        return self.call("POST", path(resource, obj["metadata"].get("namespace", "")), json=obj)

    def merge(self, resource: str, name: str, change: Mapping[str, Any], namespace: str = "", part: str = "") -> Json:
        """A merge patch: fields set to None are removed."""
        return self.call(
            "PATCH", path(resource, namespace, name, part), json=change, headers={"Content-Type": MERGE_PATCH}
        )

    def replace(self, resource: str, obj: Json, part: str = "") -> Json:
        """PUT, refused with 409 when the object's resourceVersion is no longer the newest."""
        meta = obj["metadata"]
        return self.call("PUT", path(resource, meta.get("namespace", ""), meta["name"], part), json=obj)

    def delete(self, resource: str, name: str, namespace: str = "") -> Json:
        return self.call("DELETE", path(resource, namespace, name))

    def pending(self, cluster_queue: str) -> list[Json]:
        """The visibility API's list of a ClusterQueue's pending Workloads, in order."""
        items: list[Json] = self.call("GET", f"{VISIBILITY}/clusterqueues/{cluster_queue}/pendingworkloads")["items"]
        return items


def _status(answer: requests.Response) -> Json:
    try:
        body = answer.json()
    except ValueError:
        return {"message": answer.text[:500]}
    return body if isinstance(body, dict) else {"message": str(body)[:500]}
