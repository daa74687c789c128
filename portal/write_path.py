"""The one way synced rows are written: under the cluster's lock, in bulk, by their natural key."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeAlias, TypeVar

import orjson
from django.db import connection, models, transaction

Row: TypeAlias = Sequence[Any]
Value = TypeVar("Value")

BATCH = 500
"""Most objects one transaction writes, so that other writers wait for milliseconds only."""

_COPY_FROM = 50  # fewer rows are inserted faster one by one than through a temporary table


def batches(values: Iterable[Value]) -> Iterator[list[Value]]:
    """In order, at most BATCH at a time."""
    left = iter(values)
    while some := list(islice(left, BATCH)):
        yield some


@contextmanager
def exclusive(cluster: str) -> Iterator[None]:
    """A transaction in which nobody else writes synced rows of `cluster`.

    PostgreSQL holds an advisory lock to the transaction's end; on SQLite every transaction begins IMMEDIATE, which
    excludes all other writers.
    """
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(hashtext('ledger'), hashtext(%s))", [cluster])
        yield


def upsert(
    model: type[models.Model],
    columns: Sequence[str],
    rows: Sequence[Row],
    *,
    key: Sequence[str],
    keep: Sequence[str] = (),
) -> None:
    """Insert rows or, where the unique `key` stands already, update the other columns but those of `keep`.

    `columns` are attribute names (`cluster_id`), always the same for one model. Values are what the model would take;
    JSON columns take plain data.
    """
    if not rows:
        return
    convert = [_converter(model._meta.get_field(name)) for name in columns]
    ready = [[to(value) if to else value for to, value in zip(convert, row, strict=True)] for row in rows]
    if connection.vendor == "postgresql" and len(rows) >= _COPY_FROM:
        _copy(model, columns, ready, key, keep)
    else:
        placeholders = ", ".join(["%s"] * len(columns))
        with connection.cursor() as cursor:
            cursor.executemany(_insert(model, columns, f"VALUES ({placeholders})", key, keep), ready)


def _converter(field: object) -> Callable[[Any], Any] | None:
    if isinstance(field, models.JSONField):
        return lambda value: None if value is None else orjson.dumps(value).decode()
    if isinstance(field, models.DateTimeField) and connection.vendor == "sqlite":
        return connection.ops.adapt_datetimefield_value
    return None


def _names(columns: Sequence[str]) -> str:
    return ", ".join(connection.ops.quote_name(name) for name in columns)


def _insert(
    model: type[models.Model], columns: Sequence[str], source: str, key: Sequence[str], keep: Sequence[str]
) -> str:
    quote = connection.ops.quote_name
    changes = ", ".join(f"{quote(name)} = excluded.{quote(name)}" for name in columns if name not in {*key, *keep})
    action = f"UPDATE SET {changes}" if changes else "NOTHING"
    into = f"INSERT INTO {quote(model._meta.db_table)} ({_names(columns)}) {source}"
    return f"{into} ON CONFLICT ({_names(key)}) DO {action}"


def _copy(
    model: type[models.Model], columns: Sequence[str], rows: Sequence[Row], key: Sequence[str], keep: Sequence[str]
) -> None:
    table, names = model._meta.db_table, _names(columns)
    stage = f"stage_{table}"
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TEMPORARY TABLE IF NOT EXISTS {stage} ON COMMIT DROP AS SELECT {names} FROM {table} WITH NO DATA"
        )
        cursor.execute(f"TRUNCATE {stage}")
        with connection.wrap_database_errors, cursor.copy(f"COPY {stage} ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        cursor.execute(_insert(model, columns, f"SELECT {names} FROM {stage}", key, keep))
