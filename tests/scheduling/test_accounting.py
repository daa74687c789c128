"""Usage from workloads as Kueue counts it, requests, and own and borrowed per workload."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.accounting import Hold, Split, requested, reserved_by_queue, split_own_and_borrowed, workload_usage
from scheduling.parsing import parse_workload
from scheduling.quantities import INT64_MAX
from tests.scheduling.builders import GPU, KEY, P5, admitted, admitted_json, condition, pending, workload_json

MIDNIGHT = datetime(2026, 10, 8, tzinfo=UTC)


def hold(uid, minute, amount):
    return Hold(uid, MIDNIGHT + timedelta(minutes=minute), amount)


class TestWorkloadUsage:
    def test_every_resource_with_a_flavor_counts(self):
        obj = admitted_json("w", "a", {"cpu": "1500m", GPU: "8"})
        assert workload_usage(parse_workload(obj)) == {(P5, "cpu"): 1500, KEY: 8}

    def test_a_resource_without_a_flavor_does_not_count(self):
        obj = admitted_json("w", "a", {"cpu": "1", GPU: "8"})
        del obj["status"]["admission"]["podSetAssignments"][0]["flavors"]["cpu"]
        assert workload_usage(parse_workload(obj)) == {KEY: 8}

    def test_what_was_assigned_counts_and_not_what_the_pods_ask_for(self):
        obj = admitted_json("w", "a", {"pods": "1", GPU: "8"})
        obj["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"] = {GPU: "4", "cpu": "1"}
        assert workload_usage(parse_workload(obj)) == {(P5, "pods"): 1, KEY: 8}

    def test_pod_sets_on_one_flavor_add_up(self):
        obj = admitted_json("w", "a", {GPU: "8"})
        obj["spec"]["podSets"].append({"name": "more", "count": 1, "template": {}})
        assignment = {"name": "more", "flavors": {GPU: P5}, "resourceUsage": {GPU: "2"}, "count": 1}
        obj["status"]["admission"]["podSetAssignments"].append(assignment)
        assert workload_usage(parse_workload(obj)) == {KEY: 10}

    def test_reclaimable_pods_gave_their_quota_back(self):
        obj = admitted_json("w", "a", {GPU: "16"}, count=4)
        obj["status"]["reclaimablePods"] = [{"name": "main", "count": 3}]
        assert workload_usage(parse_workload(obj)) == {KEY: 4}

    def test_division_comes_before_multiplication_and_loses_the_remainder(self):
        obj = admitted_json("w", "a", {GPU: "10"}, count=3)
        obj["status"]["reclaimablePods"] = [{"name": "main", "count": 1}]
        assert workload_usage(parse_workload(obj)) == {KEY: 6}

    def test_more_reclaimable_pods_than_pods_leave_nothing(self):
        obj = admitted_json("w", "a", {GPU: "8"}, count=2)
        obj["status"]["reclaimablePods"] = [{"name": "main", "count": 5}]
        assert workload_usage(parse_workload(obj)) == {KEY: 0}

    def test_partial_admission_keeps_the_admitted_count(self):
        obj = admitted_json("w", "a", {GPU: "4"}, count=2)
        obj["spec"]["podSets"][0]["count"] = 8
        obj["status"]["reclaimablePods"] = [{"name": "main", "count": 5}]
        assert workload_usage(parse_workload(obj)) == {KEY: 4}

    def test_without_a_count_in_the_admission_the_spec_decides(self):
        obj = admitted_json("w", "a", {GPU: "8"}, count=4)
        del obj["status"]["admission"]["podSetAssignments"][0]["count"]
        obj["status"]["reclaimablePods"] = [{"name": "main", "count": 1}]
        assert workload_usage(parse_workload(obj)) == {KEY: 6}

    def test_an_assignment_for_a_pod_set_that_is_gone_uses_nothing(self):
        obj = admitted_json("w", "a", {GPU: "8"})
        obj["spec"]["podSets"][0]["name"] = "other"
        assert workload_usage(parse_workload(obj)) == {KEY: 0}

    def test_amounts_beyond_int64_saturate(self):
        obj = admitted_json("w", "a", {GPU: "9E"})
        twin = dict(obj["status"]["admission"]["podSetAssignments"][0])
        obj["status"]["admission"]["podSetAssignments"].append(twin)
        assert workload_usage(parse_workload(obj)) == {KEY: INT64_MAX}

    def test_a_pending_workload_uses_nothing(self):
        assert workload_usage(pending("w")) == {}


class TestReservedByQueue:
    def test_reserved_and_admitted_are_told_apart(self):
        waiting = admitted_json("r", "a", {GPU: "2"})
        waiting["status"]["conditions"] = waiting["status"]["conditions"][:1]
        reservation, usage = reserved_by_queue([admitted("w", "a", 8), parse_workload(waiting), admitted("v", "b", 1)])
        assert reservation == {"a": {KEY: 10}, "b": {KEY: 1}}
        assert usage == {"a": {KEY: 8}, "b": {KEY: 1}}

    @pytest.mark.parametrize(
        "no_longer", [{"spec": {"active": False}}, {"status": {"conditions": [condition("Finished", "True")]}}]
    )
    def test_finished_and_deactivated_workloads_hold_nothing_though_quota_reserved_stays_true(self, no_longer):
        obj = admitted_json("w", "a", {GPU: "8"})
        obj["spec"] |= no_longer.get("spec", {})
        obj["status"]["conditions"] += no_longer.get("status", {}).get("conditions", [])
        assert reserved_by_queue([parse_workload(obj)]) == ({}, {})

    def test_an_evicted_workload_holds_its_quota_until_it_has_stopped(self):
        obj = admitted_json("w", "a", {GPU: "8"})
        obj["status"]["conditions"].append(condition("Evicted", "True", "Preempted"))
        assert reserved_by_queue([parse_workload(obj)]) == ({"a": {KEY: 8}}, {"a": {KEY: 8}})

    def test_without_the_reservation_an_admission_counts_nothing(self):
        obj = admitted_json("w", "a", {GPU: "8"})
        obj["status"]["conditions"][0]["status"] = "False"
        assert reserved_by_queue([parse_workload(obj)]) == ({}, {})


class TestRequested:
    def test_requests_are_for_all_pods_of_a_pod_set(self):
        assert requested(parse_workload(workload_json("w", {"cpu": "1500m", GPU: "8"}, count=3))) == {
            "main": {"cpu": 4500, GPU: 24}
        }

    def test_kueues_own_figures_come_first(self):
        status = {"resourceRequests": [{"name": "main", "resources": {GPU: "5"}}]}
        assert requested(pending("w", 8, status=status)) == {"main": {GPU: 5}}

    def test_reclaimable_pods_ask_for_nothing(self):
        status = {"reclaimablePods": [{"name": "main", "count": 1}]}
        assert requested(pending("w", 8, count=3, status=status)) == {"main": {GPU: 16}}

    def test_a_negative_request_asks_for_nothing(self):
        assert requested(pending("w", -8)) == {"main": {GPU: 0}}

    def test_requests_beyond_int64_saturate(self):
        assert requested(pending("w", 2**62, count=4)) == {"main": {GPU: INT64_MAX}}


class TestSplitOwnAndBorrowed:
    def test_a_job_of_four_is_one_own_and_three_borrowed(self):
        splits = split_own_and_borrowed([hold("new", 9, 4), hold("old", 1, 4)], nominal=5, in_cohort=True)
        assert splits == {"old": Split(4, 0), "new": Split(1, 3)}

    def test_the_uid_decides_within_one_second(self):
        splits = split_own_and_borrowed([hold("b", 1, 4), hold("a", 1, 4)], nominal=4, in_cohort=True)
        assert splits == {"a": Split(4, 0), "b": Split(0, 4)}

    def test_outside_a_cohort_nothing_is_borrowed(self):
        assert split_own_and_borrowed([hold("a", 1, 9)], nominal=4, in_cohort=False) == {"a": Split(9, 0)}

    def test_without_quota_all_is_borrowed(self):
        assert split_own_and_borrowed([hold("a", 1, 9)], nominal=0, in_cohort=True) == {"a": Split(0, 9)}

    @pytest.mark.slow
    @given(
        amounts=st.lists(st.integers(0, 50), max_size=12),
        minutes=st.lists(st.integers(0, 5), min_size=12, max_size=12),
        nominal=st.integers(0, 200),
        in_cohort=st.booleans(),
    )
    def test_parts_add_up_for_each_and_in_all(self, amounts, minutes, nominal, in_cohort):
        holds = [hold(f"u{i}", minutes[i], amount) for i, amount in enumerate(amounts)]
        splits = split_own_and_borrowed(reversed(holds), nominal, in_cohort)
        assert splits == split_own_and_borrowed(holds, nominal, in_cohort)
        assert all(splits[h.uid].own + splits[h.uid].borrowed == h.amount for h in holds)
        assert all(s.own >= 0 and s.borrowed >= 0 for s in splits.values())
        borrowed = max(0, sum(amounts) - nominal) if in_cohort else 0
        assert sum(s.borrowed for s in splits.values()) == borrowed
