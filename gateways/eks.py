"""EKS: where a cluster's API server is, and tokens for it from AWS credentials."""

import base64
import binascii
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3  # type: ignore[import-untyped]
from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]
from kubernetes.client import Configuration

from gateways.aws import CALLS, refusal_of
from gateways.errors import BadReply

TOKEN_PREFIX = "k8s-aws-v1."  # noqa: S105 - the public prefix of every such token
RENEW_AFTER = timedelta(minutes=10)  # EKS accepts a token for 15 minutes after it was signed
_SIGNED_FOR_SECONDS = 60  # as the AWS command line does; EKS itself allows the 15 minutes
_CLUSTER_HEADER = "x-k8s-aws-id"
_RIGHT = "eks:DescribeCluster"


def eks_configuration(
    cluster: str,
    region: str,
    *,
    session: boto3.Session | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Configuration:
    """A configuration for the cluster that signs a new token every 10 minutes. Raises GatewayError.

    Needs the right `eks:DescribeCluster`; the token itself needs none, but an access entry of the cluster.
    """
    session = session or boto3.Session()
    try:
        described = session.client("eks", region_name=region or None, config=CALLS).describe_cluster(name=cluster)
        made = Configuration(host=described["cluster"]["endpoint"])
        authority = base64.b64decode(described["cluster"]["certificateAuthority"]["data"], validate=True)
        made.ca_cert_data = authority.decode("ascii")
    except (BotoCoreError, ClientError) as error:
        raise refusal_of(_named(cluster), _RIGHT, error) from error
    except (KeyError, binascii.Error, UnicodeDecodeError) as error:
        raise BadReply(f"EKS names no endpoint or no certificate for the cluster {cluster}; is it active?") from error
    _Signer(session, cluster, region, now).install(made)
    return made


class _Signer:
    """Keeps one configuration's token fresh."""

    def __init__(self, session: boto3.Session, cluster: str, region: str, now: Callable[[], datetime]) -> None:
        self._cluster, self._now = cluster, now
        self._renew_at = datetime.min.replace(tzinfo=UTC)
        self._sts = session.client("sts", region_name=region or None, config=CALLS)
        self._sts.meta.events.register("before-sign.sts.GetCallerIdentity", self._name_cluster)

    def install(self, made: Configuration) -> None:
        made.api_key_prefix["BearerToken"] = "Bearer"  # noqa: S105
        made.refresh_api_key_hook = self._renew  # type: ignore[assignment]
        self._renew(made)

    def _renew(self, made: Configuration) -> None:
        if self._now() < self._renew_at:
            return
        signed_at = self._now()
        try:
            url = self._sts.generate_presigned_url("get_caller_identity", ExpiresIn=_SIGNED_FOR_SECONDS)
        except (BotoCoreError, ClientError) as error:
            raise refusal_of(_named(self._cluster), _RIGHT, error) from error
        encoded = base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
        made.api_key["BearerToken"] = TOKEN_PREFIX + encoded
        self._renew_at = signed_at + RENEW_AFTER

    def _name_cluster(self, request: Any, **_: object) -> None:
        request.headers[_CLUSTER_HEADER] = self._cluster


def _named(cluster: str) -> str:
    return f"the EKS cluster {cluster}"
