"""What Kueue needs in a cluster that it runs beside: kinds, webhooks and visibility API by address, its settings."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.build import component

Json = dict[str, Any]

NAMESPACE = "kueue-system"
VISIBILITY_SERVICE = "visibility-server"
KINDS = {
    "workloads",
    "clusterqueues",
    "localqueues",
    "cohorts",
    "resourceflavors",
    "workloadpriorityclasses",
    "admissionchecks",
}
_CONVERTED = {"workloads", "clusterqueues", "localqueues", "cohorts", "multikueueclusters"}
_CONCURRENCY = {  # as Kueue's own manifests set it
    "Job.batch": 5,
    "Workload.kueue.x-k8s.io": 10,
    "LocalQueue.kueue.x-k8s.io": 5,
    "Cohort.kueue.x-k8s.io": 1,
    "ClusterQueue.kueue.x-k8s.io": 5,
    "ResourceFlavor.kueue.x-k8s.io": 1,
}
_IMPATIENCE = {
    "waitForPodsReady": {
        "timeout": "8s",
        "requeuingStrategy": {"backoffLimitCount": 1, "backoffBaseSeconds": 1},
    },
    "objectRetentionPolicies": {"workloads": {"afterFinished": "0s", "afterDeactivatedByKueue": "0s"}},
}
_HOOKED_GROUPS = {"kueue.x-k8s.io", "batch"}  # the integrations switched on in `settings`


def crds(webhook_port: int, authority: bytes) -> Iterator[Json]:
    """Kueue's CustomResourceDefinitions, those of two versions with the conversion webhook."""
    for file in sorted((component("kueue").folder / "bases").glob("*.yaml")):
        crd = yaml.safe_load(file.read_text())
        if crd["spec"]["names"]["plural"] in _CONVERTED:
            client = _client(webhook_port, "/convert", authority)
            webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
            crd["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
        yield crd


def webhooks(webhook_port: int, authority: bytes) -> Iterator[Json]:
    """Kueue's admission webhooks for the kinds used here, called on loopback."""
    for configuration in yaml.safe_load_all((component("kueue").folder / "manifests.yaml").read_text()):
        hooks = [h for h in configuration["webhooks"] if h["rules"][0]["apiGroups"][0] in _HOOKED_GROUPS]
        for hook in hooks:
            hook["clientConfig"] = _client(webhook_port, hook["clientConfig"]["service"]["path"], authority)
        configuration["webhooks"] = hooks
        configuration["metadata"]["name"] = f"kueue-{configuration['metadata']['name']}"
        yield configuration


def visibility_service() -> Json:
    """The API server resolves a Service of this type to loopback; endpoints could not point there."""
    metadata = {"name": VISIBILITY_SERVICE, "namespace": NAMESPACE}
    return {"metadata": metadata, "spec": {"type": "ExternalName", "externalName": "localhost"}}


def visibility_apis(port: int) -> Iterator[Json]:
    """The visibility API as part of the API server, as in a real cluster."""
    for file in sorted((component("kueue").folder / "visibility").glob("apiservice_*.yaml")):
        service = yaml.safe_load(file.read_text())
        service["spec"]["service"]["port"] = port
        yield service


def settings(
    *,
    webhook_port: int,
    probe_port: int,
    metrics_port: int,
    visibility_port: int,
    fair_sharing: bool,
    impatient: bool,
) -> Json:
    """Kueue's configuration; certificates are read from `tls` in its working folder. `impatient`: it evicts what has no
    pods after a few seconds and deletes at once what is over."""
    fair = {"fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}}
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": f"127.0.0.1:{probe_port}"},
        "metrics": {"bindAddress": f"127.0.0.1:{metrics_port}", "enableClusterQueueResources": True},
        "webhook": {"port": webhook_port, "host": "127.0.0.1", "certDir": "tls"},
        "visibilityServer": {"bindAddress": "127.0.0.1", "bindPort": visibility_port},
        "leaderElection": {"leaderElect": False},
        "controller": {"groupKindConcurrency": _CONCURRENCY},
        "internalCertManagement": {"enable": False},
        "clientConnection": {"qps": 300, "burst": 500},
        "integrations": {"frameworks": ["batch/job"]},
        **(fair if fair_sharing else {}),
        **(_IMPATIENCE if impatient else {}),
    }


def kwok_stages() -> list[Path]:
    """kwok's own descriptions of how nodes and pods live."""
    folder = component("kwok").folder
    nodes = [
        folder / "node/fast/node-initialize.yaml",
        folder / "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    ]
    return nodes + sorted((folder / "pod/general").glob("pod-*.yaml"))


def _client(port: int, address: str, authority: bytes) -> Json:
    return {"url": f"https://127.0.0.1:{port}{address}", "caBundle": base64.b64encode(authority).decode()}
