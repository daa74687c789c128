"""Figures of queues and cohorts, held against the facts in numbers and the traps that others fell into."""

import pytest

from scheduling.accounting import reserved_by_queue
from scheduling.cohort import Figures, QueueFigures, figures
from scheduling.quantities import INT64_MAX
from tests.scheduling.builders import GPU, KEY, admitted, cohort, gpus, groups, queue, quota, used


def of(result: Figures, name: str, key: tuple[str, str] = KEY) -> QueueFigures:
    return result.queues[name].figures[key]


class TestFlatCohort:
    def test_a_job_of_four_borrows_three_from_the_idle_four_of_the_other_team(self):
        queues = [queue("a", gpus(6)), queue("b", gpus(5))]
        before = figures(queues, [], used(a=2, b=4), {})
        assert (of(before, "b").available, of(before, "b").borrowed) == (5, 0)
        after = figures(queues, [], used(a=2, b=8), {})
        assert (of(after, "b").own, of(after, "b").borrowed, of(after, "b").available) == (5, 3, 1)
        assert (of(after, "a").idle, of(after, "a").lendable) == (4, 4)
        assert (of(after, "a").lent_low, of(after, "a").lent_high) == (3, 3)

    def test_usage_is_the_admitted_part_of_the_reservation(self):
        figure = of(figures([queue("a", gpus(6))], [], used(a=5), used(a=3)), "a")
        assert (figure.reservation, figure.usage, figure.own) == (5, 3, 5)

    def test_no_limit_is_not_limit_zero(self):
        result = figures(
            [queue("free", gpus(2)), queue("bound", gpus(2, borrow=0)), queue("lender", gpus(8))], [], {}, {}
        )
        assert (of(result, "free").borrowing_limit, of(result, "free").available) == (None, 12)
        assert (of(result, "bound").borrowing_limit, of(result, "bound").available) == (0, 2)

    def test_quota_that_the_lending_limit_keeps_back_is_free_for_its_owner_alone(self):
        result = figures([queue("keeper", gpus(10, lend=4)), queue("other", gpus(2))], [], used(keeper=3), {})
        assert (of(result, "keeper").lendable, of(result, "keeper").idle) == (4, 7)
        assert of(result, "keeper").available == 9
        assert (of(result, "other").available, of(result, "other").potential) == (6, 6)

    def test_several_possible_lenders_give_a_range(self):
        result = figures([queue("a", gpus(2)), queue("b", gpus(3)), queue("c", gpus(0))], [], used(c=4), {})
        assert (of(result, "a").lent_low, of(result, "a").lent_high) == (1, 2)
        assert (of(result, "b").lent_low, of(result, "b").lent_high) == (2, 3)

    def test_flavors_are_never_summed(self):
        two = groups(("h100", {GPU: quota(2)}), ("h200", {GPU: quota(4)}))
        result = figures([queue("a", two), queue("b", two)], [], {"a": {("h100", GPU): 3}}, {})
        assert of(result, "a", ("h100", GPU)).borrowed == 1
        assert of(result, "a", ("h200", GPU)).borrowed == 0
        assert of(result, "b", ("h200", GPU)).available == 8


class TestTraps:
    def test_excess_without_a_cohort_is_over_commitment_and_not_borrowing(self):
        figure = of(figures([queue("a", gpus(4), None)], [], used(a=6), {}), "a")
        assert (figure.borrowed, figure.own, figure.over_committed) == (0, 6, True)
        assert (figure.available, figure.potential, figure.lent_low, figure.lent_high) == (0, 4, 0, 0)

    def test_a_cohorts_own_quota_comes_on_top_of_its_members(self):
        queues = [queue("a", gpus(2)), queue("b", gpus(2))]
        result = figures(queues, [cohort("shared", gpus(4))], used(a=7), {})
        assert (of(result, "a").borrowed, of(result, "b").available, of(result, "a").potential) == (5, 1, 8)
        assert (of(result, "b").lent_low, of(result, "b").lent_high) == (1, 2)
        line = result.cohorts["shared"].figures[KEY]
        assert (line.nominal, line.subtree_quota, line.usage, line.available) == (4, 8, 7, 1)

    def test_a_queue_that_lent_everything_shows_it_though_it_uses_nothing(self):
        result = figures([queue("owner", gpus(8)), queue("borrower", gpus(0))], [], used(borrower=8), {})
        assert (of(result, "owner").reservation, of(result, "owner").available) == (0, 0)
        assert (of(result, "owner").lent_low, of(result, "owner").lent_high) == (8, 8)

    def test_usage_on_a_flavor_that_left_the_spec_stays_visible_and_counts(self):
        queues = [queue("a", groups(("new", {GPU: quota(4)}))), queue("b", gpus(4))]
        result = figures(queues, [], used(a=3), used(a=2))
        gone = of(result, "a")
        assert (gone.listed, gone.nominal, gone.reservation, gone.usage, gone.borrowed) == (False, 0, 3, 2, 3)
        assert (gone.available, gone.potential) == (0, 0)
        assert (of(result, "b").available, of(result, "b").lent_low) == (1, 3)

    def test_what_nobody_lists_any_more_is_over_committed(self):
        figure = of(figures([queue("a", [])], [], used(a=3), {}), "a")
        assert (figure.over_committed, figure.lent_low, figure.lent_high, figure.distance) == (True, None, None, None)

    def test_a_stopped_queue_still_lends(self):
        queues = [queue("stopped", gpus(6), stopPolicy="HoldAndDrain"), queue("b", gpus(0))]
        result = figures(queues, [], used(b=4), {})
        assert (of(result, "b").available, of(result, "stopped").lent_low) == (2, 4)

    def test_nominal_zero_may_borrow_when_the_flavor_is_listed(self):
        result = figures([queue("zero", gpus(0)), queue("unlisted", []), queue("lender", gpus(4))], [], {}, {})
        assert of(result, "zero").available == 4
        assert result.queues["unlisted"].figures == {}

    def test_a_quota_cut_under_use_leaves_a_debt_and_no_figure_of_lending(self):
        result = figures([queue("a", gpus(2)), queue("b", gpus(2))], [], used(a=6), {})
        assert (of(result, "b").available, of(result, "b").over_committed) == (0, True)
        assert (of(result, "b").lent_low, of(result, "b").lent_high) == (None, None)
        assert result.cohorts["shared"].figures[KEY].available == -2

    def test_quotas_that_overflow_never_wrap_around(self):
        result = figures([queue("a", gpus("9E")), queue("b", gpus("9E"))], [], used(a=5), {})
        assert (of(result, "b").available, of(result, "b").potential) == (INT64_MAX, INT64_MAX)
        assert of(result, "a").borrowed == 0

    def test_an_evicted_workload_that_still_runs_keeps_its_quota(self):
        reservation, usage = reserved_by_queue([admitted("w", "a", 4)])
        assert of(figures([queue("a", gpus(4))], [], reservation, usage), "a").available == 0

    def test_a_reservation_for_a_queue_that_is_gone_does_no_harm(self):
        assert set(figures([queue("a", gpus(4))], [], used(gone=9), {}).queues) == {"a"}


class TestHierarchy:
    """root (own 2) > left (limits) > a 4, b 2; root > right > c 6."""

    QUEUES = (queue("a", gpus(4), "left"), queue("b", gpus(2), "left"), queue("c", gpus(6), "right"))

    def cohorts(self, **limits: int):
        return [cohort("left", gpus(0, **limits), "root"), cohort("right", parent="root"), cohort("root", gpus(2))]

    def test_paths_lead_from_the_root_down(self):
        result = figures(self.QUEUES, self.cohorts(), {}, {})
        assert (result.queues["a"].path, result.queues["a"].root) == (("root", "left"), "root")
        assert (result.cohorts["left"].path, result.cohorts["root"].path) == (("root",), ())

    def test_distance_is_the_lowest_cohort_that_holds_what_is_borrowed(self):
        result = figures(self.QUEUES, self.cohorts(), used(a=4), {})
        assert of(result, "a").distance == 0
        assert of(figures(self.QUEUES, self.cohorts(), used(a=6), {}), "a").distance == 1
        assert of(figures(self.QUEUES, self.cohorts(), used(a=7), {}), "a").distance == 2
        assert of(figures(self.QUEUES, self.cohorts(), used(a=15), {}), "a").distance is None

    def test_a_cohorts_lending_limit_keeps_quota_inside(self):
        result = figures(self.QUEUES, self.cohorts(lend=1), {}, {})
        assert (of(result, "a").available, of(result, "c").available) == (14, 9)
        assert result.cohorts["root"].figures[KEY].subtree_quota == 9

    def test_a_cohorts_borrowing_limit_bounds_all_below_it(self):
        result = figures(self.QUEUES, self.cohorts(borrow=3), used(b=5), {})
        assert (of(result, "a").available, of(result, "a").potential) == (4, 9)

    def test_a_cohorts_usage_leaves_out_what_runs_inside_quota_it_never_lends(self):
        result = figures(self.QUEUES, self.cohorts(lend=1), used(a=4, b=3), {})
        line = result.cohorts["left"].figures[KEY]
        assert (line.usage, line.subtree_quota, line.borrowed) == (7, 6, 1)
        assert result.cohorts["root"].figures[KEY].usage == 2

    def test_the_bounds_of_lending_reach_over_the_whole_tree(self):
        result = figures(self.QUEUES, self.cohorts(), used(a=11), {})
        assert (of(result, "c").lent_low, of(result, "c").lent_high) == (3, 6)
        assert (of(result, "b").lent_low, of(result, "b").lent_high) == (0, 2)

    def test_one_tree_counts_alone_as_it_does_among_others(self):
        others = [queue("x", gpus(3), "elsewhere"), queue("y", gpus(3), None)]
        alone = figures(self.QUEUES, self.cohorts(), used(a=7), {})
        among = figures([*others, *self.QUEUES], [*self.cohorts(), cohort("elsewhere")], used(a=7, x=1), {})
        assert {name: among.queues[name] for name in alone.queues} == alone.queues


class TestImplicitCohorts:
    def test_a_cohort_that_only_queues_name_exists(self):
        result = figures([queue("a", gpus(2), "unwritten"), queue("b", gpus(2), "unwritten")], [], {}, {})
        assert of(result, "a").available == 4
        assert result.cohorts["unwritten"].figures[KEY].nominal == 0

    def test_a_parent_without_an_object_joins_its_children(self):
        cohorts = [cohort("left", parent="absent"), cohort("right", parent="absent")]
        result = figures([queue("a", gpus(2), "left"), queue("b", gpus(3), "right")], cohorts, {}, {})
        assert (of(result, "a").available, result.queues["b"].root) == (5, "absent")


class TestCycles:
    QUEUES = (queue("in", gpus(4), "x"), queue("below", gpus(4), "under"), queue("out", gpus(4), "fine"))

    def result(self) -> Figures:
        ring = [cohort("x", gpus(3), "y"), cohort("y", parent="z"), cohort("z", parent="x")]
        return figures(self.QUEUES, [*ring, cohort("under", parent="y")], used(**{"in": 5}, below=1), used(below=1))

    def test_a_cycle_is_reported_once_with_its_members(self):
        assert self.result().cycles == (("x", "y", "z"),) or self.result().cycles == (("y", "z", "x"),)

    @pytest.mark.parametrize("name", ["in", "below"])
    def test_whoever_leads_into_it_keeps_only_its_own_figures(self, name):
        standing = self.result().queues[name]
        line = standing.figures[KEY]
        assert (standing.in_cycle, standing.path, standing.weighted_share) == (True, (), None)
        assert (line.nominal, line.lendable, line.available, line.potential) == (4, None, None, None)
        assert (line.lent_low, line.lent_high, line.distance, line.over_committed) == (None, None, None, False)

    def test_its_own_usage_is_still_told(self):
        assert (of(self.result(), "in").reservation, of(self.result(), "in").borrowed) == (5, 1)
        assert of(self.result(), "below").usage == 1

    def test_cohorts_in_it_keep_their_own_quota(self):
        standing = self.result().cohorts["x"]
        assert (standing.in_cycle, standing.figures[KEY].nominal, standing.figures[KEY].usage) == (True, 3, None)

    def test_other_trees_are_not_touched(self):
        assert of(self.result(), "out").available == 4
        assert not self.result().queues["out"].in_cycle

    def test_a_cohort_that_is_its_own_parent_is_a_cycle(self):
        assert figures([queue("a", gpus(1), "me")], [cohort("me", parent="me")], {}, {}).cycles == (("me",),)

    @pytest.mark.slow
    def test_a_chain_longer_than_pythons_stack_is_walked(self):
        chain = [cohort(f"c{i}", parent=f"c{i + 1}") for i in range(1100)]
        result = figures([queue("a", gpus(2), "c0"), queue("b", gpus(3), "c1100")], chain, {}, {})
        assert (of(result, "a").available, len(result.queues["a"].path)) == (5, 1101)


def test_results_do_not_depend_on_the_order_of_the_lists():
    queues = [queue("a", gpus(4), "x"), queue("b", gpus(2), "y"), queue("c", gpus(1), "root")]
    cohorts = [cohort("x", parent="root"), cohort("y", gpus(1, borrow=1), "root")]
    forward = figures(queues, cohorts, used(a=6, c=2), {})
    assert figures(queues[::-1], cohorts[::-1], used(c=2, a=6), {}) == forward
