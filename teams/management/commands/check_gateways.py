"""`manage.py check_gateways`: line by line what is reachable, what is missing and which right would mend it."""

from collections.abc import Callable, Iterator
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from kombu import Connection
from kombu.exceptions import OperationalError as BrokerFailure

from gateways.errors import GatewayError
from gateways.http import Api, connect
from gateways.kubernetes import Kubernetes
from gateways.kueue import Kueue
from gateways.rights import missing_rights
from portal.sync_runs import SyncRefused
from teams.models import Cluster
from teams.sync import check_identity

_BROKER_SECONDS = 5


class Command(BaseCommand):
    help = "Check the database, the broker and every cluster; exit status 1 if anything is missing."

    def handle(self, *args: Any, **options: Any) -> None:
        checks: list[tuple[str, Callable[[], str]]] = [("database", _database), ("broker", _broker)]
        for cluster in _clusters():
            checks += _cluster_checks(cluster)
        failed = sum(not self._run(name, check) for name, check in checks)
        if failed:
            raise SystemExit(1)

    def _run(self, name: str, check: Callable[[], str]) -> bool:
        try:
            told, is_fine = check(), True
        except (GatewayError, SyncRefused, DatabaseError, BrokerFailure, OSError) as error:
            told, is_fine = str(error), False
        self.stdout.write(f"{'ok     ' if is_fine else 'MISSING'} {name}: {told}")
        return is_fine


def _database() -> str:
    executor = MigrationExecutor(connection)
    left = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if left:
        raise SyncRefused(f"{connection.vendor} answers, but {len(left)} migrations have not run: `manage.py migrate`")
    clusters = Cluster.objects.active().count()
    return f"{connection.vendor} answers, " + (f"{clusters} clusters" if clusters else "no cluster is set up yet")


def _broker() -> str:
    with Connection(settings.CELERY_BROKER_URL, connect_timeout=_BROKER_SECONDS) as broker:
        broker.ensure_connection(max_retries=1, timeout=_BROKER_SECONDS)
        return f"{broker.transport_cls} answers"


def _clusters() -> Iterator[Cluster]:
    try:
        yield from Cluster.objects.active()
    except DatabaseError:
        return  # told by the check of the database


def _cluster_checks(cluster: Cluster) -> list[tuple[str, Callable[[], str]]]:
    api = connect(cluster.connection)
    return [
        (f"{cluster.slug} API server", lambda: Kubernetes(api).server_version()),
        (f"{cluster.slug} identity", lambda: _identity(cluster, api)),
        (f"{cluster.slug} Kueue", lambda: _kueue(api)),
        (f"{cluster.slug} rights", lambda: _rights(api)),
    ]


def _identity(cluster: Cluster, api: Api) -> str:
    identity = Kubernetes(api).identity()
    check_identity(cluster, identity)
    return identity


def _kueue(api: Api) -> str:
    kueue = Kueue(api)
    count = sum(len(page.records) for page in kueue.list_cluster_queues())
    return f"{count} ClusterQueues, Kueue {kueue.kueue_version() or 'of unknown version'}"


def _rights(api: Api) -> str:
    missing = missing_rights(api)
    if missing:
        raise SyncRefused("grant " + "; ".join(map(str, missing)))
    return "all that docs/permissions.md names"
