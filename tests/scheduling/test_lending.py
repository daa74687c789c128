"""Bounds of what each queue lends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.accounting import reserved_by_queue
from scheduling.cohort import figures
from scheduling.lending import Balance, Pool
from tests.scheduling.builders import KEY, gpus, queue
from tests.scheduling.test_forest import amounts, flat, flat_queues, grown, trees


def test_the_only_lender_lends_all_that_is_borrowed():
    pool = Pool(borrowed=5, lendable=8)
    assert pool.lent_by(Balance(borrowed=0, lendable=8)) == (5, 5)


def test_what_others_could_have_lent_leaves_a_range():
    pool = Pool(borrowed=5, lendable=8)
    assert pool.lent_by(Balance(borrowed=0, lendable=6)) == (3, 5)


def test_a_cohorts_own_quota_may_have_been_lent_first():
    pool = Pool(borrowed=5, lendable=8, cohorts_nominal=2)
    assert pool.lent_by(Balance(borrowed=0, lendable=8)) == (3, 5)


def test_nobody_lends_to_itself():
    pool = Pool(borrowed=5, lendable=8)
    assert pool.lent_by(Balance(borrowed=5, lendable=0)) == (0, 0)


@pytest.mark.slow
@given(flat_queues, st.none() | amounts)
def test_lent_bounds_are_ordered_and_hold_all_that_is_borrowed(specs, own):
    queues, cohorts, used = flat(specs, own)
    lines = [s.figures[KEY] for s in figures(queues, cohorts, used, {}).queues.values()]
    if any(line.over_committed for line in lines):
        assert all(line.lent_low is None and line.lent_high is None for line in lines)
        return
    borrowed = sum(line.borrowed for line in lines)
    assert all(0 <= line.lent_low <= line.lent_high <= line.lendable for line in lines)
    assert sum(line.lent_low for line in lines) <= borrowed <= sum(line.lent_high for line in lines) + (own or 0)


@pytest.mark.slow
@given(amounts, st.lists(amounts, min_size=1, max_size=4))
def test_a_single_lender_lends_exactly_what_the_others_borrow(nominal, borrowers):
    lender = queue("lender", gpus(nominal))
    queues = [lender, *(queue(f"b{i}", gpus(0)) for i in range(len(borrowers)))]
    used = {f"b{i}": {KEY: amount} for i, amount in enumerate(borrowers)}
    line = figures(queues, [], used, {}).queues["lender"].figures[KEY]
    expected = None if sum(borrowers) > nominal else sum(borrowers)
    assert line.lent_low == line.lent_high == expected


@pytest.mark.slow
@given(trees)
def test_bounds_hold_in_any_tree_with_any_limits(tree):
    queues, cohorts, workloads = grown(tree)
    for standing in figures(queues, cohorts, *reserved_by_queue(workloads)).queues.values():
        for line in standing.figures.values():
            if line.over_committed or standing.in_cycle:
                assert line.lent_low is None and line.lent_high is None
            else:
                assert 0 <= line.lent_low <= line.lent_high <= line.lendable
