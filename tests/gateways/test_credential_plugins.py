"""Credential plugins: what they are asked, what they may answer, and that nobody waits for one for ever."""

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import Configuration

from gateways.connections import Connection
from gateways.credential_plugins import Credential, CredentialPlugin, renew
from gateways.errors import ConfigurationError, GatewayError, Unavailable
from gateways.http import connect
from tests.gateways.scripted import ScriptedServer, write_kubeconfig
from tests.services.portal import wait_until

VERSION = "client.authentication.k8s.io/v1"
CLUSTER = {
    "server": "https://there",
    "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "portal"}}],
}


def entry(folder: Path, script: str, **more: Any) -> dict[str, Any]:
    file = folder / "plugin"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return {"apiVersion": VERSION, "command": str(file), **more}


def answer(version: str = VERSION, **status: str) -> str:
    return f"echo '{json.dumps({'apiVersion': version, 'kind': 'ExecCredential', 'status': status})}'"


def asked(folder: Path, script: str, *, seconds: float = 10, **more: Any) -> Credential:
    return CredentialPlugin(entry(folder, script, **more), CLUSTER, str(folder), seconds=seconds).ask()


def refused(folder: Path, script: str, **more: Any) -> str:
    with pytest.raises(ConfigurationError) as caught:
        asked(folder, script, **more)
    return str(caught.value)


def test_a_token_and_its_end_are_read(tmp_path: Path) -> None:
    found = asked(tmp_path, answer(token="t", expirationTimestamp="2026-01-02T03:04:05Z"))
    assert found == Credential({"token": "t"}, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))


def test_a_certificate_with_its_key_is_read(tmp_path: Path) -> None:
    found = asked(tmp_path, answer(clientCertificateData="c", clientKeyData="k"))
    assert found == Credential({"client-certificate-data": "Yw==", "client-key-data": "aw=="}, None)


def test_it_is_asked_in_its_folder_with_its_variables_about_its_cluster(tmp_path: Path) -> None:
    script = f'pwd > told; echo "$COLOUR $1" >> told; echo "$KUBERNETES_EXEC_INFO" > info; {answer(token="t")}'
    asked(tmp_path, script, args=["get-token"], env=[{"name": "COLOUR", "value": "blue"}], provideClusterInfo=True)
    assert (tmp_path / "told").read_text().splitlines() == [str(tmp_path), "blue get-token"]
    info = json.loads((tmp_path / "info").read_text())
    assert (info["apiVersion"], info["kind"], info["spec"]["interactive"]) == (VERSION, "ExecCredential", False)
    assert (info["spec"]["cluster"]["server"], info["spec"]["cluster"]["config"]) == (
        "https://there",
        {"audience": "portal"},
    )


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 3", "the credential plugin 'plugin' ended with 3"),
        ("echo garbage", "gave no ExecCredential"),
        ("echo '[]'", "gave no ExecCredential"),
        (answer("client.authentication.k8s.io/v1beta1", token="t"), "of the version that the kubeconfig names"),
        (answer(), "gave no token and no certificate"),
        (answer(clientCertificateData="c"), "gave no token and no certificate"),
    ],
)
def test_what_it_lacks_is_said(tmp_path: Path, script: str, said: str) -> None:
    assert said in refused(tmp_path, script)


@pytest.mark.parametrize("more", [{"command": ""}, {"args": "x"}, {"env": [{}]}, {"env": 3}, {"command": "/nowhere"}])
def test_an_entry_that_cannot_be_started_is_refused(tmp_path: Path, more: dict[str, Any]) -> None:
    assert "started" in refused(tmp_path, answer(token="t"), **more)


def test_one_that_hangs_is_ended_with_whatever_it_started(tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(Unavailable, match=r"the credential plugin 'plugin' gave no answer within 0\.3 s"):
        asked(tmp_path, f"sleep 997 & echo $! > {tmp_path}/child; wait", seconds=0.3)
    assert time.monotonic() - began < 30
    child = (tmp_path / "child").read_text().strip()
    wait_until(lambda: not _is_running(child), "the end of its child", 20)


def _is_running(pid: str) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_it_is_asked_again_only_when_its_token_is_about_to_end(tmp_path: Path) -> None:
    plugin = CredentialPlugin(entry(tmp_path, answer(token="second")), CLUSTER, str(tmp_path))
    for left, token in ((timedelta(minutes=9), "first"), (timedelta(seconds=30), "Bearer second"), (None, "first")):
        made = Configuration()
        made.api_key["BearerToken"] = "first"
        renew(made, plugin, Credential({"token": "first"}, left and datetime.now(UTC) + left))
        assert made.get_api_key_with_prefix("BearerToken") == token


def test_one_that_fails_when_asked_again_is_told(server: ScriptedServer, tmp_path: Path) -> None:
    script = f"[ -e {tmp_path}/asked ] && exit 7; touch {tmp_path}/asked; " + answer(
        token="t", expirationTimestamp="2026-01-02T03:04:05Z"
    )
    kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", server.url, {"exec": entry(tmp_path, script)})
    with pytest.raises(GatewayError, match="ended with 7"):
        connect(Connection("kubeconfig", str(kubeconfig))).get("/version")
