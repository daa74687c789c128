from typing import Any

import pytest

from emulator.kueue.queues import selects
from scheduling.parsing import parse_cluster_queue
from tests.emulator.manifests import cluster_queue


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("selector", "labels", "expected"),
    [
        (None, {"team": "a"}, False),
        ({}, {}, True),
        ({"matchLabels": {"team": "a"}}, {"team": "a", "more": "b"}, True),
        ({"matchLabels": {"team": "a"}}, {"team": "b"}, False),
        (expression("team", "In", "a", "b"), {"team": "b"}, True),
        (expression("team", "In", "a", "b"), {}, False),
        (expression("team", "NotIn", "a"), {"team": "b"}, True),
        (expression("team", "NotIn", "a"), {"team": "a"}, False),
        (expression("team", "Exists"), {"team": ""}, True),
        (expression("team", "Exists"), {}, False),
        (expression("team", "DoesNotExist"), {}, True),
        (expression("team", "DoesNotExist"), {"team": "a"}, False),
        ({"matchLabels": {"x": "y"}, **expression("team", "Exists")}, {"team": "a"}, False),
    ],
)
def test_whom_a_queue_takes(selector: Any, labels: dict[str, str], expected: bool) -> None:
    obj = cluster_queue("queue", 4, namespaceSelector=selector)
    obj["metadata"] |= {"uid": "1", "resourceVersion": "1"}
    assert selects(parse_cluster_queue(obj), labels) is expected
