"""What a pod asks for, as Kubernetes and Kueue count it."""

from collections.abc import Iterable, Mapping

from scheduling import names
from scheduling.objects import Json
from scheduling.quantities import saturate
from scheduling.reading import EMPTY, parse_resources

_MORE = ("initContainers", "resources", "overhead")


def pod_requests(template: Json) -> dict[str, int]:
    """What one pod of a template asks for, limits standing in for missing requests. Raises BadQuantity."""
    spec = template.get("spec") or EMPTY
    if len(spec.get("containers") or ()) == 1 and spec.keys().isdisjoint(_MORE):
        return _requests_of(spec["containers"][0])  # nearly every pod, and lists hold tens of thousands
    running = _sum(_requests_of(c) for c in spec.get("containers") or ())
    sidecars: dict[str, int] = {}
    starting: dict[str, int] = {}
    for container in spec.get("initContainers") or ():
        asked = _requests_of(container)
        if container.get("restartPolicy") == "Always":
            running, sidecars = _sum((running, asked)), _sum((sidecars, asked))
            continue
        starting = _most(starting, _sum((sidecars, asked)))  # only the sidecars before it run by then
    together = {**_most(running, starting), **_pod_level(spec)}
    return _sum((together, parse_resources(spec.get("overhead"))))


def _pod_level(spec: Json) -> dict[str, int]:
    """Requests of the pod as a whole, which replace those of its containers."""
    return {name: amount for name, amount in _requests_of(spec).items() if names.is_pod_level(name)}


def _most(amounts: Mapping[str, int], others: Mapping[str, int]) -> dict[str, int]:
    return {name: max(amounts.get(name, 0), others.get(name, 0)) for name in {**amounts, **others}}


def _requests_of(container: Json) -> dict[str, int]:
    resources = container.get("resources") or EMPTY
    return parse_resources({**(resources.get("limits") or EMPTY), **(resources.get("requests") or EMPTY)})


def _sum(amounts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for each in amounts:
        for name, amount in each.items():
            total[name] = saturate(total.get(name, 0) + amount)
    return total
