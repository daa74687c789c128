"""What a person pastes into a terminal or a file to reach a cluster: AWS profiles, kubeconfigs, commands. Pure.

Nothing of it is secret: the profile names a permission set, and kubectl asks the AWS command line for each token.
"""

from dataclasses import dataclass
from shlex import quote
from typing import Any

import yaml


@dataclass(frozen=True, slots=True)
class Place:
    """One team's way to one cluster. `session` and `profile` are names in the person's own AWS files; `namespaces` are
    the team's, the first being where kubectl works by itself."""

    session: str
    profile: str
    account: str
    permission_set: str
    sso_start_url: str
    sso_region: str
    eks_cluster: str
    region: str
    namespaces: tuple[str, ...]


def aws_config(place: Place) -> str:
    """The two blocks for ~/.aws/config."""
    return (
        f"[sso-session {place.session}]\n"
        f"sso_start_url = {place.sso_start_url}\n"
        f"sso_region = {place.sso_region}\n"
        "sso_registration_scopes = sso:account:access\n"
        "\n"
        f"[profile {place.profile}]\n"
        f"sso_session = {place.session}\n"
        f"sso_account_id = {place.account}\n"
        f"sso_role_name = {place.permission_set}\n"
        f"region = {place.region}\n"
    )


def sign_in_commands(place: Place) -> tuple[str, ...]:
    """Sign in to AWS, and have kubectl know the cluster."""
    cluster = f"--name {quote(place.eks_cluster)} --region {quote(place.region)}"
    return (
        f"aws sso login --profile {quote(place.profile)}",
        f"aws eks update-kubeconfig {cluster} --profile {quote(place.profile)} --alias {quote(place.profile)}",
    )


def configure_command(place: Place) -> str:
    """Asks for what `aws_config` holds, one by one."""
    return f"aws configure sso --profile {quote(place.profile)}"


def first_commands(place: Place) -> tuple[str, ...]:
    """To see that it works."""
    at = f"--context {quote(place.profile)}"
    asked = ("localqueues", "workloads", "hyperpodpytorchjobs")
    return tuple(f"kubectl get {kind} {at} -n {quote(space)}" for space in place.namespaces for kind in asked)


def kubeconfig(place: Place, endpoint: str, authority: str) -> str:
    """A kubeconfig of this cluster alone, without a secret. `authority`: the cluster's certificate in base64."""
    content: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": place.profile, "cluster": {"server": endpoint, "certificate-authority-data": authority}}],
        "contexts": [
            {
                "name": place.profile,
                "context": {"cluster": place.profile, "user": place.profile, "namespace": place.namespaces[0]},
            }
        ],
        "current-context": place.profile,
        "users": [{"name": place.profile, "user": {"exec": _token_command(place)}}],
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def _token_command(place: Place) -> dict[str, Any]:
    return {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "aws",
        "args": ["--region", place.region, "eks", "get-token", "--cluster-name", place.eks_cluster, "--output", "json"],
        "env": [{"name": "AWS_PROFILE", "value": place.profile}],
        "interactiveMode": "IfAvailable",
    }
