"""Conditions of a status, changed the way Kubernetes' own libraries change them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from emulator.clock import api_time

Json = Mapping[str, Any]


def with_condition(
    conditions: Iterable[Json],
    kind: str,
    status: bool,
    reason: str,
    message: str,
    now: datetime,
    generation: int | None = None,
) -> list[Json]:
    """The list with this condition set. The transition time moves only when the status flips."""
    known = list(conditions)
    new: dict[str, Any] = {"type": kind, "status": str(status), "reason": reason, "message": message}
    if generation is not None:
        new["observedGeneration"] = generation
    for place, old in enumerate(known):
        if old["type"] == kind:
            same = old["status"] == new["status"]
            known[place] = {**new, "lastTransitionTime": old["lastTransitionTime"] if same else api_time(now)}
            return known
    return [*known, {**new, "lastTransitionTime": api_time(now)}]


def find(conditions: Iterable[Json], kind: str) -> Json | None:
    return next((c for c in conditions if c["type"] == kind), None)
