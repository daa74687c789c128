"""Properties of trees: what must hold in every cohort, whoever uses what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.accounting import reserved_by_queue
from scheduling.cohort import figures
from scheduling.forest import plant
from tests.scheduling.builders import KEY, admitted, cohort, gpus, queue

amounts = st.integers(0, 20)
limits = st.none() | amounts
flat_queues = st.lists(st.tuples(amounts, limits, limits, amounts), min_size=1, max_size=5)


def flat(specs, own=None):
    """Queues q0, q1, … of one cohort, the cohort's objects, and what they use."""
    queues = [queue(f"q{i}", gpus(n, borrow, lend)) for i, (n, borrow, lend, _) in enumerate(specs)]
    used = {f"q{i}": {KEY: amount} for i, (*_, amount) in enumerate(specs)}
    return queues, [cohort("shared", gpus(own))] if own is not None else [], used


@pytest.mark.slow
@given(flat_queues, st.none() | amounts)
def test_free_pool_is_cohort_quota_and_lendable_less_borrowed(specs, own):
    queues, cohorts, used = flat(specs, own)
    result = figures(queues, cohorts, used, {})
    lines = [standing.figures[KEY] for standing in result.queues.values()]
    pool = (own or 0) + sum(x.lendable for x in lines) - sum(x.borrowed for x in lines)
    assert result.cohorts["shared"].figures[KEY].available == pool


@pytest.mark.slow
@given(flat_queues, st.none() | amounts)
def test_available_follows_the_formula_of_a_flat_cohort(specs, own):
    queues, cohorts, used = flat(specs, own)
    result = figures(queues, cohorts, used, {})
    free = result.cohorts["shared"].figures[KEY].available
    pool = result.cohorts["shared"].figures[KEY].subtree_quota
    for i, (nominal, borrow, lend, in_use) in enumerate(specs):
        line, kept = result.queues[f"q{i}"].figures[KEY], 0 if lend is None else max(0, nominal - lend)
        above = free if borrow is None else min(free, nominal - kept - max(0, in_use - kept) + borrow)
        assert line.available == max(0, max(0, kept - in_use) + above)
        assert line.potential == min(kept + pool, nominal + (kept + pool if borrow is None else borrow))


trees = st.fixed_dictionaries(
    {
        "parents": st.lists(st.none() | st.integers(0, 3), min_size=4, max_size=4),
        "cohorts": st.lists(st.tuples(amounts, limits, limits), min_size=4, max_size=4),
        "queues": st.lists(st.tuples(st.integers(0, 3), amounts, limits, limits), min_size=1, max_size=5),
        "workloads": st.lists(st.tuples(st.integers(0, 4), st.integers(1, 9)), max_size=8),
    }
)


def grown(tree):
    """Objects of an arbitrary graph of cohorts, and workloads in its queues."""
    cohorts = [
        cohort(f"c{i}", gpus(*quotas), None if parent is None else f"c{parent}")
        for i, (parent, quotas) in enumerate(zip(tree["parents"], tree["cohorts"], strict=True))
    ]
    queues = [queue(f"q{i}", gpus(*quotas), f"c{place}") for i, (place, *quotas) in enumerate(tree["queues"])]
    workloads = [admitted(f"w{i}", f"q{at % len(queues)}", n) for i, (at, n) in enumerate(tree["workloads"])]
    return queues, cohorts, workloads


@pytest.mark.slow
@given(trees)
def test_any_graph_of_cohorts_ends_with_every_queue_in_a_tree_or_in_a_cycle(tree):
    queues, cohorts, workloads = grown(tree)
    reservation, usage = reserved_by_queue(workloads)
    result = figures(queues, cohorts, reservation, usage)
    in_cycles = {name for cycle in result.cycles for name in cycle}
    parents = {c.name: c.parent for c in cohorts}
    for cycle in result.cycles:
        assert [parents[name] for name in cycle] == [*cycle[1:], cycle[0]]
    for each in queues:
        standing = result.queues[each.name]
        assert standing.in_cycle == (not standing.path)
        assert in_cycles.isdisjoint(standing.path)
        assert all(line.own + line.borrowed == line.reservation for line in standing.figures.values())


@pytest.mark.slow
@given(trees)
def test_taking_workloads_out_and_putting_them_back_changes_nothing(tree):
    queues, cohorts, workloads = grown(tree)
    reservation, _ = reserved_by_queue(workloads)
    forest, empty = plant(queues, cohorts, reservation), plant(queues, cohorts, {})
    nodes = {**forest.queues, **forest.cohorts}
    before = {name: node.available(KEY) for name, node in nodes.items()}
    for workload in workloads:
        forest.queues[workload.admission.cluster_queue].give_back(KEY, workload.admission.pod_sets[0].usage[KEY[1]])
    bare = {**empty.queues, **empty.cohorts}
    assert {n: node.available(KEY) for n, node in nodes.items()} == {n: node.available(KEY) for n, node in bare.items()}
    for workload in reversed(workloads):
        forest.queues[workload.admission.cluster_queue].take(KEY, workload.admission.pod_sets[0].usage[KEY[1]])
    assert {name: node.available(KEY) for name, node in nodes.items()} == before


def test_heights_are_steps_to_the_furthest_leaf():
    cohorts = [cohort("left", parent="root"), cohort("bare", parent="root")]
    forest = plant([queue("a", gpus(1), "left"), queue("b", gpus(1), "root")], cohorts, {})
    heights = {name: node.height for name, node in forest.cohorts.items()}
    assert heights == {"root": 2, "left": 1, "bare": 0}
    assert forest.queues["a"].height == 0
