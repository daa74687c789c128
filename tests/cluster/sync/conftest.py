"""A scene on the shared Kueue, and the portal that looks at it with the rights that deploy/kubernetes grants."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from pytest_django import DjangoDbBlocker

from tests.cluster.fixtures import require_binaries
from tests.cluster.plane import ControlPlane
from tests.cluster.sync.ledgers import Ledgers, ledgers_of
from tests.cluster.sync.scene import Scene
from tests.cluster.sync.still import StillPlane


@pytest.fixture
def emptied_database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Tests in several threads leave their rows to be truncated, which PostgreSQL refuses for the audit trail."""
    alter = "ALTER TABLE portal_auditevent {} TRIGGER portal_audit_is_final"
    with django_db_blocker.unblock():
        run_on_postgresql(alter.format("DISABLE"))
        yield
        run_on_postgresql(alter.format("ENABLE"))


def run_on_postgresql(statement: str) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(statement)


@pytest.fixture(autouse=True)
def sound_ledger(emptied_database: None, transactional_db: None) -> Iterator[None]:
    """Whatever happened, the ledger has no fault at the end of it."""
    yield
    told = StringIO()
    try:
        call_command("check_ledger", stdout=told)
    except SystemExit:
        pytest.fail(told.getvalue())


@pytest.fixture(autouse=True)
def impatient_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """After failures the watch tries again every second, not after growing pauses."""
    monkeypatch.setattr("gateways.watching._LONGEST_PAUSE", 1.0)


@pytest.fixture
def scene(plane: ControlPlane) -> Iterator[Scene]:
    made = Scene(plane.admin)
    made.wait_until_active()
    yield made
    made.clear()


@pytest.fixture
def ledgers(scene: Scene, plane: ControlPlane, sound_ledger: None) -> Iterator[Ledgers]:
    """Both have read the scene; the watch runs."""
    with watching(scene, plane) as made:
        yield made


@pytest.fixture(scope="session")
def lone_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StillPlane]:
    require_binaries()
    with StillPlane(tmp_path_factory.mktemp("still")) as plane:
        yield plane


@pytest.fixture
def still_plane(lone_plane: StillPlane) -> Iterator[StillPlane]:
    """A control plane without Kueue that tests may stop and empty."""
    yield lone_plane
    if lone_plane.is_away:
        lone_plane.start_api_server()


@pytest.fixture
def still_scene(still_plane: StillPlane) -> Scene:
    return Scene(still_plane.admin)


@pytest.fixture
def still_ledgers(still_scene: Scene, still_plane: StillPlane, sound_ledger: None) -> Iterator[Ledgers]:
    with watching(still_scene, still_plane) as made:
        yield made


@contextmanager
def watching(scene: Scene, plane: ControlPlane) -> Iterator[Ledgers]:
    made = ledgers_of(scene, str(plane.portal_kubeconfig))
    made.watched.start()
    try:
        made.agree()
        yield made
    finally:
        made.watched.stop()
