"""What the server tells of itself: version, groups and the kinds they hold."""

from typing import Any, Final

from emulator.resources import Catalogue, Resource

VISIBILITY: Final = "visibility.kueue.x-k8s.io"
VISIBILITY_VERSIONS: Final = ("v1beta2", "v1beta1")
_VERSION: Final = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.3-emulator",
    "gitCommit": "",
    "gitTreeState": "",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "",
}


def discovered(catalogue: Catalogue, path: str) -> dict[str, Any] | None:
    """The answer to a discovery path, None for any other."""
    parts = [part for part in path.split("/") if part]
    match parts:
        case ["version"]:
            return dict(_VERSION)
        case ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"]}
        case ["apis"]:
            groups = [_group(group, catalogue.versions(group)) for group in catalogue.groups()]
            visibility = _group(VISIBILITY, list(VISIBILITY_VERSIONS))
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [*groups, visibility]}
        case ["api", "v1"]:
            return _resource_list("v1", [r for r in catalogue.all() if not r.group])
        case ["apis", group]:
            versions = list(VISIBILITY_VERSIONS) if group == VISIBILITY else catalogue.versions(group)
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, versions)} if versions else None
        case ["apis", group, version]:
            return _in_version(catalogue, group, version)
    return None


def _in_version(catalogue: Catalogue, group: str, version: str) -> dict[str, Any] | None:
    if group == VISIBILITY and version in VISIBILITY_VERSIONS:
        return {**_resource_list(f"{group}/{version}", []), "resources": _visibility_resources()}
    resources = [r for r in catalogue.all() if (r.group, r.version) == (group, version)]
    return _resource_list(f"{group}/{version}", resources) if resources else None


def _group(group: str, versions: list[str]) -> dict[str, Any]:
    served = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
    return {"name": group, "versions": served, "preferredVersion": served[0] if served else {}}


def _resource_list(group_version: str, resources: list[Resource]) -> dict[str, Any]:
    entries: list[dict[str, Any]] = []
    for resource in resources:
        entry: dict[str, Any] = {
            "name": resource.plural,
            "singularName": resource.kind.lower(),
            "namespaced": resource.namespaced,
            "kind": resource.kind,
            "verbs": list(resource.verbs),
        }
        entries.append({**entry, "shortNames": list(resource.short_names)})
        if resource.has_status:
            verbs = ["get", "patch", "update"] if resource.writable else ["get"]
            entries.append({**entry, "name": f"{resource.plural}/status", "singularName": "", "verbs": verbs})
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": entries}


def _visibility_resources() -> list[dict[str, Any]]:
    summary = {"singularName": "", "kind": "PendingWorkloadsSummary", "verbs": ["get"]}
    return [
        {**summary, "name": "clusterqueues/pendingworkloads", "namespaced": False},
        {**summary, "name": "localqueues/pendingworkloads", "namespaced": True},
    ]
