"""Who waits, and in which order."""

from dataclasses import replace
from datetime import timedelta

import pytest

from scheduling.parsing import parse_time
from scheduling.queue_order import cycle_key, in_order, is_queued, queue_orders, queue_time
from tests.scheduling.builders import admitted, at, condition, gpus, local_queue, names_of, pending, queue


def evicted(name, reason, since=50, **parts):
    return pending(name, status={"conditions": [condition("Evicted", "True", reason, since=since)]}, **parts)


def preempting(name, **parts):
    message = "couldn't assign flavors to pod set main: x. Pending the preemption of 2 workload(s)"
    return pending(name, status={"conditions": [condition("QuotaReserved", "False", "Pending", message)]}, **parts)


class TestQueueTime:
    def test_creation_is_the_base(self):
        assert queue_time(pending("w", created=7)) == parse_time(at(7))

    @pytest.mark.parametrize("reason", ["AdmissionCheck", "PodsReadyTimeout"])
    def test_some_evictions_send_it_to_the_back(self, reason):
        assert queue_time(evicted("w", reason, since=50)) == parse_time(at(50))

    @pytest.mark.parametrize("reason", ["Preempted", "ClusterQueueStopped", "NodeFailures"])
    def test_other_evictions_do_not(self, reason):
        assert queue_time(evicted("w", reason)) == parse_time(at(0))

    def test_an_eviction_of_the_past_does_not(self):
        past = condition("Evicted", "False", "QuotaReserved", "Previously: …", since=50)
        assert queue_time(pending("w", status={"conditions": [past]})) == parse_time(at(0))


class TestOrder:
    def test_higher_priority_then_earlier_then_uid(self):
        workloads = [
            pending("late", created=9),
            pending("b", created=1),
            pending("a", created=1),
            pending("urgent", created=20, priority=100),
        ]
        assert names_of(in_order(workloads, "StrictFIFO")) == ["urgent", "a", "b", "late"]

    def test_a_boost_counts_as_priority(self):
        boosted = replace(pending("boosted", created=9), priority_boost=5)
        assert names_of(in_order([pending("w", priority=4), boosted], "StrictFIFO")) == ["boosted", "w"]

    def test_priorities_at_int32s_ends(self):
        lowest, highest = pending("low", priority=-(2**31)), pending("high", created=9, priority=2**31 - 1)
        assert names_of(in_order([lowest, highest], "BestEffortFIFO")) == ["high", "low"]

    def test_who_waits_for_victims_stays_at_the_head_of_a_best_effort_queue(self):
        workloads = [pending("urgent", priority=9), preempting("sticky")]
        assert names_of(in_order(workloads, "BestEffortFIFO")) == ["sticky", "urgent"]
        assert names_of(in_order(workloads, "StrictFIFO")) == ["urgent", "sticky"]


class TestIsQueued:
    def test_one_that_was_never_evaluated_has_no_conditions_and_waits(self):
        assert is_queued(pending("w"))

    @pytest.mark.parametrize("reason", ["Pending", "Inadmissible", "WaitingForQuota", "SomethingNew"])
    def test_an_inadmissible_one_waits(self, reason):
        assert is_queued(pending("w", status={"conditions": [condition("QuotaReserved", "False", reason)]}))

    @pytest.mark.parametrize(
        "conditions",
        [
            [condition("QuotaReserved", "False", "OnHold")],
            [condition("QuotaReserved", "True")],
            [condition("Finished", "True", "Succeeded")],
            [condition("WaitingForReplacementPods", "True")],
        ],
    )
    def test_conditions_that_keep_it_out(self, conditions):
        assert not is_queued(pending("w", status={"conditions": conditions}))

    def test_an_inactive_one_does_not_wait(self):
        assert not is_queued(pending("w", spec={"active": False}))

    def test_one_in_back_off_does_not_wait(self):
        assert not is_queued(pending("w", status={"requeueState": {"count": 1, "requeueAt": at(60)}}))
        assert is_queued(pending("w", status={"requeueState": {"count": 1}}))

    def test_an_evicted_one_waits_once_it_gave_its_quota_back(self):
        assert is_queued(evicted("w", "Preempted"))


class TestQueueOrders:
    def orders(self, *workloads, stop=None):
        local = [local_queue("ns", "lq", "a", **({"stopPolicy": stop} if stop else {}))]
        return queue_orders([queue("a", gpus(1)), queue("b", gpus(1))], local, workloads)

    def test_every_queue_has_an_order_and_only_waiting_workloads_stand_in_it(self):
        orders = self.orders(pending("w"), admitted("running", "a", 1))
        assert {name: names_of(order) for name, order in orders.items()} == {"a": ["w"], "b": []}

    @pytest.mark.parametrize("stop", ["Hold", "HoldAndDrain"])
    def test_a_stopped_local_queue_holds_nobody(self, stop):
        assert self.orders(pending("w"), stop=stop)["a"] == []

    def test_a_stopped_cluster_queue_keeps_its_own(self):
        stopped = queue("a", gpus(1), stopPolicy="Hold")
        orders = queue_orders([stopped], [local_queue("ns", "lq", "a")], [pending("w")])
        assert names_of(orders["a"]) == ["w"]

    def test_a_workload_of_an_unknown_queue_stands_nowhere(self):
        assert self.orders(pending("w", spec={"queueName": "elsewhere"}))["a"] == []

    def test_same_named_local_queues_of_other_namespaces_are_not_mixed(self):
        local = [local_queue("ns", "lq", "a"), local_queue("other", "lq", "b")]
        orders = queue_orders([queue("a", gpus(1)), queue("b", gpus(1))], local, [pending("w")])
        assert (names_of(orders["a"]), orders["b"]) == (["w"], [])


def test_heads_of_a_cycle_go_by_borrowing_then_priority_then_time():
    early, late, urgent = pending("e", created=1), pending("l", created=2), pending("u", created=3, priority=5)
    heads = [(urgent, 1), (late, 0), (early, 0), (early, 1)]
    assert sorted(heads, key=lambda h: cycle_key(*h)) == [(early, 0), (late, 0), (urgent, 1), (early, 1)]
    assert queue_time(late) - queue_time(early) == timedelta(seconds=1)
