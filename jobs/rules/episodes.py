"""Which evictions one look at a workload tells that are not known yet. Pure.

Kueue keeps only the latest eviction's condition, and counters by reason and cause. A counter that moved by k tells of k
evictions; the condition dates the latest of them. Where Kueue has no counters (before 0.12) the portal counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, TypeAlias

from scheduling import names
from scheduling.evictions import EvictionReason, eviction_reason, past_reason
from scheduling.objects import Condition, Workload

Counter: TypeAlias = tuple[str, str]
"""(reason, cause)"""

MOST_AT_ONCE: Final = 1000
"""Of a counter that moved by more, the latest are told; their ordinals say how many there were."""


@dataclass(frozen=True, slots=True)
class Episode:
    """One eviction, decided between `after` and `before`; equal and seen itself if `observed`."""

    reason: str
    cause: str
    ordinal: int
    after: datetime
    before: datetime
    observed: bool = False
    message: str = ""


@dataclass(slots=True)
class Known:
    """What is stored of one workload: by counter the highest ordinal, the decisions that were seen, when the latest
    eviction was decided at the latest, and when its latest hold began."""

    counts: dict[Counter, int] = field(default_factory=dict)
    decisions: set[tuple[str, datetime]] = field(default_factory=set)
    latest: datetime | None = None
    held_since: datetime | None = None

    def learn(self, reason: str, cause: str, ordinal: int, latest: datetime, decision: datetime | None) -> None:
        """What is stored of one counter; `decision` is the latest one that was seen."""
        self.counts[reason, cause] = ordinal
        self.latest = max(latest, self.latest or latest)
        if decision is not None:
            self.decisions.add((reason, decision))


def tells_of_evictions(workload: Workload) -> bool:
    return bool(workload.evictions) or names.EVICTED in workload.conditions


def new_episodes(workload: Workload, known: Known, *, since: datetime, now: datetime) -> list[Episode]:
    """The one told by the condition comes last. `since`: when the workload was last known to be as stored."""
    condition = workload.conditions.get(names.EVICTED)
    after, before = _between(workload, since, now)
    moved = _moved(workload, known.counts)
    found = [Episode(*key, ordinal, after, before) for key, ordinals in moved.items() for ordinal in ordinals]
    if condition is None:
        return found
    if condition.status:
        return _with_decision(found, condition, workload, known)
    return _with_past(found, condition, workload, known, Episode("", "", 0, after, before))


def _between(workload: Workload, since: datetime, now: datetime) -> tuple[datetime, datetime]:
    """The bounds of what was not seen: before the present hold or the eviction that is told began. The cluster tells
    whole seconds, so the first one may have begun before the portal looked."""
    since = since.replace(microsecond=0)
    told = [
        found
        for kind in (names.QUOTA_RESERVED, names.EVICTED)
        if workload.is_true(kind) and (found := workload.since(kind)) is not None
    ]
    before = min([now, *told])
    after = max(since, workload.created_at) if workload.created_at else since
    return min(after, before), before


def _moved(workload: Workload, counts: Mapping[Counter, int]) -> dict[Counter, range]:
    """By counter the ordinals that are news."""
    found = {}
    for each in workload.evictions:
        key = (each.reason, each.cause)
        first = max(counts.get(key, 0), each.count - MOST_AT_ONCE) + 1
        if eviction_reason(each.reason) is not None and each.count >= first:
            found[key] = range(first, each.count + 1)
    return found


def _with_decision(found: list[Episode], condition: Condition, workload: Workload, known: Known) -> list[Episode]:
    """The eviction that the condition tells is the latest of its counter, or one that nobody counted."""
    told, decided = eviction_reason(condition.reason), condition.since
    if told is None or decided is None:
        return found
    place = _latest(found, told)
    if place is not None:
        latest = found.pop(place)
        found.append(replace(latest, after=decided, before=decided, observed=True, message=condition.message))
    elif (told.reason, decided) not in known.decisions:
        cause = told.cause if told.cause is not None else _only_cause(workload, told.reason)
        ordinal = known.counts.get((told.reason, cause), 0) + 1
        found.append(Episode(told.reason, cause, ordinal, decided, decided, True, condition.message))
    return found


def _with_past(
    found: list[Episode], condition: Condition, workload: Workload, known: Known, unseen: Episode
) -> list[Episode]:
    """An eviction that is told as past keeps its message."""
    told = past_reason(condition.message)
    if told is None:
        return found
    place = _latest(found, told)
    if place is not None:
        found.append(replace(found.pop(place), message=condition.message))
    elif not workload.evictions and _is_unexplained(workload, known):
        key = (told.reason, told.cause or "")
        ordinal = known.counts.get(key, 0) + 1
        found.append(replace(unseen, reason=key[0], cause=key[1], ordinal=ordinal, message=condition.message))
    return found


def _is_unexplained(workload: Workload, known: Known) -> bool:
    """Whether another hold than the one that is known began, and no stored eviction ended that one."""
    began = workload.since(names.QUOTA_RESERVED)
    if known.held_since is None:
        return known.latest is None
    return began != known.held_since and (known.latest is None or known.latest < known.held_since)


def _latest(found: list[Episode], told: EvictionReason) -> int | None:
    """Where the latest news of that reason stands. Of several causes that may be meant, Kueue lists new ones last."""
    places = [
        place for place, each in enumerate(found) if each.reason == told.reason and told.cause in (None, each.cause)
    ]
    return places[-1] if places else None


def _only_cause(workload: Workload, reason: str) -> str:
    causes = [each.cause for each in workload.evictions if each.reason == reason]
    return causes[0] if len(causes) == 1 else ""
