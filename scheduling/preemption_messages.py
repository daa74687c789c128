"""Kueue's sentence that tells a victim of preemption why, for whom and from where: read and written.

The wording of every version since 0.7 is read, each part for itself; a part that is missing or UNKNOWN is None.
"""

import re
from dataclasses import dataclass

from scheduling import names

_UNKNOWN = "UNKNOWN"
_PREVIOUSLY = "Previously: "
_UID = re.compile(r"\(UID: ([^,)\s]+)")
_JOB_UID = re.compile(r"\bJobUID: ([^,)\s]+)")
_WORDING = re.compile(r"\bdue to ([^;]*[^;\s])")
_OLDER_WORDING = re.compile(r"\) (in the ClusterQueue)$")  # 0.7
_PREEMPTOR_PATH = re.compile(r"\bpreemptor path: ([^;\s]+)")
_PREEMPTEE_PATH = re.compile(r"\bpreemptee path: ([^;\s]+)")
_REASONS = {wording.lower(): reason for reason, wording in names.PREEMPTION_WORDING.items()}
_REASONS["in the clusterqueue"] = names.IN_CLUSTER_QUEUE


@dataclass(frozen=True, slots=True)
class PreemptionNotice:
    """What the sentence tells: uid and job uid of the preemptor, the reason (Preempted's own codes; None for wording
    nobody knows, which is kept), and both sides' paths of cohorts, from the root down, with the ClusterQueue last.
    `is_past`: the victim has quota again."""

    uid: str | None
    job_uid: str | None
    reason: str | None
    wording: str | None
    preemptor_path: tuple[str, ...] | None
    preemptee_path: tuple[str, ...] | None
    is_past: bool


def parse_preemption(message: str) -> PreemptionNotice:
    """The parts of a victim's message, as it stands in Evicted, Preempted or an event. Never fails."""
    wording = _part(_WORDING, message) or _part(_OLDER_WORDING, message)
    return PreemptionNotice(
        _part(_UID, message),
        _part(_JOB_UID, message),
        _REASONS.get(wording.lower()) if wording else None,
        wording,
        _path(_PREEMPTOR_PATH, message),
        _path(_PREEMPTEE_PATH, message),
        message.startswith(_PREVIOUSLY),
    )


def _part(pattern: re.Pattern[str], message: str) -> str | None:
    found = pattern.search(message)
    return found[1] if found and found[1] != _UNKNOWN else None


def _path(pattern: re.Pattern[str], message: str) -> tuple[str, ...] | None:
    path = _part(pattern, message)
    return tuple(path.strip("/").split("/")) if path else None


def preempted(
    uid: str, job_uid: str, reason: str, preemptor_path: tuple[str, ...], preemptee_path: tuple[str, ...]
) -> str:
    """The sentence of Kueue 0.15 and later. An empty job uid is written UNKNOWN."""
    wording = names.PREEMPTION_WORDING[reason]
    return (
        f"Preempted to accommodate a workload (UID: {uid}, JobUID: {job_uid or _UNKNOWN}) due to {wording}; "
        f"preemptor path: /{'/'.join(preemptor_path)}; preemptee path: /{'/'.join(preemptee_path)}"
    )


def previously(message: str) -> str:
    """What becomes of the message when the victim gets quota again."""
    return f"{_PREVIOUSLY}{message}"
