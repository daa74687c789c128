import pytest

from jobs.queues.team_now import ClusterNow, Running, clusters_of, jobs_of, queue_order
from teams.queues import current_queues
from tests.factories import ClusterFactory
from tests.people import People
from tests.stories import G6, GPU, P5, START, Job, cluster_queue, groups, local_queue, minute, quota
from tests.worlds import World

pytestmark = pytest.mark.django_db
MANY = 100


def here_of(people: People) -> ClusterNow:
    (here,) = clusters_of(people.research)
    return here


def waiting(people: People) -> list[tuple[str, int | None, int]]:
    jobs = jobs_of(here_of(people), MANY)
    assert jobs.waiting_total == len(jobs.waiting)
    return [(each.workload.title, each.position, each.of) for each in jobs.waiting]


def running(people: People) -> list[Running]:
    jobs = jobs_of(here_of(people), MANY)
    assert jobs.running_total == len(jobs.running)
    return jobs.running


def test_a_team_without_namespaces_is_nowhere(people: People) -> None:
    assert clusters_of(people.research) == []


def test_where_a_team_is_and_with_which_quota(shared: World, people: People) -> None:
    here = here_of(people)
    assert (here.cluster, here.namespaces) == (shared.cluster, ("hyperpod-ns-research",))
    assert here.cluster_queues == ("research-queue",)
    assert [(line.now.cluster_queue, line.is_shared, line.team_uses) for line in here.lines] == [
        ("research-queue", False, 0)
    ]


def test_an_archived_cluster_is_left_out(shared: World, people: People) -> None:
    shared.cluster.archived_at = START
    shared.cluster.save()
    assert clusters_of(people.research) == []


def test_a_team_in_two_clusters_has_a_part_for_each(shared: World, people: People) -> None:
    other = World(ClusterFactory(slug="gpu-two", name="GPU two"))
    other.queues(cluster_queue("there", 2), local_queue("ns-there", "there"))
    other.bind(people.research, "ns-there")
    assert [(here.cluster.slug, here.cluster_queues) for here in clusters_of(people.research)] == [
        ("gpu-one", ("research-queue",)),
        ("gpu-two", ("there",)),
    ]


def test_gpus_come_apart_from_other_resources(shared: World, people: People) -> None:
    flavors = groups((P5, {GPU: quota(12), "cpu": quota(96), "memory": quota("1Ti")}))
    shared.queues(cluster_queue("research-queue", flavors=flavors))
    here = here_of(people)
    assert [line.now.resource for line in here.gpu_lines] == [GPU]
    assert [line.now.resource for line in here.other_lines] == ["cpu", "memory"]


def test_gpu_types_come_by_quota_and_other_resources_type_by_type(shared: World, people: People) -> None:
    small = {GPU: quota(2), "cpu": quota(500), "memory": quota("1Gi")}
    large = {GPU: quota(12), "cpu": quota(96), "memory": quota("1Ti")}
    shared.queues(cluster_queue("research-queue", flavors=groups((G6, small), (P5, large))))
    here = here_of(people)
    assert [line.now.flavor for line in here.gpu_lines] == [P5, G6]
    assert [(line.now.flavor, line.now.resource) for line in here.other_lines] == [
        (G6, "cpu"), (G6, "memory"), (P5, "cpu"), (P5, "memory"),
    ]  # fmt: skip


def test_a_queue_of_several_teams_says_how_much_of_it_is_ours(shared: World, people: People) -> None:
    shared.queues(local_queue("hyperpod-ns-vision", "research-queue"))
    shared.see(Job("ours", gpus=3).admit(1), Job("theirs", "hyperpod-ns-vision", gpus=4).admit(1))
    (line,) = here_of(people).lines
    assert (line.is_shared, line.team_uses, line.now.reservation) == (True, 3, 7)


def test_what_is_held_in_a_queue_that_no_local_queue_names_any_more_is_shown(shared: World, people: People) -> None:
    shared.see(Job(gpus=4).admit(1))
    shared.now = minute(2)
    shared.queues(cluster_queue("new-queue", 4), local_queue("hyperpod-ns-research", "new-queue"))
    here = here_of(people)
    assert here.cluster_queues == ("new-queue", "research-queue")
    assert {line.now.cluster_queue: line.team_uses for line in here.lines} == {"new-queue": 0, "research-queue": 4}
    (held,) = running(people)
    assert (held.own, held.borrowed) == (4, 0)


def test_positions_count_everybody_in_the_queue_by_priority_then_age(shared: World, people: People) -> None:
    shared.queues(local_queue("hyperpod-ns-vision", "research-queue"))
    shared.see(
        Job("second", created=2).waits(),
        Job("first", created=1).waits(),
        Job("urgent", created=9, priority=10).waits(),
        Job("theirs", "hyperpod-ns-vision", created=0).waits(),
        Job("runs").admit(0),
    )
    assert waiting(people) == [("urgent", 1, 4), ("first", 3, 4), ("second", 4, 4)]


def test_a_job_whose_victims_are_being_stopped_stays_first(shared: World, people: People) -> None:
    shared.see(
        Job("patient", created=1).waits("no room. Pending the preemption of 2 workload(s)"),
        Job("urgent", created=2, priority=10).waits("no room"),
    )
    assert [name for name, *_ in waiting(people)] == ["patient", "urgent"]
    shared.queues(cluster_queue("research-queue", 12, queueingStrategy="StrictFIFO"))
    assert [name for name, *_ in waiting(people)] == ["urgent", "patient"]


def test_only_one_preempting_job_is_first_whatever_others_wait_for(shared: World, people: People) -> None:
    pending = "no room. Pending the preemption of 1 workload(s)"
    shared.see(
        Job("low", created=1).waits(pending),
        Job("middle", created=2, priority=5).waits("no room"),
        Job("high", created=3, priority=10).waits(pending),
    )
    assert [name for name, *_ in waiting(people)] == ["high", "middle", "low"]


def test_who_waits_without_a_place_in_line(shared: World, people: People) -> None:
    back_off = Job("backs-off", created=1).admit(2).evict(3, "PodsReadyTimeout").release(4)
    back_off.obj["status"]["requeueState"] = {"count": 1, "requeueAt": "2026-10-08T13:00:00Z"}
    lost = Job("lost", created=2, queueName="no-such-queue").waits("LocalQueue no-such-queue doesn't exist")
    shared.see(back_off.touch(), lost, Job("in-line", created=3).waits())
    assert waiting(people) == [("in-line", 1, 1), ("lost", None, 0), ("backs-off", None, 1)]


def test_a_stopped_local_queue_holds_its_jobs_out_of_line(shared: World, people: People) -> None:
    shared.see(Job("held").waits())
    shared.queues(local_queue("hyperpod-ns-research", "research-queue", stopPolicy="Hold"))
    assert waiting(people) == [("held", None, 0)]


def test_a_stopped_cluster_queue_keeps_its_line(shared: World, people: People) -> None:
    shared.see(Job("held").waits())
    shared.queues(cluster_queue("research-queue", 12, stopPolicy="Hold"))
    assert waiting(people) == [("held", 1, 1)]


def test_under_admission_fair_sharing_no_order_is_known(shared: World, people: People) -> None:
    shared.see(Job("waits").waits())
    shared.queues(
        cluster_queue("research-queue", 12, admissionScope={"admissionMode": "UsageBasedAdmissionFairSharing"})
    )
    assert waiting(people) == [("waits", None, 0)]


def test_a_queue_that_is_gone_has_no_order(shared: World, people: People) -> None:
    shared.see(Job("waits").waits())
    shared.queues_gone("research-queue")
    assert queue_order(shared.cluster, current_queues(shared.cluster), "research-queue") == []
    assert waiting(people) == [("waits", None, 0)]


def test_jobs_that_are_gone_or_of_other_namespaces_are_not_listed(shared: World, people: People) -> None:
    gone = Job("gone").waits()
    shared.see(gone, Job("theirs", "hyperpod-ns-vision").waits(), Job("theirs-too", "hyperpod-ns-vision").admit(1))
    shared.lose(gone, now=minute(2), after=minute(1))
    assert waiting(people) == []
    assert running(people) == []


def test_running_jobs_with_their_own_and_borrowed_gpus_longest_first(shared: World, people: People) -> None:
    shared.see(Job("second", gpus=10).admit(5), Job("first", gpus=6).admit(1), Job("reserved", gpus=1).reserve(6))
    found = running(people)
    assert [(r.workload.title, r.since, r.own, r.borrowed) for r in found] == [
        ("first", minute(1), 6, 0),
        ("second", minute(5), 6, 4),
        ("reserved", minute(6), 0, 1),
    ]
    assert list(found[0].gpus) == [P5]


def test_a_job_being_evicted_still_counts_as_holding(shared: World, people: People) -> None:
    shared.see(Job("leaving", gpus=4).admit(1).evict(2))
    (leaving,) = running(people)
    assert (leaving.workload.state, leaving.own) == ("giving_back", 4)


def test_a_job_without_gpus_runs_without(shared: World, people: People) -> None:
    shared.see(Job("plain", requests={"cpu": "4"}).admit(1))
    (plain,) = running(people)
    assert (plain.gpus, plain.own, plain.borrowed) == ({}, 0, 0)
