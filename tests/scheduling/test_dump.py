"""Lists of objects, as kubectl and the API server print them."""

import json

import pytest

from scheduling.dump import UnreadableDump, parse_dump, read_dump
from tests.scheduling.builders import GPU, cohort_json, gpus, local_queue_json, meta, queue_json, workload_json

MIXED = [
    queue_json("a", gpus(1)),
    cohort_json("c"),
    local_queue_json("ns", "lq", "a"),
    {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ResourceFlavor", "metadata": meta("f")},
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": meta("high"), "value": 9},
    workload_json("w", {GPU: "1"}),
]


def test_kinds_are_sorted_out():
    dump = parse_dump(json.dumps({"kind": "List", "items": MIXED}))
    found = (dump.cluster_queues, dump.cohorts, dump.local_queues, dump.flavors, dump.priority_classes, dump.workloads)
    assert [[each.name for each in records] for records in found] == [["a"], ["c"], ["lq"], ["f"], ["high"], ["w"]]
    assert dump.malformed == []


def test_items_without_a_kind_take_the_lists():
    item = {"metadata": meta("w", "ns"), "spec": {}}
    assert [w.key for w in read_dump({"kind": "WorkloadList", "items": [item]}).workloads] == ["ns/w"]


def test_workloads_of_another_group_are_none_of_ours():
    assert read_dump({"items": [{**MIXED[-1], "apiVersion": "example.com/v1"}]}).workloads == []


def test_each_malformed_object_has_a_sentence():
    dump = read_dump({"items": [None, {"kind": "Workload"}, MIXED[0], {"kind": ["Workload"]}, {"kind": "Cohort"}]})
    assert [q.name for q in dump.cluster_queues] == ["a"]
    assert len(dump.malformed) == 3


@pytest.mark.parametrize("listed", [None, [], 5, "x", {}, {"items": None}, {"items": {}}])
def test_what_is_no_list_is_refused(listed):
    with pytest.raises(UnreadableDump, match="not a list"):
        read_dump(listed)


def test_what_is_no_json_is_refused():
    with pytest.raises(UnreadableDump, match="not JSON"):
        parse_dump("items: []")
