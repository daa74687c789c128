"""The portal's web server, set up for identity providers on loopback."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.services.portal import RunningPortal

ADMIN = "admin"
"""Whom the demo signs in without a provider."""
_READ = """
from accounts.models import IdentityProvider
from accounts.tasks import read_metadata_of
for provider in IdentityProvider.objects.exclude(metadata_url=""):
    read_metadata_of(provider.pk)
"""
GROUPS = {"g-research": "member", "g-leads": "admin"}


class SamlPortal(RunningPortal):
    """At another site than the identity providers, as in earnest: localhost here, 127.0.0.1 there."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, f"sqlite:///{folder}/portal.sqlite3", "filesystem://localhost")
        self.address = f"http://localhost:{self.web_port}"
        self.environment |= {"PORTAL_ADDRESS": self.address, "PORTAL_INTERNAL_TARGETS": "127.0.0.1"}

    def saml_address(self, slug: str) -> str:
        return f"{self.address}/saml/{slug}/"

    def connect(self, **providers: Mapping[str, Any]) -> None:
        """Identity providers by slug, each with groups for one team and for finops."""
        setup = {
            "clusters": {"gpu": {"name": "GPU", "kubeconfig": "/nowhere"}},
            "teams": {
                "research": {"name": "Research", "hyperpod": ["gpu"], "groups": dict.fromkeys(providers, GROUPS)}
            },
            "people": {ADMIN: {"name": "Admin"}},
            "platform_roles": {"platform_admin": [ADMIN]},
            "platform_groups": {slug: {"g-finops": "finops"} for slug in providers},
            "identity_providers": {slug: {"enabled": True, **entry} for slug, entry in providers.items()},
        }
        path = self.folder / "setup.yaml"
        path.write_text(yaml.safe_dump(setup))
        self.manage("import_setup", str(path))

    def read_metadata(self) -> None:
        """What workers do every 15 minutes."""
        self.manage("shell", "-v", "0", "-c", _READ)

    def restart_web(self) -> None:
        """With what its environment is now."""
        self.stop("web")
        self.start("web")

    def last_refusal(self) -> str:
        """Its line in the log."""
        lines = (self.folder / "web.log").read_text().splitlines()
        return [line for line in lines if "sign-in refused" in line][-1]
