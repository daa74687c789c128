from datetime import UTC, datetime

import pytest
from django.db import DatabaseError, connection, transaction

from jobs.models import Workload
from portal.models import Lease, SourceState
from portal.write_path import exclusive, upsert
from tests.stories import START, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db
COLUMNS = ("source", "cluster", "holder", "expires_at")
KEY = ("cluster", "source")


def row(source: str, holder: str = "a", expires_at: datetime = START) -> tuple[object, ...]:
    return (source, "gpu-one", holder, expires_at)


def rows() -> dict[str, tuple[str, datetime]]:
    return {lease.source: (lease.holder, lease.expires_at) for lease in Lease.objects.all()}


def test_new_rows_are_inserted_and_known_ones_changed() -> None:
    upsert(Lease, COLUMNS, [row("x"), row("y")], key=KEY)
    before = dict(Lease.objects.values_list("source", "pk"))
    upsert(Lease, COLUMNS, [row("y", "b", minute(1)), row("z")], key=KEY)
    assert rows() == {"x": ("a", START), "y": ("b", minute(1)), "z": ("a", START)}
    assert Lease.objects.get(source="y").pk == before["y"]


def test_columns_to_keep_stay_as_they_were() -> None:
    upsert(Lease, COLUMNS, [row("x")], key=KEY)
    upsert(Lease, COLUMNS, [row("x", "b", minute(1))], key=KEY, keep=("holder",))
    assert rows() == {"x": ("a", minute(1))}


def test_a_row_of_nothing_but_its_key_changes_nothing() -> None:
    upsert(Lease, COLUMNS, [row("x")], key=KEY)
    upsert(Lease, COLUMNS, [row("x", "b")], key=KEY, keep=("holder", "expires_at"))
    assert rows() == {"x": ("a", START)}


def test_no_rows_ask_the_database_nothing(django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        upsert(Lease, COLUMNS, [], key=KEY)


@pytest.mark.parametrize("count", [1, 49, 50, 120])
def test_few_rows_and_many_rows_are_written_alike(count: int) -> None:
    """PostgreSQL takes many rows another way than few."""
    for holder in ("a", "b"):
        upsert(Lease, COLUMNS, [row(f"source-{n}", holder) for n in range(count)], key=KEY)
    assert rows() == {f"source-{n}": ("b", START) for n in range(count)}


def test_two_writes_of_many_rows_in_one_transaction() -> None:
    with exclusive("gpu-one"):
        upsert(Lease, COLUMNS, [row(f"source-{n}") for n in range(60)], key=KEY)
        upsert(Lease, COLUMNS, [row(f"other-{n}") for n in range(60)], key=KEY)
    assert Lease.objects.count() == 120


def test_times_and_json_come_back_as_they_were(world: World) -> None:
    columns = (
        "cluster_id", "uid", "namespace", "name", "resource_version", "created_at", "queue_name", "queued_at",
        "is_queued", "is_preempting", "priority", "priority_class", "owner_kind", "owner_name", "owner_uid", "job_uid",
        "state", "gpus", "labels", "pod_sets", "conditions", "status", "first_seen_at",
    )  # fmt: skip
    time = datetime(2026, 10, 8, 12, 0, 0, 123456, tzinfo=UTC)
    odd = {"text": 'quote " and \\ and é and 😀', "big": 2**63 - 1, "none": None, "list": [1, -1]}
    rows = [
        (world.cluster.pk, f"uid-{n}", "ns", "name", 1, time, "", time, True, False, 0, "", "", "", "", "", "queued",
         8, odd, [], {}, odd, time)
        for n in range(60)
    ]  # fmt: skip
    upsert(Workload, columns, rows, key=("cluster_id", "uid"))
    for workload in Workload.objects.all():
        assert (workload.created_at, workload.labels, workload.status, workload.pod_sets) == (time, odd, odd, [])
        assert workload.finished_at is None


def test_a_failure_inside_leaves_nothing_behind() -> None:
    with pytest.raises(ZeroDivisionError), exclusive("gpu-one"):
        upsert(Lease, COLUMNS, [row("x")], key=KEY)
        raise ZeroDivisionError
    assert rows() == {}


def test_what_the_columns_refuse_is_an_error_of_the_database() -> None:
    with pytest.raises((DatabaseError, OverflowError)), transaction.atomic():
        upsert(
            SourceState,
            ("source", "cluster", "resource_version", "version", "last_error", "malformed"),
            [("x", "gpu-one", 2**70, 0, "", 0)],
            key=KEY,
        )


def test_nobody_else_writes_meanwhile() -> None:
    if connection.vendor == "sqlite":
        assert connection.settings_dict["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
        return
    with exclusive("gpu-one"), connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
            " WHERE datname = current_database() AND locktype = 'advisory' AND granted"
        )
        assert cursor.fetchone()[0] == 1
