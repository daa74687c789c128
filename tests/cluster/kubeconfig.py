"""Files with tokens in them: kubeconfigs that carry all they need, readable by their owner alone."""

import base64
from pathlib import Path

import yaml


def kubeconfig(url: str, authority: bytes, user: str, token: str) -> str:
    """The text of a kubeconfig of one context."""
    cluster = {"server": url, "certificate-authority-data": base64.b64encode(authority).decode()}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "local",
            "clusters": [{"name": "local", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": "local", "context": {"cluster": "local", "user": user}}],
        }
    )


def write_private(file: Path, text: str) -> None:
    """All at once, since others may wait for the file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f"{file.name}.new")
    fresh.unlink(missing_ok=True)
    fresh.touch(mode=0o600)
    fresh.write_text(text)
    fresh.replace(file)
