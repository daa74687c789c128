"""Whom the ledger tells that a job was interrupted while it kept its quota, and when."""

from datetime import datetime

import pytest
from django.utils.translation import override

from jobs.models import Interruption
from jobs.rules.interruptions import Cause
from jobs.sync.pod_runs import PodGone, write_pods
from jobs.sync.sources import PODS, WORKLOADS
from jobs.telling.interruptions import tell
from jobs.telling.words import Words, words_of
from notices.kinds import Kind
from notices.models import Notice, Receipt
from notices.recipients import address
from portal.models import SourceState
from scheduling import names
from tests.people import People
from tests.pods import Pod
from tests.stories import Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def job(shared: World) -> Job:
    made = Job(pods=2).admit(0)
    shared.see(made)
    return made


def see(world: World, *pods: Pod, at: float, sick: tuple[str, ...] = ()) -> None:
    looks = [pod.look for pod in pods]
    write_pods(world.cluster, looks, sick_nodes=lambda nodes: sick, now=minute(at), last_seen=minute(at - 1))


def lose(world: World, *pods: Pod, after: float, at: float) -> None:
    """A list did not hold them."""
    gone = [PodGone(pod.uid, minute(after), minute(at), watched=False) for pod in pods]
    write_pods(world.cluster, (), gone, sick_nodes=lambda nodes: (), now=minute(at), last_seen=minute(after))


def read(world: World, source: str, at: float) -> None:
    SourceState.objects.update_or_create(
        cluster=world.cluster.slug, source=source, defaults={"last_good_at": minute(at)}
    )


def told(world: World, at: float) -> list[datetime]:
    """When those were of which people know, with everything read just before."""
    for source in (WORKLOADS, PODS):
        read(world, source, at)
    tell(world.cluster, minute(at))
    found = Notice.objects.filter(kind=Kind.INTERRUPTED).order_by("at")
    return list(found.values_list("at", flat=True))


def interrupt(world: World, job: Job, at: float = 5) -> Pod:
    """A pod is told to go because its node fails, and another one comes."""
    see(world, pod := Pod(job, "train-0", f"node-{at}"), at=at - 1)
    see(world, pod.stops(at, "DeletionByTaintManager"), Pod(job, "train-1", "node-2", bound=at), at=at)
    return pod


def test_its_people_are_told_once_when_it_is_settled(shared: World, people: People, job: Job) -> None:
    interrupt(shared, job)
    assert told(shared, 6.9) == []
    assert told(shared, 7) == [minute(5)]
    assert told(shared, 8) == told(shared, 60) == [minute(5)]
    assert address(minute(8)) == 1
    assert set(Receipt.objects.values_list("user", flat=True)) == {
        people.member.pk, people.viewer.pk, people.team_admin.pk,
    }  # fmt: skip


def test_whom_the_job_names_is_told_alone(shared: World, people: People) -> None:
    job = Job()
    template = job.obj["spec"]["podSets"][0]["template"]
    template["metadata"] = {"annotations": {names.SUBMITTED_BY_ANNOTATION: "member"}}
    shared.see(job.admit(0))
    interrupt(shared, job)
    told(shared, 8)
    address(minute(8))
    assert Receipt.objects.get().user == people.member


@pytest.mark.parametrize("late", [WORKLOADS, PODS])
def test_nobody_is_told_before_both_were_read_after_it(shared: World, job: Job, late: str) -> None:
    interrupt(shared, job)
    tell(shared.cluster, minute(8))
    for source in (WORKLOADS, PODS):
        read(shared, source, 6 if source == late else 60)
    tell(shared.cluster, minute(60))
    assert not Notice.objects.exists()


def test_an_eviction_is_told_as_such_although_its_pods_are_seen_first(shared: World, job: Job) -> None:
    see(shared, pod := Pod(job), at=4)
    see(shared, pod.stops(5), at=5)
    assert Interruption.objects.count() == 1
    assert told(shared, 6) == []
    shared.see(job.evict(5), now=minute(6))
    assert told(shared, 30) == []


def test_the_pull_and_the_watch_that_both_see_it_tell_it_once(shared: World, job: Job) -> None:
    see(shared, pod := Pod(job, node="node-1"), at=4)
    lose(shared, pod, after=4, at=5)
    assert told(shared, 8) == [minute(5)]
    see(shared, pod.stops(4.5), at=8)
    assert Interruption.objects.get().before == minute(4.5)
    assert told(shared, 9) == [minute(5)]


def test_pods_that_follow_do_not_tell_it_again_and_the_next_interruption_does(shared: World, job: Job) -> None:
    pods = [Pod(job, f"train-{n}", f"node-{n}") for n in range(2)]
    see(shared, *pods, at=4)
    see(shared, pods[0].stops(5), at=5)
    assert told(shared, 8) == [minute(5)]
    see(shared, pods[1].stops(9), second := Pod(job, "train-2", "node-3", bound=9), at=9)
    assert Interruption.objects.get().pods == 2
    assert told(shared, 12) == [minute(5)]
    see(shared, second.stops(20), at=20)
    assert told(shared, 22) == [minute(5), minute(20)]


def test_one_that_is_found_late_is_told_and_those_after_it_not_again(shared: World, job: Job) -> None:
    interrupt(shared, job, at=15)
    assert told(shared, 18) == [minute(15)]
    see(shared, Pod(job, "train-9", "node-9", bound=1).stops(5, "DeletionByTaintManager"), at=20)
    assert told(shared, 25) == told(shared, 26) == [minute(5), minute(15)]


def test_one_whose_time_becomes_known_better_is_not_told_again(shared: World, job: Job) -> None:
    interrupt(shared, job, at=15)
    told(shared, 18)
    Interruption.objects.update(after=minute(13), before=minute(14))
    assert told(shared, 25) == [minute(15)]


def test_what_was_over_before_the_portal_came_is_no_news(shared: World) -> None:
    shared.see(job := Job().admit(0), now=minute(60))
    see(shared, Pod(job, "train-0", "node-1").ends(5, code=1), Pod(job, "train-1", "node-2", bound=6), at=60)
    assert Interruption.objects.count() == 1
    assert told(shared, 63) == []
    see(shared, Pod(job, "train-1", "node-2", bound=6).ends(70, code=1), at=70)
    assert Interruption.objects.count() == 2
    assert told(shared, 73) == [minute(70)]


def test_jobs_of_no_team_are_told_to_nobody(shared: World) -> None:
    shared.see(job := Job("job", "of-nobody").admit(0))
    interrupt(shared, job)
    assert told(shared, 8) == []


def test_the_words_tell_cause_node_and_what_came_of_it(shared: World, people: People, job: Job) -> None:
    interrupt(shared, job)
    told(shared, 8)
    words = written(people)
    assert words.title == "train was interrupted"
    assert words.lines == (
        "The node failed (DeletionByTaintManager).",
        "1 pod was hit, on: node-5",
        "It kept its quota, and new pods came instead.",
    )
    assert words.path.endswith(f"/workloads/{job.uid}/#h-interruptions")


def test_the_words_of_many_pods_and_of_none_that_came(shared: World, people: People, job: Job) -> None:
    pods = [Pod(job, f"train-{n}", f"node-{n}") for n in range(5)]
    see(shared, *pods, at=4)
    see(shared, *(pod.ends(5, code=137, reason="OOMKilled") for pod in pods), at=5)
    told(shared, 8)
    assert Interruption.objects.get().cause == Cause.FAILED
    assert written(people).lines == (
        "A pod failed by itself (OOMKilled, exit code 137).",
        "5 pods were hit, on: node-0, node-1, node-2, …",
        "It kept its quota, but no new pod has come instead so far.",
    )
    with override("pt-br"):
        assert written(people).title == "train foi interrompido"


def written(people: People) -> Words:
    (words,) = words_of(Notice.objects.select_related("cluster"), people.member).values()
    return words
