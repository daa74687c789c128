"""Debian's SimpleSAMLphp as an identity provider on loopback, whose answers a test may change between two requests."""

import copy
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.servers import free_port, listens
from tests.services.portal import wait_until

SITE: Final = Path("/usr/share/simplesamlphp/www")
PASSWORD: Final = "open sesame"
PERSISTENT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
TRANSIENT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
EMAIL: Final = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
_CONFIG: Final = Path(__file__).parent / "simplesaml"
_QUIET: Final = ("-d", "display_errors=0", "-d", "error_reporting=22527")  # it is older than this PHP


class SimpleSamlPhp:
    """`pairs`: keys and certificates as PEM; it signs with the first."""

    def __init__(self, folder: Path, pairs: Sequence[tuple[str, str]]) -> None:
        self.folder, self.port = folder, free_port()
        (folder / "tmp").mkdir(parents=True)
        for number, (key, certificate) in enumerate(pairs):
            (folder / f"{number}.key").write_text(key)
            (folder / f"{number}.crt").write_text(certificate)
        self.address = f"http://127.0.0.1:{self.port}/"
        self.metadata_url = f"{self.address}saml2/idp/metadata.php"
        self._process: subprocess.Popen[bytes] | None = None
        self._options: dict[str, Any] = {}

    def reset(self, people: dict[str, dict[str, list[str]]], sp_addresses: Sequence[str]) -> None:
        """It knows these people and these service providers, and signs all it says."""
        self._options = {
            "address": self.address,
            "password": PASSWORD,
            "people": copy.deepcopy(people),
            "session_seconds": 8 * 3600,
            "asked_seconds_ago": 0,
            "name_id": {"class": "saml:AttributeNameID", "attribute": "uid", "Format": PERSISTENT},
            "idp": {**pair(0), "sign.logout": True, "redirect.sign": True},
            "sp_addresses": list(sp_addresses),
            "sp_metadata": [],
            "sp": {"saml20.sign.response": True, "saml20.sign.assertion": True, "NameIDFormat": PERSISTENT},
        }
        self._write()

    def say(self, who: str, **attributes: list[str]) -> None:
        """Of this person, from their next sign-in on; an empty list leaves an attribute out."""
        said = {**self._options["people"][who], **attributes}
        self._options["people"][who] = {name: values for name, values in said.items() if values}
        self._write()

    def set(self, **options: Any) -> None:
        """Options by name; those that are dictionaries are added to."""
        for name, value in options.items():
            kept = self._options[name]
            self._options[name] = {**kept, **value} if isinstance(kept, dict) else value
        self._write()

    def name_people_by(self, format_: str, attribute: str = "") -> None:
        """The format of the NameID and the attribute that it is taken from; without one it is made up each time."""
        kind = "saml:AttributeNameID" if attribute else "saml:TransientNameID"
        self._options["name_id"] = {"class": kind, "attribute": attribute, "Format": format_}
        self.set(sp={"NameIDFormat": format_})

    def _write(self) -> None:
        new = self.folder / "options.new"
        new.write_text(json.dumps(self._options))
        new.replace(self.folder / "options.json")

    def start(self) -> None:
        environment = {**os.environ, "SIMPLESAMLPHP_CONFIG_DIR": str(_CONFIG), "IDP_FOLDER": str(self.folder)}
        environment.pop("PHP_CLI_SERVER_WORKERS", None)  # its workers would outlive it
        with (self.folder / "php.log").open("ab") as log:
            self._process = subprocess.Popen(
                ["php", *_QUIET, "-S", f"127.0.0.1:{self.port}", "-t", str(SITE)],
                env=environment,
                stdout=log,
                stderr=log,
            )
        wait_until(lambda: listens(self.port), "SimpleSAMLphp")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
            self._process = None


def pair(number: int, prefix: str = "") -> dict[str, str]:
    """Which key and certificate: its own, or with the prefix `new_` those that its metadata names, too."""
    return {f"{prefix}privatekey": f"{number}.key", f"{prefix}certificate": f"{number}.crt"}
