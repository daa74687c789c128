"""Whom Kueue would evict, and in which order it looks."""

import pytest

from scheduling.parsing import parse_workload
from scheduling.preemption import Claim, find_victims
from scheduling.trial import Snapshot, Trial
from tests.scheduling.builders import GPU, KEY, admitted, admitted_json, condition, gpus, pending, queue

WITHIN = {"withinClusterQueue": "LowerPriority"}
RECLAIM = {"reclaimWithinCohort": "Any"}


def victims_of(workload, amount, *queues, running, queue_name="a"):
    trial = Trial(Snapshot(queues, (), (), tuple(running)))
    before = {q.name: trial.node(q.name).available(KEY) for q in queues}
    found = find_victims(trial, Claim(workload, queue_name, {KEY: amount}, frozenset((KEY,))))
    assert {q.name: trial.node(q.name).available(KEY) for q in queues} == before
    return [(v.workload.name, v.reason) for v in found]


def names(found):
    return [name for name, _ in found]


class TestInsideTheQueue:
    def test_only_lower_priority_is_evicted(self):
        running = [admitted("low", "a", 4, priority=1), admitted("same", "a", 4, priority=5)]
        a = queue("a", gpus(8), preemption=WITHIN)
        assert victims_of(pending("w", priority=5), 4, a, running=running) == [("low", "InClusterQueue")]
        assert victims_of(pending("w", priority=5), 8, a, running=running) == []

    def test_newer_equal_priority_when_the_policy_says_so(self):
        a = queue("a", gpus(8), preemption={"withinClusterQueue": "LowerOrNewerEqualPriority"})
        running = [admitted("older", "a", 4, created=1), admitted("newer", "a", 4, created=9)]
        assert names(victims_of(pending("w", created=5), 4, a, running=running)) == ["newer"]
        assert victims_of(pending("w", created=5), 8, a, running=running) == []

    def test_never_means_never(self):
        running = [admitted("low", "a", 8)]
        assert victims_of(pending("w", priority=9), 4, queue("a", gpus(8)), running=running) == []

    def test_lowest_priority_goes_first_then_the_latest_reserved_then_the_uid(self):
        a = queue("a", gpus(5), preemption=WITHIN)
        running = [
            admitted("b", "a", 1, priority=1, reserved=5),
            admitted("a", "a", 1, priority=1, reserved=5),
            admitted("later", "a", 1, priority=1, reserved=6),
            admitted("lowest", "a", 1, priority=0, reserved=1),
            admitted("higher", "a", 1, priority=2, reserved=9),
        ]
        order = [names(victims_of(pending("w", priority=9), n, a, running=running)) for n in (1, 2, 3, 4, 5)]
        assert [set(one) - set(other) for one, other in zip(order, [[], *order], strict=False)] == [
            {"lowest"},
            {"later"},
            {"a"},
            {"b"},
            {"higher"},
        ]

    def test_whoever_need_not_go_is_spared(self):
        a = queue("a", gpus(10), preemption=WITHIN)
        running = [admitted("small", "a", 2, priority=1), admitted("large", "a", 8, priority=2)]
        assert names(victims_of(pending("w", priority=9), 8, a, running=running)) == ["large"]

    def test_whoever_is_being_evicted_already_is_counted_first(self):
        a = queue("a", gpus(8), preemption=WITHIN)
        evicted = admitted_json("going", "a", {GPU: "4"}, priority=3)
        evicted["status"]["conditions"].append(condition("Evicted", "True", "Preempted"))
        running = [admitted("low", "a", 4, priority=1), parse_workload(evicted)]
        assert names(victims_of(pending("w", priority=9), 4, a, running=running)) == ["going"]

    def test_a_workload_on_another_flavor_is_no_victim(self):
        running = [admitted("w1", "a", 8), admitted("elsewhere", "a", 8, flavor="other")]
        a = queue("a", gpus(8), preemption=WITHIN)
        assert names(victims_of(pending("w", priority=9), 8, a, running=running)) == ["w1"]


class TestReclaim:
    def test_only_queues_above_their_quota_give_back(self):
        a, b, c = queue("a", gpus(4), preemption=RECLAIM), queue("b", gpus(4)), queue("c", gpus(0))
        running = [admitted("within", "b", 4), admitted("borrower", "c", 4)]
        assert victims_of(pending("w"), 4, a, b, c, running=running) == [("borrower", "InCohortReclamation")]

    def test_a_queue_is_not_pushed_below_its_quota(self):
        a, b = queue("a", gpus(6), preemption=RECLAIM), queue("b", gpus(4))
        running = [admitted("b1", "b", 4, reserved=1), admitted("b2", "b", 4, reserved=2)]
        assert names(victims_of(pending("w"), 6, a, b, running=running)) == ["b2"]

    def test_any_takes_higher_priority_too_and_lower_priority_does_not(self):
        running = [admitted("high", "b", 4, priority=9)]
        for policy, found in (("Any", ["high"]), ("LowerPriority", [])):
            a = queue("a", gpus(4), preemption={"reclaimWithinCohort": policy})
            assert names(victims_of(pending("w"), 4, a, queue("b", gpus(0)), running=running)) == found

    def test_other_queues_workloads_go_before_ones_own(self):
        a = queue("a", gpus(4), preemption={**RECLAIM, **WITHIN})
        running = [admitted("own", "a", 2, priority=0), admitted("theirs", "b", 2, priority=5)]
        found = victims_of(pending("w", priority=9), 2, a, queue("b", gpus(0)), running=running)
        assert names(found) == ["theirs"]

    def test_nobody_is_evicted_for_a_workload_that_would_then_borrow(self):
        a, b, c = queue("a", gpus(2), preemption=RECLAIM), queue("b", gpus(0)), queue("c", gpus(4))
        running = [admitted("b1", "b", 6)]
        assert victims_of(pending("w"), 4, a, b, c, running=running) == []

    def test_borrow_within_cohort_evicts_lower_priority_up_to_its_threshold(self):
        policy = {"policy": "LowerPriority", "maxPriorityThreshold": 3}
        a = queue("a", gpus(2), preemption={"reclaimWithinCohort": "LowerPriority", "borrowWithinCohort": policy})
        b, c = queue("b", gpus(0)), queue("c", gpus(4))
        for priority, found in ((3, [("b1", "InCohortReclaimWhileBorrowing")]), (4, [])):
            running = [admitted("b1", "b", 6, priority=priority)]
            assert victims_of(pending("w", priority=9), 4, a, b, c, running=running) == found

    @pytest.mark.parametrize("stopped", [{"stopPolicy": "Hold"}, {"stopPolicy": "HoldAndDrain"}])
    def test_a_stopped_queues_workloads_are_out_of_reach(self, stopped):
        b = queue("b", gpus(0), **stopped)
        assert (
            victims_of(pending("w"), 4, queue("a", gpus(4), preemption=RECLAIM), b, running=[admitted("b1", "b", 4)])
            == []
        )

    def test_outside_a_cohort_there_is_nobody_to_reclaim_from(self):
        a, b = queue("a", gpus(4), None, preemption=RECLAIM), queue("b", gpus(0), None)
        assert victims_of(pending("w"), 5, a, b, running=[admitted("b1", "b", 4)]) == []
