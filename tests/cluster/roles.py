"""The rights the portal asks for, as deploy/kubernetes grants them."""

from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy" / "kubernetes"
READ = ["get", "list", "watch"]


def portal_roles() -> list[dict[str, Any]]:
    """The ClusterRoles of deploy/kubernetes."""
    files = sorted(DEPLOY.glob("*.yaml"))
    objects = [obj for file in files for obj in yaml.safe_load_all(file.read_text()) if obj]
    return [obj for obj in objects if obj["kind"] == "ClusterRole"] or [_reader()]


def _reader() -> dict[str, Any]:
    rules = [
        {"apiGroups": ["kueue.x-k8s.io"], "resources": ["*"], "verbs": READ},
        {"apiGroups": [""], "resources": ["namespaces", "nodes", "pods", "events"], "verbs": READ},
        {
            "apiGroups": ["visibility.kueue.x-k8s.io"],
            "resources": ["clusterqueues/pendingworkloads", "localqueues/pendingworkloads"],
            "verbs": ["get"],
        },
    ]
    return {"kind": "ClusterRole", "metadata": {"name": "portal-reader"}, "rules": rules}
