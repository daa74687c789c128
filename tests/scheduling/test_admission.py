"""What the scheduler would do with the head of a queue."""

import pytest

from scheduling.admission import Fit, NoFit, Preempt, decide
from scheduling.parsing import parse_workload
from scheduling.trial import Snapshot, Trial
from tests.scheduling.builders import (
    GPU,
    P5,
    admitted,
    cohort,
    flavor,
    gpus,
    groups,
    pending,
    queue,
    quota,
    workload_json,
)

SHORT = "insufficient unused quota for nvidia.com/gpu in flavor"


def trial(*queues, flavors=(P5,), workloads=(), cohorts=()):
    return Trial(
        Snapshot(queues, tuple(cohorts), tuple(flavor(f) if isinstance(f, str) else f for f in flavors), workloads)
    )


def with_pod_sets(*requests):
    """A pending workload with pod sets p0, p1, …"""
    obj = workload_json("w", {})
    obj["spec"]["podSets"] = [
        {"name": f"p{i}", "count": 1, "template": {"spec": {"containers": [{"resources": {"requests": asked}}]}}}
        for i, asked in enumerate(requests)
    ]
    return parse_workload(obj)


class TestFit:
    def test_within_its_own_quota_it_borrows_nothing(self):
        decision = decide(trial(queue("a", gpus(4))), pending("w", 4), "a")
        assert isinstance(decision, Fit)
        assert (decision.borrowing, decision.admission.cluster_queue) == (0, "a")
        (assignment,) = decision.admission.pod_sets
        assert (assignment.flavors, assignment.usage, assignment.count) == ({GPU: P5}, {GPU: 4}, 1)

    def test_a_job_of_four_borrows_three_in_its_cohort(self):
        running = (admitted("a1", "a", 2), admitted("b1", "b", 4))
        decision = decide(trial(queue("a", gpus(6)), queue("b", gpus(5)), workloads=running), pending("w", 4), "b")
        assert isinstance(decision, Fit)
        assert decision.borrowing == 1

    def test_the_first_flavor_that_fits_is_taken_even_by_borrowing(self):
        two = groups(("f1", {GPU: quota(1)}), ("f2", {GPU: quota(9)}))
        decision = decide(trial(queue("a", two), queue("b", two), flavors=("f1", "f2")), pending("w", 2), "a")
        assert (decision.admission.pod_sets[0].flavors, decision.borrowing) == ({GPU: "f1"}, 1)

    def test_all_resources_of_a_group_share_a_flavor(self):
        two = groups(("f1", {"cpu": quota(1), GPU: quota(8)}), ("f2", {"cpu": quota(8), GPU: quota(8)}))
        workload = parse_workload(workload_json("w", {"cpu": "4", GPU: "8"}))
        decision = decide(trial(queue("a", two), flavors=("f1", "f2")), workload, "a")
        assert decision.admission.pod_sets[0].flavors == {"cpu": "f2", GPU: "f2"}

    def test_groups_choose_their_flavors_apart(self):
        parts = [*groups(("slow", {"cpu": quota(8)})), *groups((P5, {GPU: quota(8)}))]
        workload = parse_workload(workload_json("w", {"cpu": "4", GPU: "8"}))
        decision = decide(trial(queue("a", parts), flavors=("slow", P5)), workload, "a")
        assert decision.admission.pod_sets[0].flavors == {"cpu": "slow", GPU: P5}

    def test_pod_sets_of_one_workload_add_up(self):
        snap = trial(queue("a", gpus(8)))
        assert isinstance(decide(snap, with_pod_sets({GPU: "4"}, {GPU: "4"}), "a"), Fit)
        assert isinstance(decide(snap, with_pod_sets({GPU: "4"}, {GPU: "5"}), "a"), NoFit)

    def test_pods_count_where_the_queue_covers_them(self):
        covered = groups((P5, {GPU: quota(8), "pods": quota(2)}))
        decision = decide(trial(queue("a", covered)), pending("w", 1, count=2), "a")
        assert decision.admission.pod_sets[0].usage == {GPU: 2, "pods": 2}
        assert isinstance(decide(trial(queue("a", covered)), pending("w", 1, count=3), "a"), NoFit)

    def test_a_request_for_nothing_of_an_uncovered_resource_does_not_matter(self):
        workload = parse_workload(workload_json("w", {GPU: "1", "example.com/fpga": "0"}))
        assert decide(trial(queue("a", gpus(1))), workload, "a").admission.pod_sets[0].flavors == {GPU: P5}

    def test_the_trial_is_left_as_it_was(self):
        lent = queue("a", gpus(8), preemption={"reclaimWithinCohort": "Any"}), queue("b", gpus(0))
        snap = trial(*lent, workloads=(admitted("b1", "b", 8),))
        before = [dict(node.usage) for node in (snap.node("a"), snap.node("b"), *snap.node("a").above())]
        decision = decide(snap, pending("w", 8), "a")
        assert isinstance(decision, Preempt)
        assert [dict(node.usage) for node in (snap.node("a"), snap.node("b"), *snap.node("a").above())] == before
        assert decide(snap, pending("w", 8), "a") == decision


class TestNoFit:
    def test_more_than_there_ever_is_stays_out_for_good(self):
        assert decide(trial(queue("a", gpus(8))), pending("w", 9), "a") == NoFit(
            "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor ml.p5.48xlarge, "
            "previously considered podsets requests (0) + current podset request (9) > maximum capacity (8)",
            permanent=True,
        )

    def test_what_is_in_use_may_come_free(self):
        snap = trial(queue("a", gpus(8)), workloads=(admitted("w1", "a", 6),))
        assert decide(snap, pending("w", 4), "a") == NoFit(
            f"couldn't assign flavors to pod set main: {SHORT} ml.p5.48xlarge, 2 more needed", permanent=False
        )

    def test_a_borrowing_limit_bounds_for_good(self):
        snap = trial(queue("a", gpus(2, borrow=1)), queue("b", gpus(8)))
        assert decide(snap, pending("w", 4), "a").permanent

    def test_a_resource_that_no_group_covers(self):
        workload = parse_workload(workload_json("w", {GPU: "1", "vpc.amazonaws.com/efa": "32"}))
        assert decide(trial(queue("a", gpus(8))), workload, "a") == NoFit(
            "couldn't assign flavors to pod set main: resource vpc.amazonaws.com/efa unavailable in ClusterQueue",
            permanent=True,
        )

    def test_every_flavor_and_every_resource_gives_its_reason(self):
        two = groups(("f1", {"cpu": quota(2), GPU: quota(4)}), ("f2", {"cpu": quota(8), GPU: quota(4)}))
        busy = (admitted("w1", "a", 3, flavor="f1"), admitted("w2", "a", 3, flavor="f2"))
        workload = parse_workload(workload_json("w", {"cpu": "3", GPU: "4"}))
        decision = decide(trial(queue("a", two), flavors=("f1", "f2"), workloads=busy), workload, "a")
        assert decision.message == (
            "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor f1, previously considered "
            "podsets requests (0) + current podset request (3) > maximum capacity (2), "
            f"{SHORT} f1, 3 more needed, {SHORT} f2, 3 more needed"
        )
        assert not decision.permanent

    @pytest.mark.parametrize("order", [("small", "busy"), ("busy", "small")])
    def test_one_flavor_that_may_come_free_is_hope_enough(self, order):
        quotas = {"small": quota(2), "busy": quota(4)}
        group = groups(*((name, {GPU: quotas[name]}) for name in order))
        snap = trial(queue("a", group), flavors=order, workloads=(admitted("w1", "a", 3, flavor="busy"),))
        assert not decide(snap, pending("w", 4), "a").permanent

    def test_a_flavor_that_does_not_match_is_passed_over(self):
        tainted = flavor("f1", nodeTaints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])
        two = groups(("f1", {GPU: quota(8)}), ("f2", {GPU: quota(8)}), ("f3", {GPU: quota(8)}))
        snap = trial(queue("a", two), flavors=(tainted, "f2"), workloads=(admitted("w1", "a", 8, flavor="f2"),))
        decision = decide(snap, pending("w", 4), "a")
        assert decision.message == (
            "couldn't assign flavors to pod set main: flavor f3 not found, "
            f"{SHORT} f2, 4 more needed, untolerated taint {{k v NoSchedule <nil>}} in flavor f1"
        )

    def test_the_pod_set_that_fails_is_named(self):
        decision = decide(trial(queue("a", gpus(8))), with_pod_sets({GPU: "6"}, {GPU: "4"}), "a")
        assert decision.message == (
            "couldn't assign flavors to pod set p1: insufficient quota for nvidia.com/gpu in flavor ml.p5.48xlarge, "
            "previously considered podsets requests (6) + current podset request (4) > maximum capacity (8)"
        )


class TestPreempt:
    RECLAIMING = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}

    def test_a_queue_takes_its_own_quota_back_from_the_borrower(self):
        running = (admitted("b1", "b", 8, reserved=1), admitted("b2", "b", 8, reserved=2))
        snap = trial(queue("a", gpus(8), preemption=self.RECLAIMING), queue("b", gpus(8)), workloads=running)
        decision = decide(snap, pending("w", 8), "a")
        assert isinstance(decision, Preempt)
        assert [(v.workload.name, v.reason) for v in decision.victims] == [("b2", "InCohortReclamation")]
        assert decision.message == (
            f"couldn't assign flavors to pod set main: {SHORT} ml.p5.48xlarge, 8 more needed. "
            "Pending the preemption of 1 workload(s)"
        )
        assert (decision.borrowing, decision.admission.pod_sets[0].flavors) == (0, {GPU: P5})

    def test_a_later_flavor_without_eviction_is_preferred(self):
        two = groups(("f1", {GPU: quota(4)}), ("f2", {GPU: quota(4)}))
        snap = trial(
            queue("a", two, preemption=self.RECLAIMING),
            flavors=("f1", "f2"),
            workloads=(admitted("low", "a", 4, flavor="f1"),),
        )
        decision = decide(snap, pending("w", 4, priority=9), "a")
        assert isinstance(decision, Fit)
        assert decision.admission.pod_sets[0].flavors == {GPU: "f2"}

    def test_reclaiming_is_preferred_to_evicting_the_own_queues_work(self):
        two = groups(("f1", {GPU: quota(4)}), ("f2", {GPU: quota(4)}))
        running = (
            admitted("own", "a", 4, flavor="f1"),
            admitted("theirs", "b", 4, flavor="f2"),
            admitted("all", "b", 4, flavor="f1", priority=99),
        )
        a, b = (
            queue("a", two, preemption=self.RECLAIMING),
            queue("b", groups(("f1", {GPU: quota(4)}), ("f2", {GPU: quota(0)}))),
        )
        decision = decide(trial(a, b, flavors=("f1", "f2"), workloads=running), pending("w", 4, priority=9), "a")
        assert [v.workload.name for v in decision.victims] == ["theirs"]

    def test_without_anybody_to_evict_it_waits(self):
        snap = trial(queue("a", gpus(4), preemption=self.RECLAIMING), workloads=(admitted("high", "a", 4, priority=9),))
        assert decide(snap, pending("w", 4), "a") == NoFit(
            f"couldn't assign flavors to pod set main: {SHORT} ml.p5.48xlarge, 4 more needed", permanent=False
        )

    def test_one_resource_that_can_never_be_had_spares_the_others_victims(self):
        both = groups((P5, {"cpu": quota(1), GPU: quota(4)}))
        snap = trial(queue("a", both, preemption=self.RECLAIMING), workloads=(admitted("low", "a", 4),))
        workload = parse_workload(workload_json("w", {"cpu": "2", GPU: "4"}, priority=9))
        assert isinstance(decide(snap, workload, "a"), NoFit)


@pytest.mark.parametrize("height", [1, 2])
def test_the_level_of_borrowing_is_the_height_of_the_subtree_that_holds_it(height):
    near, far = queue("near", gpus(4), "left"), queue("far", gpus(8), "root")
    snap = trial(queue("a", gpus(0), "left"), near, far, cohorts=(cohort("left", parent="root"),))
    assert decide(snap, pending("w", 4 * height), "a").borrowing == height
