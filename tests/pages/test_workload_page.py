import pytest

from tests.pages.reading import rows, visit, words
from tests.people import People
from tests.stories import P5, START, Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def read(shared: World) -> World:
    shared.is_read(START)
    return shared


def url(job: Job) -> str:
    return f"/clusters/gpu-one/workloads/{job.uid}/"


def page(people: People, job: Job) -> str:
    return words(visit(people.member, url(job)))


def test_what_it_is(read: World, people: People) -> None:
    job = Job("train", created=-30, priority=100).waits("no room", -30)
    read.see(job)
    text = page(people, job)
    assert "Facts from the cluster, read 0 s ago Queued Why it waits" in text
    assert "Kind PyTorchJob Namespace hyperpod-ns-research Queue main-queue Priority normal (100)" in text
    assert "It held no quota yet" in text


def test_why_it_waits(read: World, people: People) -> None:
    job = Job().waits("workload namespace doesn't match ClusterQueue selector", -1)
    read.see(job)
    assert "Why it waits The queue does not take jobs of this namespace." in page(people, job)
    read.see(job.admit(0))
    assert "Why it waits" not in page(people, job)


def test_the_quota_it_held_newest_first(read: World, people: People) -> None:
    job = Job(gpus=2, pods=2).admit(-60).evict(-50).release(-49)
    read.see(Job(gpus=2, pods=2).admit(-60), now=minute(-59))
    read.see(job.touch(), now=minute(-45))
    read.see(job.admit(-30), now=minute(-29))
    newest, oldest = rows(visit(people.member, url(job)), "Quota it held")
    assert "11:30:00 UTC still held" in newest
    assert f"4 GPUs {P5}" in newest
    assert "11:00:00 UTC" in oldest
    assert "11:11:00 UTC Evicted" in oldest


def test_an_uncertain_end_is_shown_with_both_its_ends(read: World, people: People) -> None:
    job = Job().admit(-60)
    read.see(job, now=minute(-59))
    read.lose(job, now=minute(-10), after=minute(-20))
    (row,) = rows(visit(people.member, url(job)), "Quota it held")
    assert "between " in row
    assert "11:40:00 UTC and " in row
    assert "11:50:00 UTC Deleted" in row
    assert "Ended, outcome unknown" in page(people, job)


def test_the_conditions_as_the_cluster_tells_them(read: World, people: People) -> None:
    job = Job().admit(-60).condition("Levitating", None, -5, "NobodyKnows", "up & away")
    read.see(job)
    found = rows(visit(people.member, url(job)), "Conditions, as the cluster tells them")
    assert found[0].startswith("Levitating=Unknown NobodyKnows")
    assert found[0].endswith("up & away")
    assert [row.split("=")[0] for row in found] == ["Levitating", "Admitted", "QuotaReserved"]


def test_a_job_that_nobody_looked_at_has_no_conditions(read: World, people: People) -> None:
    job = Job()
    read.see(job)
    text = page(people, job)
    assert "The cluster has not looked at it yet" in text


def test_a_finished_job_stays_readable(read: World, people: People) -> None:
    job = Job().admit(-60).finish(-30)
    read.see(job)
    read.see_deleted(job, now=minute(-20))
    text = page(people, job)
    assert "Finished" in text
    assert "11:30:00 UTC" in text


def test_a_state_that_no_code_knows_renders(read: World, people: People) -> None:
    job = Job().waits("no room", -1)
    read.see(job)
    row = read.row(job)
    row.state = "levitating"
    row.save()
    assert "levitating" in page(people, job)


def test_a_condition_without_a_time(read: World, people: People) -> None:
    job = Job().condition("QuotaReserved", False, None, "Pending", "no room")
    read.see(job)
    (row,) = rows(visit(people.member, url(job)), "Conditions, as the cluster tells them")
    assert "unknown" in row


def test_a_workload_without_creation_time(read: World, people: People) -> None:
    job = Job()
    del job.obj["metadata"]["creationTimestamp"]
    read.see(job)
    assert visit(people.member, url(job)).status_code == 200
    assert visit(people.member, "/teams/research/").status_code == 200


def test_a_uid_with_odd_characters_is_not_found(read: World, people: People) -> None:
    for odd in ("no-such-uid", "a%20b", "%F0%9F%98%80", "x" * 500):
        assert visit(people.member, f"/clusters/gpu-one/workloads/{odd}/").status_code == 404
