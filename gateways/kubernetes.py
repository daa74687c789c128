"""What the portal reads of Kubernetes itself: which cluster it is, its nodes and namespaces."""

from collections.abc import Iterator
from typing import Any, Final

from gateways.errors import BadReply
from gateways.http import Api
from gateways.lists import list_pages
from gateways.records import NamespaceRecord, NodeRecord, Page
from scheduling.names import INSTANCE_TYPE_LABEL, NODE_HEALTH_LABEL, NODE_SCHEDULABLE
from scheduling.objects import Json
from scheduling.parsing import UNREADABLE, MalformedObject, parse_resources

_IDENTITY_NAMESPACE: Final = "kube-system"
_EMPTY: Final[dict[str, Any]] = {}


class Kubernetes:
    """Kubernetes of one cluster. Every method and iterator raises GatewayError."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def identity(self) -> str:
        """The uid of the namespace kube-system, which no two clusters share."""
        path = f"/api/v1/namespaces/{_IDENTITY_NAMESPACE}"
        try:
            uid = self._api.get(path)["metadata"]["uid"]
        except (KeyError, TypeError) as error:
            raise BadReply(f"{path}: a namespace without uid") from error
        if not isinstance(uid, str) or not uid:
            raise BadReply(f"{path}: a namespace with an empty uid")
        return uid

    def server_version(self) -> str:
        """Such as "v1.36.3"."""
        version = self._api.get("/version").get("gitVersion")
        if not isinstance(version, str):
            raise BadReply("/version: no gitVersion")
        return version

    def list_nodes(self) -> Iterator[Page[NodeRecord]]:
        return list_pages(self._api, "/api/v1/nodes", parse_node)

    def list_namespaces(self) -> Iterator[Page[NamespaceRecord]]:
        return list_pages(self._api, "/api/v1/namespaces", parse_namespace)


def parse_node(obj: Json) -> NodeRecord:
    """A Node object. Raises MalformedObject."""
    try:
        meta, status = obj["metadata"], obj.get("status") or _EMPTY
        labels = meta.get("labels") or _EMPTY
        return NodeRecord(
            name=meta["name"],
            instance_type=labels.get(INSTANCE_TYPE_LABEL) or "",
            healthy=_is_ready(status)
            and not (obj.get("spec") or _EMPTY).get("unschedulable")
            and labels.get(NODE_HEALTH_LABEL, NODE_SCHEDULABLE) == NODE_SCHEDULABLE,
            allocatable=parse_resources(status.get("allocatable")),
        )
    except UNREADABLE as error:
        raise MalformedObject(f"Node {_name(obj)}: a field is missing or unexpected ({error})") from error


def parse_namespace(obj: Json) -> NamespaceRecord:
    """A Namespace object. Raises MalformedObject."""
    try:
        meta = obj["metadata"]
        return NamespaceRecord(meta["name"], meta["uid"], meta.get("labels") or _EMPTY)
    except UNREADABLE as error:
        raise MalformedObject(f"Namespace {_name(obj)}: a field is missing or unexpected ({error})") from error


def _is_ready(status: Json) -> bool:
    return any(c.get("type") == "Ready" and c.get("status") == "True" for c in status.get("conditions") or ())


def _name(obj: Any) -> str:
    meta = obj.get("metadata") if isinstance(obj, dict) else None
    return str(meta.get("name") or "(no name)") if isinstance(meta, dict) else "(no name)"
