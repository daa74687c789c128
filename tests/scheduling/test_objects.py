"""What a workload's conditions say together."""

import pytest

from scheduling.parsing import parse_time, parse_workload
from tests.scheduling.builders import GPU, admitted, admitted_json, at, condition, pending, workload_json


def admitted_with(*conditions, **spec):
    obj = admitted_json("w", "a", {GPU: "1"}, reserved=30)
    obj["spec"] |= spec
    obj["status"]["conditions"] += conditions
    return parse_workload(obj)


class TestHoldsQuota:
    def test_from_reservation_to_the_end(self):
        assert admitted("w", "a", 1).holds_quota
        assert not pending("w").holds_quota

    def test_an_eviction_alone_frees_nothing(self):
        evicted = admitted_with(condition("Evicted", "True", "Preempted"))
        assert (evicted.holds_quota, evicted.is_admitted) == (True, True)

    @pytest.mark.parametrize(
        "workload", [admitted_with(condition("Finished", "True", "Succeeded")), admitted_with(active=False)]
    )
    def test_finishing_and_deactivating_free_it_though_conditions_stay(self, workload):
        assert (workload.holds_quota, workload.is_admitted) == (False, False)
        assert workload.is_true("QuotaReserved")

    def test_reserved_is_not_admitted(self):
        obj = admitted_json("w", "a", {GPU: "1"})
        obj["status"]["conditions"].pop()
        workload = parse_workload(obj)
        assert (workload.holds_quota, workload.is_admitted) == (True, False)


class TestConditions:
    def test_since_is_the_last_flip_whatever_the_status(self):
        workload = admitted_with(condition("Evicted", "False", since=40))
        assert workload.since("Admitted") == parse_time(at(30))
        assert workload.since("Evicted") == parse_time(at(40))
        assert workload.since("Finished") is None

    @pytest.mark.parametrize(("status", "is_true"), [("True", True), ("False", False), ("Unknown", False)])
    def test_unknown_is_not_true(self, status, is_true):
        assert admitted_with(condition("PodsReady", status)).is_true("PodsReady") == is_true


class TestIdentity:
    def test_its_key_is_namespace_and_name(self):
        assert pending("w").key == "ns/w"

    def test_kueues_label_names_the_job_or_else_the_owner(self):
        obj = workload_json("w", {GPU: "1"})
        assert parse_workload(obj).job_uid == ""
        obj["metadata"]["ownerReferences"] = [{"kind": "Job", "name": "j", "uid": "owner", "controller": True}]
        assert parse_workload(obj).job_uid == "owner"
        obj["metadata"]["labels"] = {"kueue.x-k8s.io/job-uid": "labelled"}
        assert parse_workload(obj).job_uid == "labelled"
