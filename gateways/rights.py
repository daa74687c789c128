"""The rights that the portal needs in a cluster, and which of them it lacks. The only list of them.

`deploy/kubernetes` grants exactly these; `docs/permissions.md` says what each feature needs.
"""

from dataclasses import dataclass
from typing import Final

from gateways.errors import BadReply
from gateways.http import Api
from gateways.owners import KINDS
from scheduling.names import KUEUE_GROUP, VISIBILITY_GROUP

CORE_GROUP: Final = ""
EVENTS_GROUP: Final = "events.k8s.io"

_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_READ: Final = ("get", "list", "watch")


@dataclass(frozen=True, slots=True)
class Right:
    """One verb on one resource in the whole cluster. `resource` may name a subresource, as RBAC writes it.
    `feature` is a row of docs/permissions.md."""

    verb: str
    group: str
    resource: str
    feature: str

    def __str__(self) -> str:
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        return f"{self.verb} {resource} (for: {self.feature})"


def _rights(feature: str, group: str, *resources: str, verbs: tuple[str, ...] = _READ) -> tuple[Right, ...]:
    return tuple(Right(verb, group, resource, feature) for resource in resources for verb in verbs)


_OWNERS: Final = "What jobs say of themselves"

RIGHTS: Final = (
    *_rights("Which cluster it is, and its namespaces", CORE_GROUP, "namespaces"),
    *_rights(
        "Quotas and queues",
        KUEUE_GROUP,
        "clusterqueues",
        "cohorts",
        "localqueues",
        "resourceflavors",
        "admissionchecks",
    ),
    *_rights("What waits and what runs", KUEUE_GROUP, "workloads", "workloadpriorityclasses"),
    *_rights("Capacity and healthy nodes", CORE_GROUP, "nodes"),
    *_rights(
        "Order of a queue as Kueue tells it",
        VISIBILITY_GROUP,
        "clusterqueues/pendingworkloads",
        "localqueues/pendingworkloads",
        verbs=("get",),
    ),
    *_rights("Pods of a workload, and Kueue's version", CORE_GROUP, "pods"),
    *_rights("Events of a workload", CORE_GROUP, "events"),
    *_rights("Events of a workload", EVENTS_GROUP, "events"),
    *(right for kind in KINDS.values() for right in _rights(_OWNERS, kind.group, kind.plural, verbs=("get",))),
)


def missing_rights(api: Api) -> list[Right]:
    """Those of RIGHTS that the cluster denies to the portal's own credentials. Raises GatewayError."""
    return [right for right in RIGHTS if not _is_allowed(api, right)]


def _is_allowed(api: Api, right: Right) -> bool:
    resource, _, subresource = right.resource.partition("/")
    attributes = {"verb": right.verb, "group": right.group, "resource": resource, "subresource": subresource}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    status = api.post(_REVIEWS, review).get("status")
    if not isinstance(status, dict):
        raise BadReply(f"{_REVIEWS}: a review without status")
    return status.get("allowed") is True
