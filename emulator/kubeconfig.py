"""The kubeconfig that leads to an emulator: a context for the portal, which reads, and one for the admin."""

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

PORTAL_CONTEXT: Final = "portal"
ADMIN_CONTEXT: Final = "admin"
_CLUSTER: Final = "emulator"


@dataclass(frozen=True, slots=True)
class Tokens:
    admin: str
    portal: str


def tokens_of(path: Path) -> Tokens:
    """The tokens of an earlier start, so that whoever holds the file stays welcome; else new ones."""
    try:
        users = {user["name"]: user["user"]["token"] for user in yaml.safe_load(path.read_text())["users"]}
        return Tokens(users[ADMIN_CONTEXT], users[PORTAL_CONTEXT])
    except (OSError, yaml.YAMLError, KeyError, TypeError):
        return new_tokens()


def new_tokens() -> Tokens:
    return Tokens(secrets.token_urlsafe(24), secrets.token_urlsafe(24))


def write_kubeconfig(path: Path, url: str, tokens: Tokens) -> None:
    """Readable by its owner alone. The current context is the portal's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.new")
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        yaml.safe_dump(_kubeconfig(url, tokens), file, sort_keys=False)
    fresh.replace(path)


def _kubeconfig(url: str, tokens: Tokens) -> dict[str, Any]:
    users = {PORTAL_CONTEXT: tokens.portal, ADMIN_CONTEXT: tokens.admin}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": PORTAL_CONTEXT,
        "clusters": [{"name": _CLUSTER, "cluster": {"server": url}}],
        "users": [{"name": name, "user": {"token": token}} for name, token in users.items()],
        "contexts": [{"name": name, "context": {"cluster": _CLUSTER, "user": name}} for name in users],
    }
