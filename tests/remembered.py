"""Rows that many tests begin with: written once per process by what writes them, put back as they were afterwards."""

import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar

from django.apps import apps
from django.db import connection

Made = TypeVar("Made")
Rows = dict[Any, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class _Memory:
    """The rows of the tables that changed, by primary key, and what was returned, pickled."""

    before: dict[str, Rows]
    written: dict[str, list[tuple[Any, ...]]]
    made: bytes


@dataclass
class Remembered(Generic[Made]):
    """Called as `make` is. That is called itself only where the database does not stand as it stood at an earlier call,
    and must add or change rows alone, the same ones for the same database. What is returned is never the same object
    twice."""

    make: Callable[..., Made]
    _memories: dict[tuple[int, ...], _Memory] = field(default_factory=dict)

    def __call__(self, *given: Any) -> Made:
        counts = _counts()
        memory = self._memories.get(counts)
        if memory is None or memory.before != _rows(memory.before):
            memory = self._memories[counts] = self._learn(given)
        else:
            for table, rows in memory.written.items():
                _put(table, rows)
        return pickle.loads(memory.made)

    def _learn(self, given: tuple[Any, ...]) -> _Memory:
        before = _rows(_columns())
        made = pickle.dumps(self.make(*given))
        after = _rows(_columns())
        changed = [table for table in before if before[table] != after[table]]
        assert all(before[table].keys() <= after[table].keys() for table in changed), "rows were deleted"
        written = {
            table: [row for key, row in after[table].items() if before[table].get(key) != row] for table in changed
        }
        return _Memory({table: before[table] for table in changed}, written, made)


@cache
def _columns() -> dict[str, list[str]]:
    """Names by table, that of the primary key first."""
    tables = {}
    for model in apps.get_models(include_auto_created=True):
        key = model._meta.pk.column
        others = [each.column for each in model._meta.concrete_fields if each.column != key]
        tables[model._meta.db_table] = [key, *others]
    return tables


@cache
def _counting() -> str:
    quote = connection.ops.quote_name
    return "SELECT " + ", ".join(f"(SELECT COUNT(*) FROM {quote(table)})" for table in _columns())


def _counts() -> tuple[int, ...]:
    with connection.cursor() as cursor:
        cursor.execute(_counting())
        return tuple(cursor.fetchone())


def _names(table: str) -> str:
    return ", ".join(map(connection.ops.quote_name, _columns()[table]))


def _rows(tables: Iterable[str]) -> dict[str, Rows]:
    found = {}
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"SELECT {_names(table)} FROM {connection.ops.quote_name(table)}")
            found[table] = {row[0]: tuple(row) for row in cursor.fetchall()}
    return found


def _put(table: str, rows: list[tuple[Any, ...]]) -> None:
    quote = connection.ops.quote_name
    key, *others = _columns()[table]
    values = ", ".join(["%s"] * (1 + len(others)))
    changes = ", ".join(f"{quote(name)} = excluded.{quote(name)}" for name in others)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {quote(table)} ({_names(table)}) VALUES ({values}) "
            f"ON CONFLICT ({quote(key)}) DO UPDATE SET {changes}",
            rows,
        )
