"""Pods of a job as rows of a table, in people's words."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from gateways.records import ContainerRecord, PodRecord
from jobs.live.secret_shapes import without_secrets
from jobs.redaction import Redaction

_TONES = {"Running": "ok", "Succeeded": "ok", "Pending": "info", "Failed": "bad"}
_TROUBLE = ("bad", "warn", "unknown", "info")
_NUMBER = re.compile(r"[0-9]+")
_MOST_DIGITS = 20


@dataclass(frozen=True, slots=True)
class PodRow:
    """`tone` is one of the state pill's; `notes` say what is amiss, redacted and without secrets; so many of its
    `containers` are `ready`."""

    name: str
    uid: str
    node: str
    state: str
    tone: str
    ready: int
    containers: int
    restarts: int
    notes: tuple[str, ...]
    created_at: datetime | None


def pod_rows(pods: Iterable[PodRecord], redaction: Redaction) -> list[PodRow]:
    """Those in trouble first, then by name with its numbers in order."""
    rows = [_row(pod, redaction) for pod in pods]
    return sorted(rows, key=lambda row: (_rank(row), _natural(row.name)))


def texts_of(pods: Iterable[PodRecord]) -> Iterator[str]:
    """All that a redaction of these pods must have looked at."""
    for pod in pods:
        yield pod.message
        for container in pod.containers:
            yield container.message


def _row(pod: PodRecord, redaction: Redaction) -> PodRow:
    state, tone = _state(pod)
    main = [container for container in pod.containers if not container.is_init]
    return PodRow(
        pod.name,
        pod.uid,
        pod.node,
        state,
        tone,
        sum(container.is_ready for container in main),
        len(main),
        sum(container.restarts for container in pod.containers),
        tuple(_notes(pod, redaction)),
        pod.created_at,
    )


def _state(pod: PodRecord) -> tuple[str, str]:
    if pod.is_stopping:
        return gettext("Stopping"), "warn"
    words = {
        "Pending": gettext("Not started"),
        "Running": gettext("Running"),
        "Succeeded": gettext("Ended well"),
        "Failed": gettext("Failed"),
    }
    is_limping = pod.phase == "Running" and any(each.state == "waiting" for each in pod.containers)
    return words.get(pod.phase, pod.phase or gettext("Unknown")), "warn" if is_limping else _TONES.get(
        pod.phase, "unknown"
    )


def _notes(pod: PodRecord, redaction: Redaction) -> Iterator[str]:
    if pod.reason or pod.message:
        yield _joined(pod.reason, _shown(pod.message, redaction))
    for container in pod.containers:
        why = _why(container, redaction)
        if why:
            yield f"{container.name}: {why}"


def _why(container: ContainerRecord, redaction: Redaction) -> str:
    """Why a container waits, with what it ended, or how the run before did."""
    parts = []
    if container.state == "waiting" or container.exit_code:
        parts.append(_joined(container.reason, _shown(container.message, redaction)))
    if container.exit_code:
        parts.append(gettext("exit code %(code)d") % {"code": container.exit_code})
    if container.last_reason:
        text = gettext("the run before: %(reason)s, exit code %(code)s")
        code = "–" if container.last_exit_code is None else container.last_exit_code
        parts.append(text % {"reason": container.last_reason, "code": code})
    return "; ".join(filter(None, parts))


def _shown(message: str, redaction: Redaction) -> str:
    """Programs end with whatever words they like, their command line among them."""
    return redaction.apply(without_secrets(message), by_kueue=False)


def _joined(reason: str, message: str) -> str:
    return ": ".join(filter(None, (reason, message)))


def _rank(row: PodRow) -> int:
    return _TROUBLE.index(row.tone) if row.tone in _TROUBLE else len(_TROUBLE)


def _natural(name: str) -> str:
    return _NUMBER.sub(lambda number: number[0].zfill(_MOST_DIGITS), name)
