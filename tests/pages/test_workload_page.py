import html
import re

import pytest

from tests.pages.reading import labels, rows, visit, words
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
    assert "Facts from the cluster, read just now How it stands Queued position 1 of 1 in its queue" in text
    assert "Kind PyTorchJob Asks for 4 GPUs Cluster GPU one Namespace hyperpod-ns-research Queue main-queue" in text
    assert "Priority normal (100)" in text
    assert "It held no quota yet" in text


def test_why_it_waits(read: World, people: People) -> None:
    job = Job().waits("workload namespace doesn't match ClusterQueue selector", -1)
    read.see(job)
    text = page(people, job)
    assert "It waits in the queue for quota. The queue does not take jobs of this namespace. What to do:" in text
    assert "Ask the platform admin, who alone can change this. Who must act: Platform admin" in text
    read.see(job.admit(0))
    text = page(people, job)
    assert (
        "How it stands Running holds quota for 0 s It runs. Its GPUs are the queue's own quota. What to do: Nothing."
        in text
    )
    assert "Who must act" not in text


def test_the_quota_it_held_newest_first(read: World, people: People) -> None:
    job = Job(gpus=2, pods=2).admit(-60).evict(-50).release(-49)
    read.see(Job(gpus=2, pods=2).admit(-60), now=minute(-59))
    read.see(job.touch(), now=minute(-45))
    read.see(job.admit(-30), now=minute(-29))
    newest, oldest = rows(visit(people.member, url(job)), "Quota it held")
    assert "11:30:00 UTC still held" in newest
    assert f"4 GPUs {P5}" in newest
    assert "11:00:00 UTC" in oldest
    assert "11:11:00 UTC evicted 8 Oct 2026 11:10:00 UTC Evicted" in oldest


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
    assert found == [
        "Levitating unknown NobodyKnows 8 Oct 2026 11:55:00 UTC up & away",
        "Admitted may start: quota and all checks yes Admitted 8 Oct 2026 11:00:00 UTC",
        "QuotaReserved holds quota yes QuotaReserved 8 Oct 2026 11:00:00 UTC",
    ]


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


def test_how_long_it_took_to_start_and_who_had_to_act(read: World, people: People) -> None:
    job = Job(created=-60).reserve(-22).admit(-20).condition("PodsReady", True, -10, "Started")
    read.see(job)
    response = visit(people.member, url(job))
    assert "Time to start It took 50 min to start. " in words(response)
    assert (
        "Scheduler in the queue, for quota 38 min Cluster for the admission checks 2 min "
        "Cluster for its pods to be ready 10 min Quota it held" in words(response)
    )
    assert labels(response) == ["Scheduler 38 min and Cluster 12 min"]
    assert re.findall(r'<rect class="ts-(\w+)" x="([^"]*)" y="1" width="([^"]*%)"', response.text) == [
        ("scheduler", "0%", "76%"), ("cluster", "76%", "4%"), ("cluster", "80%", "20%"),
    ]  # fmt: skip


def test_one_that_its_owner_must_change(read: World, people: People) -> None:
    job = Job(created=-7).waits("LocalQueue main-queue doesn't exist", -6)
    read.see(job)
    response = visit(people.member, url(job))
    assert "It has not started yet, after 7 min. You in the queue, for quota 7 min" in words(response)
    assert labels(response) == ["You 7 min"]


def test_the_bar_in_a_language_with_a_decimal_comma(read: World, people: People) -> None:
    job = Job(created=-60).admit(-13.5).condition("PodsReady", True, -11, "Started")
    read.see(job)
    assert 'width="94.8' in visit(people.member, url(job), "pt-br").text


def test_its_pod_sets(read: World, people: People) -> None:
    job = Job(gpus=2, pods=3)
    job.obj["spec"]["podSets"][0]["minCount"] = 1
    read.see(job.admit(-5))
    (row,) = rows(visit(people.member, url(job)), "Pod sets")
    assert row == "main 3 starts with 1 or more 2 GPUs H100 (ml.p5.48xlarge)"


def test_what_it_borrows(read: World, people: People) -> None:
    job = Job(gpus=16).admit(-5)
    read.see(job)
    response = visit(people.member, url(job))
    assert "Its GPUs: 12 own, 4 borrowed. What is borrowed may be taken back." in words(response)
    (row,) = rows(response, "Quota it held")
    assert "GPUs: 12 own, 4 borrowed" in row


def test_the_other_runs_of_its_job(read: World, people: People) -> None:
    first, second = Job(uid="uid-1", created=-60).admit(-50), Job(uid="uid-2", created=-20)
    second.obj["metadata"]["ownerReferences"][0]["uid"] = first.obj["metadata"]["ownerReferences"][0]["uid"]
    read.see(first, now=minute(-40))
    read.see(first.finish(-30), second)
    response = visit(people.member, url(second))
    assert rows(response, "Other runs of this job") == [
        "8 Oct 2026 11:00:00 UTC Finished 8 Oct 2026 11:30:00 UTC 4 the same job"
    ]
    assert url(first) in response.text
    alone = Job("alone")
    read.see(alone)
    assert "Other runs of this job" not in page(people, alone)


def test_odd_names_are_text_and_keep_to_themselves(read: World, people: People) -> None:
    for name in ("\u202egnp.exe", "שלום-עולם", "x" * 253, "<script>alert(1)</script>"):
        job = Job(uid=f"uid-{len(name)}-{name[1:3].encode().hex()}")
        job.obj["metadata"]["ownerReferences"][0]["name"] = name
        read.see(job.condition("T" * 253, True, -1, "\u202eodd", "<b>bold</b>"))
        response = visit(people.member, url(job))
        assert f"<bdi>{html.escape(name)}</bdi>" in response.text
        assert "<script>alert" not in response.text
        assert "<b>bold" not in response.text


def test_one_with_quota_for_nothing(read: World, people: People) -> None:
    job = Job().admit(-5)
    job.obj["status"]["admission"]["podSetAssignments"] = []
    read.see(job.touch())
    for address in (url(job), "/teams/research/"):
        assert visit(people.member, address).status_code == 200


def test_holds_that_nobody_saw_are_not_none(read: World, people: People) -> None:
    job = Job(created=-60).admit(-50).evict(-40).release(-38, "no room")
    read.see(job)
    text = page(people, job)
    assert "What it held was not seen It held quota before the portal looked at it." in text
    assert "It held no quota yet" not in text
    read.see(job.admit(-1))
    text = page(people, job)
    assert "It held quota more often than this: the portal did not see every hold." in text
    assert "Not known not told by the facts" in text


def test_holds_that_were_all_seen(read: World, people: People) -> None:
    job = Job(created=-60).admit(-50)
    read.see(job)
    read.see(job.evict(-40).release(-38, "no room"))
    read.see(job.admit(-1))
    assert "did not see every hold" not in page(people, job)


def test_how_often_it_was_evicted_with_the_way_to_each(read: World, people: People) -> None:
    job, other = Job(created=-60).admit(-50), Job("other").admit(-50)
    read.see(job, other)
    assert "It was evicted" not in page(people, job)
    read.see(job.evict(-40).release(-38), other.evict(-40).release(-38))
    assert "It was evicted once: see when" in page(people, job)
    read.see(job.admit(-30))
    read.see(job.evict(-20).release(-19))
    way = re.search(r'href="([^"]*)">It was evicted 2 times', visit(people.member, url(job)).text)
    assert way is not None
    shown = rows(visit(people.member, html.unescape(way[1])), "Evictions")
    assert len(shown) == 2
    assert all("train" in row for row in shown)


def test_an_eviction_whose_hold_nobody_saw_is_told_too(read: World, people: People) -> None:
    read.see(job := Job(created=-60).admit(-50).evict(-40).release(-38, "no room"))
    assert "It was evicted once" in page(people, job)


def test_where_no_team_owns_it_the_way_is_to_the_evictions_of_all(read: World, people: People) -> None:
    read.see(job := Job("lonely", "default", created=-60).admit(-50).evict(-40).release(-38))
    response = visit(people.platform_admin, url(job))
    assert f'href="/platform/evictions/?q={job.uid}"' in response.text
