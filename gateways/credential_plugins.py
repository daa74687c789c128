"""Credential plugins that a kubeconfig's user names (`exec`). The client would wait for one for ever."""

import base64
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson
from kubernetes.client import Configuration

from gateways.errors import ConfigurationError, Unavailable
from scheduling.parsing import parse_time

PLUGIN_SECONDS: Final = 10.0
_EARLY: Final = timedelta(minutes=1)
_CONFIG_EXTENSION: Final = "client.authentication.k8s.io/exec"


@dataclass(frozen=True, slots=True)
class Credential:
    """`user` is what the kubeconfig would say in the plugin's place. `expires_at`: None if it holds until refused."""

    user: dict[str, str]
    expires_at: datetime | None


class CredentialPlugin:
    """The plugin of an `exec` entry, started in `folder`; `cluster` is the cluster's entry. Whatever it says on
    standard error goes where the portal's own goes, as with kubectl."""

    def __init__(
        self, entry: Mapping[str, Any], cluster: Mapping[str, Any], folder: str, *, seconds: float = PLUGIN_SECONDS
    ) -> None:
        self._entry, self._cluster, self._folder, self._seconds = entry, cluster, folder, seconds
        self._name = f"the credential plugin {os.path.basename(str(entry.get('command') or ''))!r}"

    def ask(self) -> Credential:
        """Raises ConfigurationError, and Unavailable where it does not end in time. Neither quotes what it said."""
        answer = _parsed(self._output())
        status = answer.get("status")
        if answer.get("apiVersion") != self._entry.get("apiVersion") or not isinstance(status, dict):
            raise ConfigurationError(f"{self._name} gave no ExecCredential of the version that the kubeconfig names")
        user = _user_of(status)
        if not user:
            raise ConfigurationError(f"{self._name} gave no token and no certificate")
        return Credential(user, parse_time(status.get("expirationTimestamp")))

    def _output(self) -> bytes:
        try:
            process = subprocess.Popen(  # noqa: S603 - the kubeconfig says what to start
                self._arguments(),
                cwd=self._folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                start_new_session=True,  # whatever it starts ends with it
            )
        except OSError as error:
            raise ConfigurationError(f"{self._name} cannot be started: {error.strerror}") from None
        except (ValueError, LookupError, TypeError, AttributeError):  # whatever else the entry may hold
            raise ConfigurationError(f"{self._name} cannot be started: its entry is malformed") from None
        with process:
            output = self._read(process)
        if process.returncode:
            raise ConfigurationError(f"{self._name} ended with {process.returncode}")
        return output

    def _read(self, process: subprocess.Popen[bytes]) -> bytes:
        try:
            return process.communicate(timeout=self._seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise Unavailable(f"{self._name} gave no answer within {self._seconds:g} s") from None

    def _arguments(self) -> list[str]:
        command, arguments = self._entry.get("command"), self._entry.get("args") or []
        if not isinstance(command, str) or not command or not isinstance(arguments, list):
            raise ConfigurationError("the credential plugin has no command that can be started")
        return [command, *map(str, arguments)]

    def _environment(self) -> dict[str, str]:
        added = {str(each["name"]): str(each["value"]) for each in self._entry.get("env") or []}
        asked: dict[str, Any] = {"interactive": False}
        if self._entry.get("provideClusterInfo"):
            asked["cluster"] = _told_of(self._cluster)
        info = {"apiVersion": self._entry.get("apiVersion"), "kind": "ExecCredential", "spec": asked}
        return {**os.environ, **added, "KUBERNETES_EXEC_INFO": orjson.dumps(info).decode()}


def renew(made: Configuration, plugin: CredentialPlugin, first: Credential) -> None:
    """Let the configuration ask the plugin again a minute before its token expires."""
    made.refresh_api_key_hook = _Renewal(plugin, first)  # type: ignore[assignment]


class _Renewal:
    def __init__(
        self, plugin: CredentialPlugin, first: Credential, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._plugin, self._held, self._now = plugin, first, now

    def __call__(self, made: Configuration) -> None:
        expires_at = self._held.expires_at
        if expires_at is not None and expires_at - _EARLY <= self._now():
            self._held = self._plugin.ask()
            made.api_key["BearerToken"] = f"Bearer {self._held.user.get('token', '')}"


def _told_of(cluster: Mapping[str, Any]) -> dict[str, Any]:
    told = dict(cluster)
    for extension in told.get("extensions") or ():
        if extension["name"] == _CONFIG_EXTENSION:
            told["config"] = extension["extension"]
    return told


def _parsed(output: bytes) -> dict[str, Any]:
    try:
        answer = orjson.loads(output)
    except orjson.JSONDecodeError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _user_of(status: Mapping[str, Any]) -> dict[str, str]:
    """A token, or a certificate with its key; empty if it gives neither whole."""
    token, certificate, key = (status.get(name) for name in ("token", "clientCertificateData", "clientKeyData"))
    if isinstance(token, str) and token:
        return {"token": token}
    if isinstance(certificate, str) and isinstance(key, str):
        return {"client-certificate-data": _base64(certificate), "client-key-data": _base64(key)}
    return {}


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
