"""How a cluster is reached, and the official client's configuration made from it."""

import os
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

import yaml
from kubernetes.client import Configuration
from kubernetes.config import ConfigException, load_incluster_config
from kubernetes.config.kube_config import KubeConfigLoader

from gateways.credential_plugins import CredentialPlugin, renew
from gateways.eks import eks_configuration
from gateways.errors import ConfigurationError

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Connection:
    """Where a cluster's API server is and whose credentials are used there.

    `kubeconfig`: a file, and a context in it (empty: its current one). `in_cluster`: the service account of the pod
    that the portal runs in. `eks`: the name and region of an EKS cluster, with the AWS credentials of the process.
    """

    kind: Literal["kubeconfig", "in_cluster", "eks"]
    kubeconfig: str = ""
    context: str = ""
    eks_cluster: str = ""
    region: str = ""


def configuration(connection: Connection) -> Configuration:
    """The client's configuration, which renews its own token. Raises GatewayError."""
    if connection.kind == "eks":
        return _without_loopback_proxy(eks_configuration(connection.eks_cluster, connection.region))
    made = Configuration()
    if connection.kind == "in_cluster":
        _load_in_cluster(made)
    else:
        _load_kubeconfig(made, os.path.expanduser(connection.kubeconfig), connection.context)
    return _without_loopback_proxy(made)


def _load_in_cluster(made: Configuration) -> None:
    try:
        load_incluster_config(client_configuration=made)  # type: ignore[no-untyped-call]
    except (ConfigException, OSError) as error:
        raise ConfigurationError(f"no service account of a pod is mounted here: {error}") from error


def _load_kubeconfig(made: Configuration, path: str, context: str) -> None:
    content, folder = _read_kubeconfig(path), os.path.dirname(os.path.abspath(path))
    cluster, user = _chosen(content, path, context)
    entry = user.pop("exec", None)
    plugin = None if entry is None else CredentialPlugin(entry if isinstance(entry, dict) else {}, cluster, folder)
    credential = plugin.ask() if plugin else None
    user.update(credential.user if credential else {})
    try:
        loader = KubeConfigLoader(content, context or None, config_base_path=folder)  # type: ignore[no-untyped-call]
        loader.load_and_set(made)  # type: ignore[no-untyped-call]
    except Exception:
        # The client's own messages may quote the user's entry, token and all: they are not passed on.
        raise ConfigurationError(f"the kubeconfig {path} cannot be used: a file or field it needs is missing") from None
    if plugin and credential:
        renew(made, plugin, credential)


def _read_kubeconfig(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            content = yaml.safe_load(file)
    except OSError as error:
        raise ConfigurationError(f"the kubeconfig {path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark else ""
        raise ConfigurationError(f"the kubeconfig {path} is not YAML{line}") from None
    if not isinstance(content, dict):
        raise ConfigurationError(f"the kubeconfig {path} holds no configuration")
    return content


def _chosen(content: dict[str, Any], path: str, context: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The cluster's and the user's entry that the context names; without a user that is empty. Raises
    ConfigurationError."""
    name = context or content.get("current-context")
    if not name:
        raise ConfigurationError(f"the kubeconfig {path} names no current context, and none was chosen")
    chosen = _entry(content, "contexts", "context", name, path)
    cluster = _entry(content, "clusters", "cluster", chosen.get("cluster"), path)
    if not cluster.get("server"):
        raise ConfigurationError(f"the kubeconfig {path} names no server for the cluster {chosen['cluster']!r}")
    user = chosen.get("user")
    return cluster, _entry(content, "users", "user", user, path) if user else {}


def _entry(content: dict[str, Any], section: str, field: str, name: object, path: str) -> dict[str, Any]:
    entries = content.get(section)
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("name") == name and isinstance(entry.get(field), dict):
            found: dict[str, Any] = entry[field]
            return found
    raise ConfigurationError(f"the kubeconfig {path} has no {field} {name!r}")


def _without_loopback_proxy(made: Configuration) -> Configuration:
    """kubectl never sends loopback through a proxy of the environment; the Python client would."""
    if urlsplit(made.host).hostname in _LOOPBACK:
        made.proxy = None
    return made
