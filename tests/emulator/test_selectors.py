from typing import Any

import pytest

from emulator.errors import ApiError
from emulator.resources import EVENTS, NODES, WORKLOADS, Catalogue
from emulator.selectors import selected


def labelled(**labels: str) -> dict[str, Any]:
    return {"metadata": {"name": "any", "labels": labels}}


@pytest.mark.parametrize(
    ("selector", "labels", "expected"),
    [
        ("", {}, True),
        ("team=a", {"team": "a"}, True),
        ("team==a", {"team": "b"}, False),
        ("team=a", {}, False),
        ("team!=a", {"team": "b"}, True),
        ("team!=a", {}, True),
        ("team in (a, b)", {"team": "b"}, True),
        ("team in (a,b)", {}, False),
        ("team notin (a,b)", {"team": "c"}, True),
        ("team notin (a,b)", {}, True),
        ("team notin (a,b)", {"team": "a"}, False),
        ("team", {"team": ""}, True),
        ("team", {}, False),
        ("!team", {}, True),
        ("! team", {"team": "a"}, False),
        ("team=a,kind=job", {"team": "a", "kind": "job"}, True),
        ("team=a,kind=job", {"team": "a", "kind": "pod"}, False),
        ("team in (a,b),!old , kind!=pod", {"team": "a", "kind": "job"}, True),
        ("team=", {"team": ""}, True),
    ],
)
def test_labels(selector: str, labels: dict[str, str], expected: bool) -> None:
    assert selected(NODES, selector, "")(labelled(**labels)) is expected


def test_keys_may_have_a_prefix() -> None:
    node = {"metadata": {"labels": {"node.kubernetes.io/instance-type": "ml.p5.48xlarge"}}}
    assert selected(NODES, "node.kubernetes.io/instance-type=ml.p5.48xlarge", "")(node)


def test_an_object_without_labels_is_like_one_with_none() -> None:
    assert selected(NODES, "!team", "")({"metadata": {"name": "any"}})


@pytest.mark.parametrize("selector", ["a in (", "a===b", "=a", "a in b", "a,,b", "a b", "a=b c"])
def test_labels_that_cannot_be_read(selector: str) -> None:
    with pytest.raises(ApiError) as refused:
        selected(NODES, selector, "")
    assert refused.value.code == 400
    assert "unable to parse requirement" in refused.value.message


WORKLOAD = {
    "metadata": {"name": "w", "namespace": "team"},
    "status": {"admission": {"clusterQueue": "queue"}},
}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("metadata.name=w", True),
        ("metadata.name==other", False),
        ("metadata.name!=other,metadata.namespace=team", True),
        ("status.admission.clusterQueue=queue", True),
        ("status.admission.clusterQueue!=queue", False),
        ("status.admission.clusterQueue=", False),
    ],
)
def test_fields(selector: str, expected: bool) -> None:
    assert selected(WORKLOADS, "", selector)(WORKLOAD) is expected


def test_an_absent_field_is_empty() -> None:
    assert selected(WORKLOADS, "", "status.admission.clusterQueue=")({"metadata": {"name": "w"}})


def test_events_are_found_by_what_they_are_about() -> None:
    event = {"metadata": {"name": "e"}, "reason": "Preempted", "involvedObject": {"name": "w", "uid": "1"}}
    assert selected(EVENTS, "", "involvedObject.uid=1,reason=Preempted")(event)
    assert not selected(EVENTS, "", "involvedObject.uid=2")(event)


def test_events_of_the_newer_api_are_found_under_its_names() -> None:
    event = {"metadata": {"name": "e"}, "reason": "Preempted", "involvedObject": {"kind": "Workload", "uid": "1"}}
    resource = Catalogue().find("events.k8s.io", "v1", "events")
    assert resource is not None
    assert selected(resource, "", "regarding.kind=Workload,reason!=Pending,reason!=Admitted")(event)
    assert not selected(resource, "", "regarding.kind=Pod")(event)
    assert not selected(resource, "", "regarding.kind=Workload,reason!=Preempted")(event)


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("spec.queueName=a", "field label not supported: spec.queueName"),
        ("metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"),
    ],
)
def test_fields_that_are_refused(selector: str, message: str) -> None:
    with pytest.raises(ApiError) as refused:
        selected(WORKLOADS, "", selector)
    assert (refused.value.code, refused.value.message) == (400, message)


def test_labels_and_fields_must_both_match() -> None:
    matches = selected(NODES, "team=a", "metadata.name=any")
    assert matches(labelled(team="a"))
    assert not matches(labelled(team="b"))
