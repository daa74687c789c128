"""SCIM's filters and sort orders as conditions on rows: those that identity providers ask for, by indexed columns."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias
from unicodedata import normalize
from uuid import UUID

from django.db.models import Q
from scim2_models import InvalidFilterException, InvalidPathException, SearchRequest
from scim2_models.path import (
    AttrPath,
    CompareOperator,
    Comparison,
    FilterNode,
    FilterVisitor,
    LogicalExpr,
    LogicalOperator,
    Not,
    Present,
    ValuePath,
)

Column: TypeAlias = str | Callable[[str], Q]
"""Where an attribute stands: in a column, or what a text compared with it means."""

NOBODY: Final = Q(pk__in=())


def key_of(text: str) -> str:
    """What is compared where case does not matter."""
    return normalize("NFC", normalize("NFC", text).lower())


def uuid_of(text: str) -> UUID | None:
    """None: no id of ours."""
    try:
        return UUID(text)
    except ValueError:
        return None


def is_storable(text: str) -> bool:
    """No null character, no half of a pair: filters can escape what the JSON around them cannot hold."""
    return "\0" not in text and text.encode(errors="ignore").decode() == text


def condition_of(search: SearchRequest[Any], columns: Mapping[str, Column]) -> Q:
    """Raises InvalidFilterException for what no column answers."""
    if search.filter is None:
        return Q()
    return _Conditions(columns).visit(search.filter.ast)


def order_of(search: SearchRequest[Any], sorts: Mapping[str, str]) -> tuple[str, ...]:
    """The columns to sort by; the id comes last, so that pages do not overlap. Raises InvalidPathException."""
    if search.sort_by is None:
        return ("created_at", "pk")
    column = sorts.get(str(search.sort_by).lower().rpartition(":")[2])
    if column is None:
        raise InvalidPathException(detail=f"Sorting is possible by: {', '.join(sorts)}")
    falls = search.sort_order == SearchRequest.SortOrder.descending
    return (f"-{column}" if falls else column, "pk")


class _Conditions(FilterVisitor[Q]):
    """`columns`: by the attribute's name in lower case."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = columns

    def visit_logical_expr(self, node: LogicalExpr) -> Q:
        found = [self.visit(term) for term in node.terms]
        return Q(*found, _connector=Q.AND if node.op == LogicalOperator.and_ else Q.OR)

    def visit_comparison(self, node: Comparison) -> Q:
        return self._equal(_name(node.attr_path), node)

    def visit_value_path(self, node: ValuePath) -> Q:
        """`emails[type eq "work" and value eq "…"]`: the other terms are part of the column's name."""
        terms = node.val_filter.terms if isinstance(node.val_filter, LogicalExpr) else (node.val_filter,)
        told = {_name(term.attr_path): term for term in terms if isinstance(term, Comparison)}
        value = told.pop("value", None)
        is_plain = len(told) == len(terms) - 1 and not _is_or(node.val_filter)
        if value is None or not is_plain or any(term.op != CompareOperator.eq for term in told.values()):
            raise self._refusal()
        kind = "".join(f"[{name} {term.value}]".lower() for name, term in told.items())
        return self._equal(f"{_name(node.attr_path)}{kind}", value)

    def visit_present(self, node: Present) -> Q:
        raise self._refusal()

    def visit_not(self, node: Not) -> Q:
        raise self._refusal()

    def _equal(self, name: str, node: Comparison) -> Q:
        column = self._columns.get(name)
        if column is None or node.op != CompareOperator.eq:
            raise self._refusal()
        return _equal(column, node.value)

    def _refusal(self) -> InvalidFilterException:
        return InvalidFilterException(detail=f"Filters are possible by eq on: {', '.join(self._columns)}")


def _equal(column: Column, value: object) -> Q:
    """Nobody where the value is of another kind than the column's."""
    if column == "active":
        return Q(active=value) if isinstance(value, bool) else NOBODY
    if not isinstance(value, str) or not is_storable(value):
        return NOBODY
    if callable(column):
        return column(value)
    if column == "id":
        return Q(pk=uuid_of(value)) if uuid_of(value) else NOBODY
    return Q(**{column: value if column == "external_id" else key_of(value)})


def _name(path: AttrPath) -> str:
    return f"{path.attr}.{path.sub_attr}".lower() if path.sub_attr else path.attr.lower()


def _is_or(node: FilterNode) -> bool:
    return isinstance(node, LogicalExpr) and node.op == LogicalOperator.or_
