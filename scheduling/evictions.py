"""Why Kueue evicted a workload, joined over its spellings: condition, counter, event, and the message of a past one."""

import re
from typing import Final, NamedTuple

from scheduling import names

_DUE_TO: Final = "DueTo"
_OF_EVENT: Final = f"{names.EVICTED}{_DUE_TO}"
_PREVIOUSLY: Final = "Previously: "
_OLDER: Final = {"InactiveWorkload": names.DEACTIVATED}  # up to 0.11
_NO_EVICTION: Final = ("WorkloadSliceReplaced",)
_DEACTIVATED: Final = "The workload is deactivated"
_WORDINGS: Final = tuple(
    (re.compile(pattern), reason)
    for pattern, reason in (
        (r"Preempted to accommodate ", names.PREEMPTED),
        (r"Evicted to accommodate .* migration", names.FLAVOR_MIGRATION),
        (r"Exceeded the PodsReady timeout", names.PODS_READY_TIMEOUT),
        (r"The ClusterQueue is stopped", names.CLUSTER_QUEUE_STOPPED),
        (r"The LocalQueue is stopped", names.LOCAL_QUEUE_STOPPED),
        (r"Evicted due to .*[Cc]heck|At least one admission check is false", names.ADMISSION_CHECK),
        (r"Workload .*(?:node failures|unhealthy node)", names.NODE_FAILURES),
    )
)


class EvictionReason(NamedTuple):
    """As the counters spell it. `cause` is empty where there is none, None where this spelling does not tell it."""

    reason: str
    cause: str | None


def eviction_reason(spelled: str) -> EvictionReason | None:
    """What a condition's or an event's reason stands for; None for what is no eviction."""
    spelled = spelled.removeprefix(_OF_EVENT)
    if not spelled or spelled in _NO_EVICTION:
        return None
    spelled = _OLDER.get(spelled, spelled)
    reason, _, cause = spelled.partition(_DUE_TO)
    return EvictionReason(reason, cause) if reason == names.DEACTIVATED else EvictionReason(spelled, None)


def event_reason(spelled: str) -> EvictionReason | None:
    """What eviction an event of that reason tells of; None for the events of all else. An eviction by preemption is
    told twice: in this spelling, and as Preempted."""
    return eviction_reason(spelled) if spelled.startswith(_OF_EVENT) else None


def past_reason(message: str) -> EvictionReason | None:
    """What an eviction was that is told as past (“Previously: …”); None for other messages and unknown wording."""
    return worded_reason(message) if message.startswith(_PREVIOUSLY) else None


def worded_reason(message: str) -> EvictionReason | None:
    """What eviction a message tells of, past or not; None for other messages and unknown wording."""
    told = message.removeprefix(_PREVIOUSLY)
    if told.startswith(_DEACTIVATED):
        return EvictionReason(names.DEACTIVATED, None if told.startswith(f"{_DEACTIVATED} due to ") else "")
    for wording, reason in _WORDINGS:
        if wording.match(told):
            return EvictionReason(reason, None)
    return None
