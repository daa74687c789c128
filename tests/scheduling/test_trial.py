"""Snapshots in which workloads are taken out and put back."""

import pytest

from scheduling.trial import Snapshot, Trial, height_that_fits
from tests.scheduling.builders import KEY, admitted, cohort, gpus, names_of, pending, queue

QUEUES = (queue("a", gpus(4)), queue("b", gpus(2)))


def trial(*workloads, queues=QUEUES, cohorts=()):
    return Trial(Snapshot(queues, cohorts, (), workloads))


def test_only_workloads_that_hold_quota_can_be_evicted():
    held = trial(admitted("w", "a", 3), pending("p")).holders("a")
    assert names_of([h.workload for h in held]) == ["w"]
    assert (held[0].queue, held[0].usage) == ("a", {KEY: 3})


def test_a_queue_that_is_not_active_has_nobody_to_evict():
    inactive = queue("a", gpus(4), stopPolicy="Hold")
    assert trial(admitted("w", "a", 3), queues=(inactive,)).holders("a") == []


def test_quota_comes_free_while_a_workload_is_out():
    snap = trial(admitted("w", "a", 3))
    assert snap.node("b").available(KEY) == 3
    with snap.without(snap.holders("a")):
        assert snap.node("b").available(KEY) == 6
    assert snap.node("b").available(KEY) == 3


def test_it_comes_back_when_the_look_fails():
    snap = trial(admitted("w", "a", 3))
    with pytest.raises(ZeroDivisionError), snap.without(snap.holders("a")):
        raise ZeroDivisionError
    assert snap.node("b").available(KEY) == 3


class TestHeightThatFits:
    """root (own 2) > left > a 4, b 2; root > c 6."""

    QUEUES = (queue("a", gpus(4), "left"), queue("b", gpus(2), "left"), queue("c", gpus(6), "root"))
    COHORTS = (cohort("left", parent="root"), cohort("root", gpus(2)))

    @pytest.mark.parametrize(
        ("amount", "expected"), [(4, (0, True)), (6, (1, True)), (7, (2, False)), (14, (2, False)), (15, (2, False))]
    )
    def test_the_lowest_subtree_that_holds_the_amount(self, amount, expected):
        snap = trial(queues=self.QUEUES, cohorts=self.COHORTS)
        assert height_that_fits(snap.node("a"), KEY, amount) == expected

    def test_outside_a_cohort_there_is_no_subtree(self):
        snap = trial(queues=(queue("a", gpus(4), None),))
        assert height_that_fits(snap.node("a"), KEY, 9) == (0, False)
