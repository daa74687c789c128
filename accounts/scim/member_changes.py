"""What a PATCH changes in a group's members, without having them all at hand."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from scim2_models import InvalidFilterException, InvalidPathException, InvalidValueException, PatchOp, PatchOperation
from scim2_models.path import CompareOperator, Comparison, FilterNode, LogicalExpr, LogicalOperator, Path

from accounts.scim.schemas import Group

Key = TypeVar("Key", str, int)

_MEMBERS: Final = ("members", f"{Group.__schema__}:members".lower())


@dataclass(slots=True)
class MemberChange(Generic[Key]):
    """By SCIM ids, or by keys of Users. `keeps_others`: whether those that are not named stay."""

    added: set[Key] = field(default_factory=set)
    removed: set[Key] = field(default_factory=set)
    keeps_others: bool = True

    def add(self, ids: Iterable[Key]) -> None:
        told = set(ids)
        self.added |= told
        self.removed -= told

    def remove(self, ids: Iterable[Key]) -> None:
        told = set(ids)
        self.removed |= told
        self.added -= told

    def replace(self, ids: Iterable[Key]) -> None:
        self.added, self.removed, self.keeps_others = set(ids), set(), False


def split(patch: PatchOp[Group]) -> tuple[MemberChange[str], PatchOp[Group]]:
    """What concerns members, and the rest. Raises SCIM's exceptions for what it cannot mean."""
    change: MemberChange[str] = MemberChange()
    rest = []
    for operation in patch.operations or []:
        if operation.path is None:
            value, members = _without_members(operation.value)
            for ids in members:
                _put(change, operation, ids)
            if value:
                rest.append(operation.model_copy(update={"value": value}))
        elif _concerns_members(str(operation.path)):
            _apply(change, operation)
        else:
            rest.append(operation)
    return change, patch.model_copy(update={"operations": rest})


def _without_members(value: Any) -> tuple[Any, list[list[str]]]:
    if not isinstance(value, dict):
        return value, []
    told = [_ids(item) for name, item in value.items() if name.lower() in _MEMBERS]
    return {name: item for name, item in value.items() if name.lower() not in _MEMBERS}, told


def _concerns_members(path: str) -> bool:
    name = path.lower().partition("[")[0]
    return name.removesuffix(".value") in _MEMBERS or any(name.startswith(f"{each}.") for each in _MEMBERS)


def _apply(change: MemberChange[str], operation: PatchOperation[Group]) -> None:
    path = Path[Group](str(operation.path))
    is_removal = operation.op == PatchOperation.Op.remove
    if path.value_filter is not None:
        if not is_removal or str(path).lower().rpartition("]")[2]:
            raise InvalidPathException(detail="Members are added and removed as a whole")
        change.remove(_selected(path.value_filter))
    elif str(path).lower() not in _MEMBERS:
        raise InvalidPathException(detail="Members are added and removed as a whole")
    elif is_removal and "value" not in operation.model_fields_set:
        change.replace(())
    elif is_removal:
        change.remove(_ids(operation.value))
    else:
        _put(change, operation, _ids(operation.value))


def _put(change: MemberChange[str], operation: PatchOperation[Group], ids: list[str]) -> None:
    if operation.op == PatchOperation.Op.add:
        change.add(ids)
    else:
        change.replace(ids)


def _ids(value: Any) -> list[str]:
    """Of `[{"value": "…"}]`, whatever else stands there. A list of nobody is nobody, never everybody."""
    entries = value if isinstance(value, list) else [value]
    ids = [entry.get("value") if isinstance(entry, dict) else None for entry in entries]
    if not all(isinstance(each, str) and each for each in ids):
        raise InvalidValueException(detail="Members are objects with the id of a User as value")
    return [str(each) for each in ids]


def _selected(node: FilterNode) -> list[str]:
    """The ids that `members[value eq "…" or …]` names."""
    if isinstance(node, LogicalExpr) and node.op == LogicalOperator.or_:
        return [each for term in node.terms for each in _selected(term)]
    if isinstance(node, Comparison) and str(node.attr_path).lower() == "value" and node.op == CompareOperator.eq:
        return [str(node.value)]
    raise InvalidFilterException(detail='Members are selected by value eq "…"')
