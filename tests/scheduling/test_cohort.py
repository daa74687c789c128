"""Figures of queues and cohorts, held against the facts in numbers and against each other."""



from scheduling.cohort import Figures, QueueFigures, figures
from tests.scheduling.builders import KEY, cohort, gpus, queue, used


def of(result: Figures, name: str) -> QueueFigures:
    return result.queues[name].figures[KEY]


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
        queues = [queue("free", gpus(2)), queue("bound", gpus(2, borrow=0)), queue("lender", gpus(8))]
        result = figures(queues, [], {}, {})
        assert (of(result, "free").borrowing_limit, of(result, "free").available) == (None, 12)
        assert (of(result, "bound").borrowing_limit, of(result, "bound").available) == (0, 2)

    def test_quota_that_the_lending_limit_keeps_back_is_free_for_its_owner_alone(self):
        result = figures([queue("keeper", gpus(10, lend=4)), queue("other", gpus(2))], [], used(keeper=3), {})
        assert (of(result, "keeper").lendable, of(result, "keeper").idle) == (4, 7)
        assert of(result, "keeper").available == 9
        assert (of(result, "other").available, of(result, "other").potential) == (6, 6)

    def test_a_cohorts_own_quota_comes_on_top_of_its_members(self):
        queues = [queue("a", gpus(2)), queue("b", gpus(2))]
        result = figures(queues, [cohort("shared", gpus(4))], used(a=7), {})
        assert (of(result, "a").borrowed, of(result, "b").available, of(result, "a").potential) == (5, 1, 8)
        assert (of(result, "b").lent_low, of(result, "b").lent_high) == (1, 2)
        assert result.cohorts["shared"].figures[KEY].subtree_quota == 8

    def test_several_possible_lenders_give_a_range(self):
        result = figures([queue("a", gpus(2)), queue("b", gpus(3)), queue("c", gpus(0))], [], used(c=4), {})
        assert (of(result, "a").lent_low, of(result, "a").lent_high) == (1, 2)
        assert (of(result, "b").lent_low, of(result, "b").lent_high) == (2, 3)
