"""A workload's pod sets as rows of a table: how many pods, what each asks for, on which flavor they were put."""

from collections.abc import Iterator
from dataclasses import dataclass

from jobs.models import Workload
from jobs.words.amounts import amount_text
from jobs.words.reasons import flavor_text
from scheduling import names


@dataclass(frozen=True, slots=True)
class PodSetRow:
    """`asks` of one pod, accelerators first. `flavors` and `given` (pods) are empty and None without quota."""

    name: str
    count: int
    min_count: int | None
    asks: tuple[str, ...]
    flavors: tuple[str, ...]
    given: int | None
    done: int


def pod_set_rows(workload: Workload) -> Iterator[PodSetRow]:
    """In the order of the spec."""
    assigned = {each["name"]: each for each in workload.status.get("assignments", ())}
    done = workload.status.get("reclaimable", {})
    for pod_set in workload.pod_sets:
        given = assigned.get(pod_set["name"], {})
        yield PodSetRow(
            pod_set["name"],
            pod_set["count"],
            pod_set["min_count"],
            tuple(_asks(pod_set["requests"])),
            tuple(dict.fromkeys(flavor_text(flavor) for flavor in given.get("flavors", {}).values())),
            given.get("count"),
            done.get(pod_set["name"], 0),
        )


def _asks(requests: dict[str, int]) -> Iterator[str]:
    for resource in sorted(requests, key=lambda resource: (not names.is_accelerator(resource), resource)):
        if requests[resource]:
            yield amount_text(requests[resource], resource)
