"""QueueNow and TeamNow against figures worked out by hand. `test_histories` holds them against a rebuild."""

import pytest

from jobs.models import QueueNow, TeamNow
from portal.write_path import exclusive
from teams.models import NamespaceBinding
from tests.factories import ClusterFactory
from tests.people import People
from tests.stories import G6, GPU, P5, Job, cluster_queue, cohort, groups, local_queue, minute, quota
from tests.worlds import World

pytestmark = pytest.mark.django_db


def of_vision(name: str, gpus: int, at: float) -> Job:
    return Job(name, "hyperpod-ns-vision", queue="vision-queue", gpus=gpus).admit(at)


def test_an_idle_queue_can_lend_all_it_has(shared: World) -> None:
    row = shared.queue_now()
    assert (row.cohort, row.root, row.listed, row.nominal) == ("shared", "shared", True, 12)
    assert (row.reservation, row.usage, row.borrowed, row.own) == (0, 0, 0, 0)
    assert (row.lendable, row.available, row.potential) == (12, 20, 20)
    assert (row.lent_low, row.lent_high, row.over_committed) == (0, 0, False)


def test_a_job_of_four_takes_three_of_them_from_a_neighbour(shared: World) -> None:
    """Guaranteed 6 and 2 used there, 5 and 4 used here: of a job of 4, 3 are borrowed."""
    shared.queues(cluster_queue("research-queue", 6), cluster_queue("vision-queue", 5))
    shared.see(Job("two", gpus=2).admit(1), of_vision("four", 4, 1))
    shared.see(of_vision("more", 4, 2))
    lender, borrower = shared.queue_now("research-queue"), shared.queue_now("vision-queue")
    assert (borrower.reservation, borrower.borrowed, borrower.own) == (8, 3, 5)
    assert (lender.lent_low, lender.lent_high, lender.lendable, lender.available) == (3, 3, 4, 1)


def test_reserved_is_not_yet_used(shared: World) -> None:
    job = Job(gpus=4).reserve(1)
    shared.see(job)
    assert (shared.queue_now().reservation, shared.queue_now().usage) == (4, 0)
    shared.see(job.admit(2))
    assert (shared.queue_now().reservation, shared.queue_now().usage) == (4, 4)


def test_a_release_gives_back_and_leaves_no_team_row(shared: World, people: People) -> None:
    job = Job(gpus=4).admit(1)
    shared.see(job)
    assert shared.team_now(people.research, "research-queue") == (4, 0)
    shared.see(job.finish(2))
    assert shared.queue_now().reservation == 0
    assert not TeamNow.objects.exists()


def test_two_lenders_lend_between_bounds(shared: World) -> None:
    shared.queues(cluster_queue("third-queue", 4))
    shared.see(Job("big", queue="third-queue", gpus=10).admit(1))
    lent = {row.cluster_queue: (row.lent_low, row.lent_high) for row in QueueNow.objects.all()}
    assert lent == {"research-queue": (0, 6), "vision-queue": (0, 6), "third-queue": (0, 0)}


def test_a_queue_outside_any_cohort_borrows_nothing(world: World, people: People) -> None:
    world.queues(cluster_queue("alone", 2, cohort=None), local_queue("hyperpod-ns-research", "alone"))
    world.bind(people.research, "hyperpod-ns-research")
    world.see(Job(queue="alone", gpus=5).admit(1))
    row = world.queue_now("alone")
    assert (row.reservation, row.borrowed, row.cohort, row.root) == (5, 0, "", "")
    assert row.at_most == 2
    assert world.team_now(people.research, "alone") == (5, 0)


def test_a_quota_cut_under_use_says_that_nobody_knows_who_lends(shared: World) -> None:
    shared.see(Job(gpus=12).admit(1), of_vision("all", 8, 1))
    shared.queues(cluster_queue("vision-queue", 2))
    for name in ("research-queue", "vision-queue"):
        row = shared.queue_now(name)
        assert (row.over_committed, row.lent_low, row.lent_high) == (True, None, None)
    assert shared.queue_now("vision-queue").borrowed == 6
    assert shared.queue_now("vision-queue").available == 0


def test_a_queue_that_is_gone_still_shows_what_is_held_in_it(shared: World, people: People) -> None:
    shared.see(Job(gpus=4).admit(1))
    shared.queues_gone("research-queue")
    row = shared.queue_now()
    assert (row.listed, row.nominal, row.reservation, row.borrowed, row.available) == (False, 0, 4, 0, None)
    assert (row.lent_low, row.lent_high) == (None, None)
    assert shared.team_now(people.research, "research-queue") == (4, 0)
    shared.see(Job(gpus=4).admit(1).finish(2))
    assert not QueueNow.objects.filter(cluster_queue="research-queue").exists()


def test_a_flavor_that_left_the_spec_stays_while_it_is_used(shared: World) -> None:
    both = groups((P5, {GPU: quota(12)}), (G6, {GPU: quota(4)}))
    shared.queues(cluster_queue("research-queue", flavors=both))
    job = Job(gpus=4).admit(1, flavor=G6)
    shared.see(job)
    shared.queues(cluster_queue("research-queue", 12))
    row = shared.queue_now(flavor=G6)
    assert (row.listed, row.nominal, row.reservation, row.borrowed) == (False, 0, 4, 4)
    shared.see(job.finish(2))
    assert not QueueNow.objects.filter(flavor=G6).exists()


def test_a_nominal_quota_of_0_borrows_everything(shared: World, people: People) -> None:
    shared.queues(cluster_queue("research-queue", 0))
    shared.see(Job(gpus=4).admit(1))
    assert (shared.queue_now().own, shared.queue_now().borrowed) == (0, 4)
    assert shared.team_now(people.research, "research-queue") == (0, 4)


def test_no_limit_and_the_limit_0(shared: World) -> None:
    shared.queues(cluster_queue("research-queue", 12), cluster_queue("vision-queue", 8, borrow=0))
    assert shared.queue_now("research-queue").at_most is None
    assert shared.queue_now("vision-queue").at_most == 8
    assert shared.queue_now("vision-queue").available == 8


def test_two_teams_in_one_queue_split_what_is_borrowed_by_who_came_first(shared: World, people: People) -> None:
    shared.queues(
        cluster_queue("research-queue", 6), local_queue("hyperpod-ns-vision", "research-queue", name="second")
    )
    shared.see(
        Job("late", gpus=4).admit(3),
        Job("early", "hyperpod-ns-vision", gpus=4).admit(1),
        Job("middle", gpus=4).admit(2),
    )
    assert shared.queue_now().borrowed == 6
    assert shared.team_now(people.vision, "research-queue") == (4, 0)
    assert shared.team_now(people.research, "research-queue") == (2, 6)


def test_reservations_of_the_same_second_are_ordered_by_uid(shared: World, people: People) -> None:
    shared.queues(cluster_queue("research-queue", 4))
    shared.see(Job("b", gpus=4, uid="uid-b").admit(1), Job("a", "hyperpod-ns-vision", gpus=4, uid="uid-a").admit(1))
    assert shared.team_now(people.vision, "research-queue") == (4, 0)
    assert shared.team_now(people.research, "research-queue") == (0, 4)


def test_a_namespace_of_no_team_counts_in_the_queue_alone(shared: World, people: People) -> None:
    shared.see(Job("known", gpus=2).admit(1), Job("foreign", "of-nobody", gpus=12).admit(2))
    assert shared.queue_now().borrowed == 2
    assert shared.team_now(people.research, "research-queue") == (2, 0)
    assert TeamNow.objects.count() == 1


def test_a_namespace_that_changed_hands_counts_for_its_new_team(shared: World, people: People) -> None:
    shared.see(Job(gpus=4).admit(1))
    NamespaceBinding.objects.filter(namespace="hyperpod-ns-research").update(team=people.vision)
    assert shared.cache_faults() == 2
    assert shared.team_now(people.research, "research-queue") == (0, 0)
    assert shared.team_now(people.vision, "research-queue") == (4, 0)


def test_a_queue_that_moves_between_cohorts(shared: World) -> None:
    shared.see(of_vision("big", 10, 1))
    shared.queues(cluster_queue("vision-queue", 8, cohort="elsewhere"))
    assert (shared.queue_now("research-queue").lent_high, shared.queue_now("research-queue").available) == (0, 12)
    assert shared.queue_now("vision-queue").root == "elsewhere"


def test_a_tree_of_cohorts_is_named_by_its_root(world: World) -> None:
    world.queues(cohort("company", 2), cohort("shared", parent="company"), cluster_queue("research-queue", 12))
    assert (world.queue_now().cohort, world.queue_now().root) == ("shared", "company")
    assert world.queue_now().potential == 14


def test_cohorts_in_a_cycle_leave_unknown_what_cannot_be_known(world: World) -> None:
    world.queues(
        cohort("shared", parent="other"), cohort("other", parent="shared"), cluster_queue("research-queue", 12)
    )
    row = world.queue_now()
    assert (row.nominal, row.available, row.lent_low, row.lent_high) == (12, None, None, None)


def test_amounts_beyond_64_bits_are_held_there(shared: World, people: People) -> None:
    """SQLite's SUM would fail, and PostgreSQL's column would refuse the sum."""
    jobs = [Job(f"huge-{n}", gpus="9223372036854775807").admit(n) for n in range(3)]
    shared.see(*jobs)
    assert shared.queue_now().reservation == 2**63 - 1
    assert shared.team_now(people.research, "research-queue") == (12, 2**63 - 1)


def test_negative_amounts_sum_exactly(shared: World) -> None:
    shared.see(Job("odd", gpus="-3").admit(1), Job("even", gpus=5).admit(2))
    assert shared.queue_now().reservation == 2


def test_only_the_rows_that_differ_are_written(shared: World) -> None:
    shared.see(Job(gpus=4).admit(1))
    before = dict(QueueNow.objects.values_list("cluster_queue", "pk"))
    shared.see(of_vision("one", 1, 2))
    assert dict(QueueNow.objects.values_list("cluster_queue", "pk")) == before
    assert shared.cache_faults() == 0


def test_caches_that_were_tampered_with_are_mended(shared: World) -> None:
    shared.see(Job(gpus=4).admit(1))
    QueueNow.objects.filter(cluster_queue="research-queue").update(reservation=99)
    TeamNow.objects.all().delete()
    assert shared.cache_faults() == 2
    assert shared.queue_now().reservation == 4
    assert TeamNow.objects.count() == 1


def test_another_cluster_keeps_its_own_figures(shared: World) -> None:
    other = World(ClusterFactory(slug="gpu-two", name="GPU two"), now=minute(1))
    other.queues(cluster_queue("research-queue", 3))
    other.see(Job("there", gpus=3, uid="uid-there").admit(1))
    assert shared.queue_now().reservation == 0
    assert (other.queue_now().nominal, other.queue_now().reservation) == (3, 3)
    with exclusive("gpu-two"):
        assert other.cache_faults() == 0
