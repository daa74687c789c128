"""Weighted shares as Kueue shows them in a status."""

import pytest

from scheduling.cohort import figures
from scheduling.quantities import INT64_MAX
from tests.scheduling.builders import GPU, cohort, gpus, groups, queue, quota, used


def shares(queues, cohorts=(), **reserved):
    result = figures(queues, cohorts, used(**reserved), {})
    return {name: standing.weighted_share for name, standing in result.queues.items()}


def test_it_is_the_borrowed_part_of_what_the_cohort_could_lend_in_thousandths():
    assert shares([queue("a", gpus(2)), queue("b", gpus(6))], a=5) == {"a": 375, "b": 0}


def test_it_is_rounded_up():
    assert shares([queue("a", gpus(2)), queue("b", gpus(5))], a=3)["a"] == 143


@pytest.mark.parametrize(("weight", "share"), [("2", 188), ("0.5", 750), ("0", INT64_MAX)])
def test_the_weight_divides_it(weight, share):
    assert shares([queue("a", gpus(2), fairSharing={"weight": weight}), queue("b", gpus(6))], a=5)["a"] == share


def test_weight_zero_that_borrows_nothing_has_share_zero():
    assert shares([queue("a", gpus(2), fairSharing={"weight": "0"}), queue("b", gpus(6))], a=2)["a"] == 0


def test_outside_a_cohort_there_is_none():
    assert shares([queue("a", gpus(2), None)], a=5) == {"a": 0}


def test_the_dominant_resource_counts_summed_over_flavors():
    two = groups(("f1", {"cpu": quota(4), GPU: quota(4)}), ("f2", {"cpu": quota(4), GPU: quota(0)}))
    reserved = {"a": {("f1", "cpu"): 5000, ("f2", "cpu"): 5000, ("f1", GPU): 5}}
    result = figures([queue("a", two), queue("b", two)], [], reserved, {})
    assert result.queues["a"].weighted_share == 125


def test_usage_on_a_flavor_that_left_the_spec_does_not_count():
    queues = [queue("a", groups(("new", {GPU: quota(4)}))), queue("b", gpus(8))]
    assert shares(queues, a=3) == {"a": 0, "b": 0}


def test_capacity_is_what_the_own_cohort_could_reach_through_its_limits():
    cohorts = [cohort("left", gpus(0, borrow=2), "root")]
    assert shares([queue("a", gpus(2), "left"), queue("b", gpus(6), "root")], cohorts, a=3)["a"] == 250


def test_a_cohort_has_a_share_of_its_own():
    cohorts = [cohort("left", parent="root", fairSharing={"weight": "2"})]
    queues = [queue("a", gpus(2), "left"), queue("b", gpus(8), "root")]
    result = figures(queues, cohorts, used(a=4), {})
    assert (result.cohorts["left"].weighted_share, result.cohorts["root"].weighted_share) == (100, 0)


def test_nothing_to_lend_means_no_share():
    assert shares([queue("a", gpus(0)), queue("b", gpus(0))], a=3)["a"] == 0
