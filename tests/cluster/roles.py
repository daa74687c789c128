"""Who the portal is in the cluster: deploy/kubernetes as it stands, and the group that its binding names."""

from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy" / "kubernetes"
PORTAL_GROUP = "hyperpod-portal"
_COLLECTIONS = {"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings"}


def portal_rights() -> list[tuple[str, dict[str, Any]]]:
    """The ClusterRoles and bindings of deploy/kubernetes: (collection, manifest)."""
    files = sorted(DEPLOY.glob("*.yaml"))
    manifests = [manifest for file in files for manifest in yaml.safe_load_all(file.read_text()) if manifest]
    return [(_COLLECTIONS[m["kind"]], m) for m in manifests if m["kind"] in _COLLECTIONS]
