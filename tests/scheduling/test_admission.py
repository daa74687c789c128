"""What the scheduler would do with the head of a queue."""

from scheduling.admission import Fit, NoFit, Preempt, decide
from scheduling.trial import Snapshot
from tests.scheduling.builders import GPU, P5, admitted, flavor, gpus, pending, queue


def snapshot(*queues, cohorts=(), flavors=None, workloads=()):
    return Snapshot(queues, tuple(cohorts), tuple(flavors or [flavor()]), tuple(workloads))


class TestFit:
    def test_within_its_own_quota_it_borrows_nothing(self):
        decision = decide(snapshot(queue("a", gpus(4))), pending("w", 4), "a")
        assert isinstance(decision, Fit)
        assert decision.borrowing == 0
        assert decision.admission.pod_sets[0].flavors == {GPU: P5}

    def test_a_job_of_four_borrows_in_its_cohort(self):
        running = [admitted("a1", "a", 2), admitted("b1", "b", 4)]
        decision = decide(snapshot(queue("a", gpus(6)), queue("b", gpus(5)), workloads=running), pending("w", 4), "b")
        assert isinstance(decision, Fit)
        assert decision.borrowing == 1


class TestReclaim:
    def test_a_queue_takes_its_own_quota_back_from_the_borrower(self):
        a = queue("a", gpus(8), preemption={"reclaimWithinCohort": "Any"})
        running = [admitted("b1", "b", 8, reserved=1), admitted("b2", "b", 8, reserved=2)]
        decision = decide(snapshot(a, queue("b", gpus(8)), workloads=running), pending("w", 8), "a")
        assert isinstance(decision, Preempt)
        assert [(v.workload.name, v.reason) for v in decision.victims] == [("b2", "InCohortReclamation")]
        assert decision.message == (
            "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor "
            "ml.p5.48xlarge, 8 more needed. Pending the preemption of 1 workload(s)"
        )

    def test_more_than_there_ever_is_stays_out_for_good(self):
        decision = decide(snapshot(queue("a", gpus(8))), pending("w", 9), "a")
        assert decision == NoFit(
            "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor ml.p5.48xlarge, "
            "previously considered podsets requests (0) + current podset request (9) > maximum capacity (8)",
            permanent=True,
        )
