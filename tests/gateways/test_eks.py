import base64
import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3  # type: ignore[import-untyped]
import pytest
from botocore.exceptions import ConnectTimeoutError, EndpointConnectionError  # type: ignore[import-untyped]
from botocore.stub import Stubber  # type: ignore[import-untyped]

from gateways.connections import Connection, configuration
from gateways.eks import eks_configuration
from gateways.errors import BadReply, ConfigurationError, Denied, GatewayError, NotFound, Unavailable

AUTHORITY = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
CLUSTER = {
    "name": "shared",
    "endpoint": "https://ABC.gr7.sa-east-1.eks.amazonaws.com",
    "certificateAuthority": {"data": base64.b64encode(AUTHORITY.encode()).decode()},
}
SECRET = "aws-secret-key"


class Now:
    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time


class StubbedSession:
    """A session whose EKS answers as the stubber is told; its STS signs without a network."""

    def __init__(self, real: boto3.Session) -> None:
        self.real = real
        self.eks = real.client("eks", region_name="sa-east-1")
        self.stubber = Stubber(self.eks)

    def client(self, name: str, region_name: str, config: Any) -> Any:
        return self.eks if name == "eks" else self.real.client(name, region_name=region_name, config=config)


@pytest.fixture(scope="module")
def aws() -> boto3.Session:
    """Made once: it reads AWS's models."""
    return boto3.Session("AKIAEXAMPLE", SECRET, "session-token")


@pytest.fixture
def session(aws: boto3.Session) -> Iterator[StubbedSession]:
    stubbed = StubbedSession(aws)
    with stubbed.stubber:
        yield stubbed


@pytest.fixture
def now() -> Now:
    return Now()


def made(session: Any, now: Now | None = None) -> Any:
    return eks_configuration("shared", "sa-east-1", session=session, now=now or Now())


def token(configuration: Any) -> str:
    sent: str = configuration.get_api_key_with_prefix("BearerToken", "authorization")
    return sent


def described(session: StubbedSession) -> None:
    session.stubber.add_response("describe_cluster", {"cluster": CLUSTER}, {"name": "shared"})


def test_the_endpoint_and_its_authority_are_taken_from_eks(session: StubbedSession) -> None:
    described(session)
    configuration = made(session)
    assert configuration.host == CLUSTER["endpoint"]
    assert configuration.ca_cert_data == AUTHORITY


def test_the_token_is_a_signed_request_that_names_the_cluster(session: StubbedSession) -> None:
    described(session)
    scheme, value = token(made(session)).split(" ")
    assert scheme == "Bearer"
    prefix, _, encoded = value.partition(".")
    assert prefix == "k8s-aws-v1"
    assert "=" not in encoded
    url = urlsplit(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode())
    asked = {name: values[0] for name, values in parse_qs(url.query).items()}
    assert url.hostname == "sts.sa-east-1.amazonaws.com"
    assert asked["Action"] == "GetCallerIdentity"
    assert asked["X-Amz-SignedHeaders"] == "host;x-k8s-aws-id"
    assert asked["X-Amz-Expires"] == "60"
    assert asked["X-Amz-Credential"].startswith("AKIAEXAMPLE/")
    assert asked["X-Amz-Security-Token"] == "session-token"


def test_the_token_is_renewed_well_before_its_fifteen_minutes_are_over(
    session: StubbedSession, now: Now, monkeypatch: pytest.MonkeyPatch
) -> None:
    described(session)
    signed: list[datetime] = []
    configuration = made(session, now)
    hook = configuration.refresh_api_key_hook
    signer = hook.__self__
    generate = signer._sts.generate_presigned_url

    def counting(*args: Any, **options: Any) -> Any:
        signed.append(now.time)
        return generate(*args, **options)

    monkeypatch.setattr(signer._sts, "generate_presigned_url", counting)
    for minute in range(31):
        now.time = datetime(2026, 3, 1, 12, minute, tzinfo=UTC)
        token(configuration)
    assert [time.minute for time in signed] == [10, 20, 30]


@pytest.mark.parametrize(
    ("code", "status", "error"),
    [
        ("AccessDeniedException", 403, Denied),
        ("UnrecognizedClientException", 403, Denied),
        ("ExpiredTokenException", 403, Denied),
        ("ResourceNotFoundException", 404, NotFound),
        ("ThrottlingException", 400, Unavailable),
        ("ServerException", 500, Unavailable),
        ("ServiceUnavailableException", 503, Unavailable),
        ("InvalidParameterException", 400, BadReply),
    ],
)
def test_refusals_of_aws_become_the_family(
    session: StubbedSession, code: str, status: int, error: type[GatewayError]
) -> None:
    session.stubber.add_client_error("describe_cluster", code, "no", status)
    with pytest.raises(error, match="shared"):
        made(session)


@pytest.mark.parametrize(
    "cluster",
    [{"name": "shared", "status": "CREATING"}, {**CLUSTER, "certificateAuthority": {"data": "???"}}],
)
def test_a_cluster_that_is_not_there_yet_is_a_bad_reply(session: StubbedSession, cluster: dict[str, Any]) -> None:
    session.stubber.add_response("describe_cluster", {"cluster": cluster})
    with pytest.raises(BadReply, match="is it active"):
        made(session)


@pytest.mark.parametrize(
    "raised", [EndpointConnectionError(endpoint_url="https://eks"), ConnectTimeoutError(endpoint_url="https://eks")]
)
def test_aws_that_does_not_answer_is_unavailable(session: StubbedSession, raised: Exception) -> None:
    def fail(**_: Any) -> None:
        raise raised

    session.eks.meta.events.register("before-send.eks.DescribeCluster", fail)
    session.stubber.deactivate()
    with pytest.raises(Unavailable):
        made(session)


def test_a_process_without_aws_credentials_is_told_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    with pytest.raises(ConfigurationError, match=r"shared.*credentials"):
        configuration(Connection("eks", eks_cluster="shared", region="sa-east-1"))


def test_neither_errors_nor_logs_hold_secrets(session: StubbedSession, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    described(session)
    value = token(made(session))
    session.stubber.add_client_error("describe_cluster", "AccessDeniedException", f"{value} {SECRET}", 403)
    with pytest.raises(Denied) as caught:
        made(session)
    assert value not in str(caught.value)
    assert SECRET not in str(caught.value)
    assert value not in caplog.text
