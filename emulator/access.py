"""Who asks, and what they may do. Decided before anything is read or changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from emulator.errors import ApiError, unauthorized
from emulator.paths import Target

_READ: Final = frozenset({"get", "list", "watch"})
_GET: Final = frozenset({"get"})
_PUBLIC: Final = ("/version", "/healthz", "/livez", "/readyz")
_DISCOVERY: Final = ("/api", "/apis", "/openapi")


@dataclass(frozen=True, slots=True)
class Rule:
    group: str
    resources: frozenset[str]
    verbs: frozenset[str]


_READER: Final = (
    Rule("", frozenset({"nodes", "namespaces", "pods", "events"}), _READ),
    Rule("events.k8s.io", frozenset({"events"}), _READ),
    Rule("batch", frozenset({"jobs"}), _GET),
    Rule("sagemaker.amazonaws.com", frozenset({"hyperpodpytorchjobs"}), _GET),
    Rule("kubeflow.org", frozenset({"pytorchjobs", "mpijobs"}), _GET),
    Rule("jobset.x-k8s.io", frozenset({"jobsets"}), _GET),
    Rule("trainer.kubeflow.org", frozenset({"trainjobs"}), _GET),
    Rule("ray.io", frozenset({"rayjobs", "rayclusters"}), _GET),
    Rule(
        "kueue.x-k8s.io",
        frozenset(
            {
                "admissionchecks",
                "clusterqueues",
                "cohorts",
                "localqueues",
                "workloads",
                "resourceflavors",
                "workloadpriorityclasses",
            }
        ),
        _READ,
    ),
    Rule(
        "visibility.kueue.x-k8s.io",
        frozenset({"clusterqueues/pendingworkloads", "localqueues/pendingworkloads"}),
        _GET,
    ),
)


@dataclass(frozen=True, slots=True)
class User:
    """`rules` of None allow everything."""

    name: str
    rules: tuple[Rule, ...] | None

    @property
    def is_known(self) -> bool:
        return self is not _ANONYMOUS

    def may(self, verb: str, target: Target) -> bool:
        if self.rules is None:
            return True
        wanted = f"{target.plural}/{target.subresource}" if target.subresource else target.plural
        return any(r.group == target.group and wanted in r.resources and verb in r.verbs for r in self.rules)


ADMIN: Final = User("emulator-admin", None)
PORTAL: Final = User("hyperpod-portal", _READER)
_ANONYMOUS: Final = User("system:anonymous", ())


class Access:
    """The bearer tokens of one emulator: ADMIN's may do everything, PORTAL's reads what the portal needs."""

    def __init__(self, admin_token: str, portal_token: str) -> None:
        self._users = {admin_token: ADMIN, portal_token: PORTAL}

    def user(self, headers: Mapping[str, str]) -> User:
        """Who sent these headers; without a token, somebody who may do next to nothing. Raises ApiError (401)."""
        scheme, _, token = headers.get("Authorization", "").partition(" ")
        if not scheme:
            return _ANONYMOUS
        user = self._users.get(token.strip()) if scheme.lower() == "bearer" else None
        if user is None:
            raise unauthorized()
        return user


def check_path(user: User, method: str, path: str) -> None:
    """Rights on what is no API object: discovery for everybody known, the clock for ADMIN. Raises ApiError (403)."""
    path = path.rstrip("/")
    if path in _PUBLIC or user.rules is None:
        return
    if user.is_known and method == "GET" and path.startswith(_DISCOVERY):
        return
    verb = method.lower()
    raise ApiError(403, "Forbidden", f'forbidden: User "{user.name}" cannot {verb} path "{path}"', details={})


def check_target(user: User, verb: str, target: Target) -> None:
    """Raises ApiError (403) with the words kubectl users know."""
    if user.may(verb, target):
        return
    resource = f"{target.plural}.{target.group}" if target.group else target.plural
    named = f' "{target.name}"' if target.name else ""
    scope = f'in the namespace "{target.namespace}"' if target.namespace else "at the cluster scope"
    wanted = f"{target.plural}/{target.subresource}" if target.subresource else target.plural
    details = {"name": target.name, "group": target.group, "kind": target.plural}
    raise ApiError(
        403,
        "Forbidden",
        f'{resource}{named} is forbidden: User "{user.name}" cannot {verb} resource "{wanted}" '
        f'in API group "{target.group}" {scope}',
        {name: value for name, value in details.items() if value},
    )
