"""Finding workloads by what they are called: their own name, their job's, or their uid.

Over all teams only the beginning of a name finds it: that is a walk along an index, while looking into 100,000 names
costs more than the rest of a page. Inside a few namespaces any part of a name does, and only their rows are looked at,
so that neither the answer nor its time tells of others.
"""

from collections.abc import Collection
from typing import Any

from django.db.models import F, Q, Value
from django.db.models.functions import StrIndex
from django.db.models.lookups import Exact, GreaterThan, StartsWith

_NAMES = ("owner_name", "name", "uid")
_WILD = str.maketrans({"[": "[[]", "*": "[*]", "?": "[?]"})


class BeginsWith(StartsWith):
    """`startswith`, by index on both databases: SQLite's LIKE does not tell capitals apart and so cannot use one."""

    def as_sqlite(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        column, params = self.process_lhs(compiler, connection)
        return f"{column} GLOB %s", [*params, f"{self.rhs.translate(_WILD)}*"]


def called(text: str) -> Q:
    """Whose names hold the text, or whose uid begins with it. Names in Kubernetes have no capitals."""
    text = text.lower()
    of_names = (GreaterThan(StrIndex(F(name), Value(text)), 0) for name in ("owner_name", "name"))
    found = Q(Exact(StrIndex(F("uid"), Value(text)), 1))
    for each in of_names:
        found |= Q(each)
    return found


def called_from_the_start(text: str, clusters: Collection[int]) -> Q:
    """Whose names or uid begin with the text, in these clusters."""
    text = text.lower()
    found = Q(pk__in=[])
    for name in _NAMES:
        found |= Q(BeginsWith(F(name), text), cluster__in=clusters)
    return found
