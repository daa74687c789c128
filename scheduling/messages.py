"""Kueue's sentences about why a workload waits: read part by part, and written as Kueue writes them.

Reading never fails. What a newer or older Kueue says in other words is kept as raw text of kind OTHER.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from scheduling.quantities import INT64_MAX, BadQuantity, format_quantity, parse_quantity


class Obstacle(StrEnum):
    """What stands in the way of one pod set, or of the workload as a whole."""

    INSUFFICIENT_UNUSED_QUOTA = "insufficient_unused_quota"
    EXCEEDS_MAXIMUM = "exceeds_maximum"
    NOT_COVERED = "not_covered"
    UNTOLERATED_TAINT = "untolerated_taint"
    NODE_AFFINITY = "node_affinity"
    FLAVOR_NOT_FOUND = "flavor_not_found"
    TOPOLOGY = "topology"
    QUEUE_STOPPED = "queue_stopped"
    QUEUE_MISSING = "queue_missing"
    NAMESPACE_MISMATCH = "namespace_mismatch"
    ADMISSION_CHECKS = "admission_checks"
    ADMISSION_GATED = "admission_gated"
    INVALID_RESOURCES = "invalid_resources"
    WAITING_FOR_PODS_READY = "waiting_for_pods_ready"
    OUTRUN = "outrun"
    OVERLAPPING_PREEMPTION = "overlapping_preemption"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Mention:
    """One reason in a message. `missing` is the amount short, in the resource's smallest unit: exact, None if the text
    tells none. Names that the text does not give are empty."""

    obstacle: Obstacle
    pod_set: str
    resource: str
    flavor: str
    missing: int | None
    raw: str


@dataclass(frozen=True, slots=True)
class PendingMessage:
    """`preempting` is the number of workloads whose quota it waits for, 0 for none."""

    mentions: tuple[Mention, ...]
    preempting: int


_PREEMPTING = re.compile(r"\.? ?Pending the preemption of (\d+) workload\(s\)")
_POD_SET = re.compile(r"(?:; )?(?:couldn't assign flavors to|failed to assign flavors to) pod set (?P<name>\S+): ")
_TAKEN = r"previously considered podsets requests \((?P<before>\S+)\) \+ current podset request \((?P<now>\S+)\)"
_PATTERNS = tuple(
    (obstacle, re.compile(pattern))
    for obstacle, pattern in (
        (
            Obstacle.INSUFFICIENT_UNUSED_QUOTA,
            r"insufficient unused quota(?: in cohort)? for (?P<resource>\S+?)(?: in)? flavor (?P<flavor>[^\s,]+)"
            r"(?: in ClusterQueue)?, (?P<missing>\S+) more needed",
        ),
        (
            Obstacle.EXCEEDS_MAXIMUM,
            r"insufficient quota for (?P<resource>\S+) in flavor (?P<flavor>[^\s,]+), "
            rf"{_TAKEN} > maximum capacity \((?P<most>[^\s)]+)\)",
        ),
        (
            Obstacle.EXCEEDS_MAXIMUM,
            r"insufficient quota for (?P<resource>\S+) in flavor (?P<flavor>[^\s,]+), "
            r"request > maximum capacity \((?P<now>\S+) > (?P<most>[^\s)]+)\)",
        ),
        (
            Obstacle.EXCEEDS_MAXIMUM,
            r"insufficient quota for (?P<resource>\S+) in flavor (?P<flavor>[^\s,]+) in ClusterQueue",
        ),
        (Obstacle.EXCEEDS_MAXIMUM, r"borrowing limit for (?P<resource>\S+) in flavor (?P<flavor>[^\s,]+) exceeded"),
        (Obstacle.NOT_COVERED, r"resource (?P<resource>\S+) unavailable in ClusterQueue"),
        (Obstacle.UNTOLERATED_TAINT, r"untolerated taint \{[^}]*\} in flavor (?P<flavor>[^\s,]+)"),
        (Obstacle.NODE_AFFINITY, r"flavor (?P<flavor>[^\s,]+) doesn't match node affinity"),
        (Obstacle.FLAVOR_NOT_FOUND, r"flavor (?P<flavor>[^\s,]+) not found"),
        (Obstacle.TOPOLOGY, r'topology "[^"]*" (?:doesn\'t|allows).*'),
        (Obstacle.TOPOLOGY, r'Flavor "(?P<flavor>[^"]+)" (?:does not|information|supports only)[^,;]*'),
        (Obstacle.QUEUE_STOPPED, r"(?:Local|Cluster)Queue \S+ is (?:stopped|inactive)"),
        (Obstacle.QUEUE_MISSING, r"(?:Local|Cluster)Queue \S+ (?:doesn't exist|not found|is terminating or missing)"),
        (Obstacle.NAMESPACE_MISMATCH, r"workload namespace doesn't match ClusterQueue selector"),
        (Obstacle.ADMISSION_CHECKS, r"The workload has failed admission checks"),
        (Obstacle.ADMISSION_GATED, r"Admission is gated by: .*"),
        (Obstacle.INVALID_RESOURCES, r"resources (?:validation failed|didn't satisfy LimitRange constraints): .*"),
        (Obstacle.WAITING_FOR_PODS_READY, r"waiting for all admitted workloads to be in PodsReady condition"),
        (Obstacle.OUTRUN, r"Workload no longer fits after processing another workload"),
        (Obstacle.OVERLAPPING_PREEMPTION, r"Workload has overlapping preemption targets with another workload.*"),
    )
)


def parse_pending(message: str) -> PendingMessage:
    """The reasons in the message of QuotaReserved=False, in the order of the text."""
    pending = _PREEMPTING.search(message)
    text = _PREEMPTING.sub("", message)
    mentions = tuple(m for pod_set, part in _by_pod_set(text) for m in _mentions(pod_set, part))
    return PendingMessage(mentions, int(pending[1]) if pending else 0)


def is_pending_preemption(message: str) -> bool:
    """Whether the workload waits for victims to stop; Kueue keeps it at the head of its queue meanwhile."""
    return "Pending the preemption of " in message


def _by_pod_set(text: str) -> Iterator[tuple[str, str]]:
    pod_set, begin = "", 0
    for heading in _POD_SET.finditer(text):
        yield pod_set, text[begin : heading.start()]
        pod_set, begin = heading["name"], heading.end()
    yield pod_set, text[begin:]


def _mentions(pod_set: str, part: str) -> Iterator[Mention]:
    end = 0
    for obstacle, match in _matches(part):
        if match.start() < end:
            continue
        yield from _unknown(pod_set, part[end : match.start()])
        yield _mention(obstacle, pod_set, match)
        end = match.end()
    yield from _unknown(pod_set, part[end:])


def _matches(part: str) -> list[tuple[Obstacle, re.Match[str]]]:
    found = [(obstacle, match) for obstacle, pattern in _PATTERNS for match in pattern.finditer(part)]
    return sorted(found, key=lambda f: (f[1].start(), -f[1].end()))


def _unknown(pod_set: str, text: str) -> Iterator[Mention]:
    raw = text.strip(" ,;")
    if raw:
        yield Mention(Obstacle.OTHER, pod_set, "", "", None, raw)


def _mention(obstacle: Obstacle, pod_set: str, match: re.Match[str]) -> Mention:
    found = match.groupdict()
    resource = found.get("resource") or ""
    return Mention(obstacle, pod_set, resource, found.get("flavor") or "", _missing(found, resource), match[0])


def _missing(found: dict[str, str | None], resource: str) -> int | None:
    try:
        if found.get("missing"):
            return parse_quantity(found["missing"] or "", resource)
        if found.get("most"):
            asked = sum(parse_quantity(found.get(part) or 0, resource) for part in ("before", "now"))
            return asked - parse_quantity(found["most"] or "", resource)
    except BadQuantity:  # such as "<unlimited>"
        return None
    return None


def insufficient_unused(resource: str, flavor: str, missing: int) -> str:
    return f"insufficient unused quota for {resource} in flavor {flavor}, {_amount(missing, resource)} more needed"


def exceeds_maximum(resource: str, flavor: str, before: int, now: int, most: int) -> str:
    """`before` is what earlier pod sets of the workload take of the flavor, `now` what this one asks for."""
    return (
        f"insufficient quota for {resource} in flavor {flavor}, previously considered podsets requests "
        f"({_amount(before, resource)}) + current podset request ({format_quantity(now, resource)}) > "
        f"maximum capacity ({_amount(most, resource)})"
    )


def not_covered(resource: str) -> str:
    return f"resource {resource} unavailable in ClusterQueue"


def untolerated_taint(key: str, value: str, effect: str, flavor: str) -> str:
    return f"untolerated taint {{{key} {value} {effect} <nil>}} in flavor {flavor}"


def node_affinity_mismatch(flavor: str) -> str:
    return f"flavor {flavor} doesn't match node affinity"


def flavor_not_found(flavor: str) -> str:
    return f"flavor {flavor} not found"


def pod_set_message(pod_set: str, reasons: Iterable[str]) -> str:
    """All reasons of one pod set; Kueue sorts them. Those of several pod sets are joined by "; "."""
    return f"couldn't assign flavors to pod set {pod_set}: {', '.join(sorted(reasons))}"


def pending_preemption(message: str, victims: int) -> str:
    return f"{message}. Pending the preemption of {victims} workload(s)"


def _amount(amount: int, resource: str) -> str:
    return "<unlimited>" if amount == INT64_MAX else format_quantity(amount, resource)
