import base64
import json
import logging
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
import time_machine
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from kubernetes.client import Configuration

from gateways.connections import Connection, configuration
from gateways.errors import ConfigurationError, Unavailable
from gateways.http import Api, connect
from tests.gateways.scripted import TOKEN, ScriptedServer, reply, status, write_kubeconfig

PATH = "/version"


def by_file(file: Path, context: str = "") -> Connection:
    return Connection("kubeconfig", kubeconfig=str(file), context=context)


def refused(file: Path, context: str = "") -> str:
    """What the error says; neither it nor its causes may hold the token."""
    with pytest.raises(ConfigurationError) as caught:
        configuration(by_file(file, context))
    assert TOKEN not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


def sent_authorization(server: ScriptedServer, connection: Connection) -> str | None:
    server.on(PATH, reply({}))
    connect(connection).get(PATH)
    return server.asked[-1].headers.get("Authorization")


def test_the_token_of_the_current_context_is_sent(server: ScriptedServer, kubeconfig: Path) -> None:
    assert sent_authorization(server, by_file(kubeconfig)) == f"Bearer {TOKEN}"


def test_another_context_may_be_chosen(server: ScriptedServer, kubeconfig: Path) -> None:
    content = yaml.safe_load(kubeconfig.read_text())
    content["users"].append({"name": "other", "user": {"token": "another"}})
    content["contexts"].append({"name": "there", "context": {"cluster": "cluster", "user": "other"}})
    kubeconfig.write_text(yaml.safe_dump(content))
    assert sent_authorization(server, by_file(kubeconfig, "there")) == "Bearer another"


def test_the_home_folder_may_be_written_short(
    server: ScriptedServer, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(kubeconfig.parent))
    assert sent_authorization(server, by_file(Path("~/kubeconfig")))


def test_a_token_file_is_read_without_its_line_end(server: ScriptedServer, kubeconfig: Path) -> None:
    kubeconfig.with_name("token").write_text("from-a-file\n")
    write_kubeconfig(kubeconfig, server.url, {"tokenFile": "token"})
    assert sent_authorization(server, by_file(kubeconfig)) == "Bearer from-a-file"


def test_a_rotated_token_file_is_read_again_when_the_old_token_is_refused(
    server: ScriptedServer, kubeconfig: Path
) -> None:
    token = kubeconfig.with_name("token")
    token.write_text("old")
    api = connect(by_file(write_kubeconfig(kubeconfig, server.url, {"tokenFile": str(token)})))
    server.on(PATH, reply({}), status(401), reply({}))
    api.get(PATH)
    token.write_text("new")
    api.get(PATH)
    assert [asked.headers["Authorization"] for asked in server.asked] == ["Bearer old", "Bearer old", "Bearer new"]


def test_a_kubeconfig_that_leads_elsewhere_is_not_followed_unasked(server: ScriptedServer, kubeconfig: Path) -> None:
    """Another cluster's objects must not be taken for this one's."""
    api = connect(by_file(kubeconfig))
    server.on(PATH, reply({}), status(401))
    api.get(PATH)
    write_kubeconfig(kubeconfig, "http://127.0.0.1:9")
    with pytest.raises(ConfigurationError, match="another server"):
        api.get(PATH)


def test_a_user_without_credentials_sends_none(server: ScriptedServer, kubeconfig: Path) -> None:
    write_kubeconfig(kubeconfig, server.url, {})
    assert sent_authorization(server, by_file(kubeconfig)) is None


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert refused(tmp_path / "absent") == f"the kubeconfig {tmp_path}/absent cannot be read: No such file or directory"


def test_a_folder_is_no_kubeconfig(tmp_path: Path) -> None:
    assert "Is a directory" in refused(tmp_path)


def test_a_missing_context_is_named(kubeconfig: Path) -> None:
    assert refused(kubeconfig, "elsewhere").endswith("has no context 'elsewhere'")


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("contexts", "has no context 'here'"),
        ("clusters", "has no cluster 'cluster'"),
        ("users", "has no user 'portal'"),
        ("current-context", "names no current context"),
    ],
)
@pytest.mark.parametrize("content", [None, [], {}, "x", [None], [{"name": "here"}]])
def test_a_broken_section_is_named(kubeconfig: Path, section: str, said: str, content: Any) -> None:
    whole = yaml.safe_load(kubeconfig.read_text())
    whole[section] = content if section != "current-context" else None
    kubeconfig.write_text(yaml.safe_dump(whole))
    assert said in refused(kubeconfig)


@pytest.mark.parametrize("url", ["https://", "not a url", "https://127.0.0.1:99999999", "ftp://127.0.0.1"])
def test_an_address_that_is_none_is_refused(kubeconfig: Path, url: str) -> None:
    with pytest.raises(ConfigurationError, match="no address of a server"):
        connect(by_file(write_kubeconfig(kubeconfig, url))).get(PATH)


@pytest.mark.filterwarnings("ignore::urllib3.exceptions.DependencyWarning")
@pytest.mark.parametrize("proxy", ["ftp://127.0.0.1", "socks5://127.0.0.1:9", "::::"])
def test_a_proxy_that_cannot_be_used_is_refused(kubeconfig: Path, proxy: str) -> None:
    write_kubeconfig(kubeconfig, "https://kubernetes.example", cluster={"proxy-url": proxy})
    with pytest.raises(ConfigurationError, match="proxy"):
        connect(by_file(kubeconfig)).get(PATH)


def test_a_cluster_without_a_server_is_refused(kubeconfig: Path) -> None:
    """The client would ask localhost instead."""
    write_kubeconfig(kubeconfig, "")
    assert "names no server for the cluster 'cluster'" in refused(kubeconfig)


def test_a_token_that_cannot_be_renewed_is_refused(
    server: ScriptedServer, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(made: Configuration) -> None:
        raise FileNotFoundError(TOKEN)

    made = configuration(by_file(kubeconfig))
    monkeypatch.setattr(made, "refresh_api_key_hook", fail)
    with pytest.raises(ConfigurationError, match="cannot be renewed") as caught:
        Api(lambda: made).get(PATH)
    assert TOKEN not in "".join(traceback.format_exception(caught.value))


def test_a_user_entry_with_its_token_in_the_wrong_place_is_refused_without_it(kubeconfig: Path) -> None:
    whole = yaml.safe_load(kubeconfig.read_text())
    whole["users"] = [{"name": "portal", "token": TOKEN}]
    kubeconfig.write_text(yaml.safe_dump(whole))
    assert "has no user 'portal'" in refused(kubeconfig)


@pytest.mark.parametrize("text", ["", "- a list", "a scalar", "3", "null"])
def test_yaml_that_is_no_mapping_is_refused(kubeconfig: Path, text: str) -> None:
    kubeconfig.write_text(text)
    assert "holds no configuration" in refused(kubeconfig)


def test_bad_yaml_is_told_by_its_line_alone(kubeconfig: Path) -> None:
    kubeconfig.write_text(f"users:\n- name: a\n  user: {{token: {TOKEN}\nclusters: ]")
    assert refused(kubeconfig).endswith("is not YAML in line 4")


def test_bytes_that_are_no_text_are_refused(kubeconfig: Path) -> None:
    kubeconfig.write_bytes(b"\xff\xfe\x00")
    assert "is not YAML" in refused(kubeconfig)


@pytest.mark.parametrize(
    "cluster", [{"certificate-authority": "absent.crt"}, {"certificate-authority-data": "not base64!"}]
)
def test_a_certificate_that_is_not_there_is_refused(kubeconfig: Path, cluster: dict[str, str]) -> None:
    write_kubeconfig(kubeconfig, "https://127.0.0.1:1", cluster=cluster)
    assert "cannot be used" in refused(kubeconfig)


@pytest.mark.parametrize("token", ["two\nlines", "größe", "nul\x00"])
def test_a_token_that_no_header_may_carry_is_refused_without_it(
    server: ScriptedServer, kubeconfig: Path, token: str
) -> None:
    write_kubeconfig(kubeconfig, server.url, {"token": token})
    with pytest.raises(ConfigurationError) as caught:
        connect(by_file(kubeconfig)).get(PATH)
    assert token not in "".join(traceback.format_exception(caught.value))
    assert server.asked == []


def plugin(folder: Path, script: str) -> dict[str, Any]:
    file = folder / "plugin"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(file), "args": []}}


def credential(token: str, expires: str) -> str:
    said = {"token": token, "expirationTimestamp": expires}
    answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": said}
    return f"echo '{json.dumps(answer)}'"


def test_a_credential_plugin_is_asked_for_the_token(server: ScriptedServer, kubeconfig: Path) -> None:
    user = plugin(kubeconfig.parent, credential("from-plugin", "2099-01-01T00:00:00Z"))
    assert sent_authorization(server, by_file(write_kubeconfig(kubeconfig, server.url, user))) == "Bearer from-plugin"


def test_a_plugin_is_asked_again_when_its_token_expires(server: ScriptedServer, kubeconfig: Path) -> None:
    expired = (datetime.now(UTC) - timedelta(minutes=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    counting = f"echo x >> {kubeconfig.parent}/calls\n{credential('short-lived', expired)}"
    api = connect(by_file(write_kubeconfig(kubeconfig, server.url, plugin(kubeconfig.parent, counting))))
    server.on(PATH, reply({}))
    api.get(PATH)
    first = (kubeconfig.parent / "calls").read_text()
    api.get(PATH)
    assert len((kubeconfig.parent / "calls").read_text()) > len(first)


@pytest.mark.parametrize("script", ["exit 3", "echo garbage", "echo '{}'"])
def test_a_plugin_without_a_token_is_refused(
    server: ScriptedServer, kubeconfig: Path, script: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    write_kubeconfig(kubeconfig, server.url, plugin(kubeconfig.parent, script))
    assert "credential plugin" in refused(kubeconfig)


def test_outside_a_pod_there_is_no_service_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(ConfigurationError, match="no service account"):
        configuration(Connection("in_cluster"))


def test_a_service_account_is_used_and_its_rotated_token_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, authority = tmp_path / "token", tmp_path / "ca.crt"
    token.write_text("first")
    authority.write_text("certificate")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    monkeypatch.setattr("kubernetes.config.incluster_config.SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr("kubernetes.config.incluster_config.SERVICE_CERT_FILENAME", str(authority))
    made = configuration(Connection("in_cluster"))
    assert (made.host, made.ssl_ca_cert) == ("https://10.0.0.1:443", str(authority))
    assert made.get_api_key_with_prefix("BearerToken", "authorization") == "bearer first"
    token.write_text("second")
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=2)):
        assert made.get_api_key_with_prefix("BearerToken", "authorization") == "bearer second"


def test_loopback_is_reached_past_a_proxy_of_the_environment(
    server: ScriptedServer, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert sent_authorization(server, by_file(kubeconfig))


class Authority:
    """A certificate authority of its own, and a server certificate by it."""

    def __init__(self, folder: Path) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
        now = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(hours=1))
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), False)
            .add_extension(x509.BasicConstraints(True, None), True)
            .sign(key, hashes.SHA256())
        )
        self.certificate = certificate.public_bytes(serialization.Encoding.PEM)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        self.pair = folder / "pair.pem"
        self.pair.write_bytes(private + self.certificate)
        self.entry = {"certificate-authority-data": base64.b64encode(self.certificate).decode()}


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def tls_server(authority: Authority) -> Iterator[ScriptedServer]:
    scripted = ScriptedServer(authority.pair)
    yield scripted
    scripted.close()


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"])
def test_a_private_authority_is_trusted_whatever_the_environment_trusts(
    tls_server: ScriptedServer, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    other = tmp_path / "other.pem"
    other.write_text("no certificate at all")
    monkeypatch.setenv(variable, str(other))
    file = write_kubeconfig(tmp_path / "k", tls_server.url, cluster=authority.entry)
    assert sent_authorization(tls_server, by_file(file)) == f"Bearer {TOKEN}"


def test_a_server_of_another_authority_is_refused(tls_server: ScriptedServer, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    stranger = Authority(tmp_path / "other")
    file = write_kubeconfig(tmp_path / "k", tls_server.url, cluster=stranger.entry)
    with pytest.raises(ConfigurationError, match="not signed by the configured certificate authority"):
        connect(by_file(file)).get(PATH)
    assert tls_server.asked == []


def test_plain_http_on_a_tls_port_is_unavailable(tls_server: ScriptedServer, tmp_path: Path) -> None:
    file = write_kubeconfig(tmp_path / "k", tls_server.url.replace("https", "http"))
    with pytest.raises(Unavailable):
        connect(by_file(file)).post(PATH, {})
