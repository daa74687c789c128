"""Whether a pod set may run on a flavor at all: its taints, and the node labels that the pods ask for."""

from collections.abc import Iterable, Mapping

from scheduling import messages
from scheduling.objects import Json, ResourceFlavor

_BLOCKING = ("NoSchedule", "NoExecute")


def mismatch(flavor: ResourceFlavor, template: Json) -> str | None:
    """Kueue's reason why pods of this template cannot run on the flavor; None when they can.

    Of node selector and required node affinity only the flavor's own label keys count.
    """
    pod = template.get("spec") or {}
    tolerations = [*(pod.get("tolerations") or ()), *(flavor.spec.get("tolerations") or ())]
    for taint in flavor.spec.get("nodeTaints") or ():
        if taint.get("effect") in _BLOCKING and not any(_tolerates(t, taint) for t in tolerations):
            return messages.untolerated_taint(taint["key"], taint.get("value") or "", taint["effect"], flavor.name)
    if not (_selected(pod, flavor.node_labels) and _affine(pod, flavor.node_labels)):
        return messages.node_affinity_mismatch(flavor.name)
    return None


def _tolerates(toleration: Json, taint: Json) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Equal":
        return (toleration.get("value") or "") == (taint.get("value") or "")
    return bool(operator == "Exists")


def _selected(pod: Json, labels: Mapping[str, str]) -> bool:
    selector = pod.get("nodeSelector") or {}
    return all(labels[key] == value for key, value in selector.items() if key in labels)


def _affine(pod: Json, labels: Mapping[str, str]) -> bool:
    affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    terms = [_relevant(term, labels) for term in required.get("nodeSelectorTerms") or ()]
    return not all(terms) or not terms or any(all(_holds(e, labels) for e in term) for term in terms)


def _relevant(term: Json, labels: Mapping[str, str]) -> list[Json]:
    expressions: Iterable[Json] = term.get("matchExpressions") or ()
    return [e for e in expressions if e.get("key") in labels]


def _holds(expression: Json, labels: Mapping[str, str]) -> bool:
    value, values = labels[expression["key"]], expression.get("values") or ()
    match expression.get("operator"):
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return True
        case "Gt":
            return _is_number(value) and all(_is_number(v) and int(value) > int(v) for v in values)
        case "Lt":
            return _is_number(value) and all(_is_number(v) and int(value) < int(v) for v in values)
    return False


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
