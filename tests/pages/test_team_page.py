from datetime import timedelta

import pytest

from gateways.errors import Denied, Unavailable
from portal.models import SourceState
from portal.sync_runs import record_failure
from tests.factories import ClusterFactory, CostCentreFactory
from tests.pages.reading import bars, labels, rows, visit, words
from tests.people import People
from tests.stories import GPU, P5, START, Job, cluster_queue, groups, local_queue, minute, quota
from tests.worlds import World

pytestmark = pytest.mark.django_db
URL = "/teams/research/"


@pytest.fixture
def read(shared: World) -> World:
    """Read a moment ago."""
    shared.is_read(START)
    return shared


def of_vision(gpus: int) -> Job:
    return Job("theirs", "hyperpod-ns-vision", queue="vision-queue", gpus=gpus).admit(-5)


def page(people: People, language: str = "en") -> str:
    return words(visit(people.member, URL, language))


def test_name_cost_centre_and_namespaces(read: World, people: People) -> None:
    text = page(people)
    assert "Cost centre cc-research · Research costs" in text
    assert "GPU one hyperpod-ns-research" in text


def test_a_team_without_a_cost_centre(read: World, people: People) -> None:
    assert "Cost centre none" in words(visit(people.neighbour, "/teams/vision/"))


def test_what_the_team_has_in_numbers_and_in_words(read: World, people: People) -> None:
    read.see(Job(gpus=16).admit(-5))
    response = visit(people.member, URL)
    (row,) = bars(response)
    assert row == (
        f"H100 {P5} 12 guaranteed no limit 12 own 4 borrowed 4 free to borrow now "
        "12 of 12 own, 4 borrowed, 0 lent. What is borrowed may be taken back. Free to this queue now: 4 GPUs. "
        "16 GPUs in use"
    )
    assert labels(response) == ["H100. 12 of 12 own, 4 borrowed, 0 lent."]


def test_a_type_that_the_portal_cannot_name_is_called_by_its_flavor(read: World, people: People) -> None:
    read.queues(cluster_queue("research-queue", flavors=groups(("spot", {GPU: quota(1)}))))
    response = visit(people.member, URL)
    (row,) = bars(response)
    assert row.startswith("spot 1 guaranteed, no limit ")
    assert labels(response) == ["spot. 0 of 1 own, 0 borrowed, 0 lent."]


def test_of_several_queues_each_line_names_its_own(read: World, people: People) -> None:
    read.queues(cluster_queue("second-queue", 4), local_queue("hyperpod-ns-research", "second-queue", name="second"))
    first, second = bars(visit(people.member, URL))
    assert first.startswith(f"H100 {P5} research-queue 12 guaranteed")
    assert second.startswith(f"H100 {P5} second-queue 4 guaranteed")


def test_what_is_lent(read: World, people: People) -> None:
    read.see(of_vision(11))
    response = visit(people.member, URL)
    (row,) = bars(response)
    assert " 3 lent 9 free 0 of 12 own, 0 borrowed, 3 lent." in row
    assert labels(response) == ["H100. 0 of 12 own, 0 borrowed, 3 lent."]


def test_a_borrowing_limit_of_0_is_a_limit(read: World, people: People) -> None:
    read.queues(cluster_queue("research-queue", 12, borrow=0))
    (row,) = bars(visit(people.member, URL))
    assert row.startswith(f"H100 {P5} 12 guaranteed, at most 12 12 free 0 of 12 own, 0 borrowed, 0 lent.")
    assert row.endswith(" 0 GPUs in use")
    assert "no limit" not in row


@pytest.mark.parametrize(
    ("limit", "told"), [(1, "12 guaranteed, at most 13 "), (8, "12 guaranteed at most 20 "), (None, "no limit ")]
)
def test_what_may_be_used_at_most_is_always_told(read: World, people: People, limit: int | None, told: str) -> None:
    read.queues(cluster_queue("research-queue", 12, borrow=limit))
    (row,) = bars(visit(people.member, URL))
    assert told in row


def test_what_cannot_be_known_is_not_0(read: World, people: People) -> None:
    read.see(Job(gpus=12).admit(-5), of_vision(8))
    read.queues(cluster_queue("vision-queue", 2))
    response = visit(people.member, URL)
    (row,) = bars(response)
    assert labels(response) == ["H100. 12 of 12 own, 0 borrowed, unknown lent."]
    assert "unknown lent" in row
    assert "0 lent" not in row
    assert "More is in use in the cohort than there is" in row


def test_other_resources_come_after_the_gpus(read: World, people: People) -> None:
    flavors = groups((P5, {GPU: quota(12), "cpu": quota("96500m"), "memory": quota("2Ti")}))
    read.queues(cluster_queue("research-queue", flavors=flavors))
    response = visit(people.member, URL)
    assert [row.split(" 12 guaranteed")[0] for row in bars(response)] == [f"H100 {P5}"]
    found = rows(response, "GPUs")
    assert [row.split("·")[0].strip() for row in found] == [f"{P5} CPU", f"{P5} memory"]
    assert " 96.5 0 0 0 no limit" in found[0]
    assert " 2,048 0 0 0 no limit" in found[1]
    assert response.text.index('class="qrow"') < response.text.index("<tbody")
    in_portuguese = rows(visit(people.member, URL, "pt-br"), "GPUs")[0]
    assert " 96,5 " in in_portuguese


def test_a_shared_queue_tells_the_teams_part_of_it(read: World, people: People) -> None:
    read.queues(local_queue("hyperpod-ns-vision", "research-queue"))
    read.see(Job(gpus=3).admit(-5), Job("theirs", "hyperpod-ns-vision", gpus=4).admit(-5))
    assert "Other teams use this queue, too; your team uses 3 GPUs of it." in page(people)


def test_who_waits_where_why_and_since_when(read: World, people: People) -> None:
    message = (
        "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor "
        "ml.p5.48xlarge, 6 more needed"
    )
    read.see(Job("second", created=-30, gpus=8).waits(message), Job("first", created=-90, gpus=2).waits(message))
    first, second = rows(visit(people.member, URL), "Waiting now")
    assert first.startswith("1 of 2 first PyTorchJob · normal 2 GPUs")
    assert "Not enough is free in H100 (ml.p5.48xlarge): 6 GPUs more needed. Raw condition couldn't assign" in first
    assert first.endswith("Scheduler 1 h 30 min")
    assert second.startswith("2 of 2 second")
    assert second.endswith("30 min")


def test_a_job_without_a_place_in_line(read: World, people: People) -> None:
    read.see(Job("lost", queueName="no-such-queue").waits("LocalQueue no-such-queue doesn't exist", -1))
    (row,) = rows(visit(people.member, URL), "Waiting now")
    assert row.startswith("Queued lost")
    assert " of " not in row.split("lost")[0]
    assert "The queue it names does not exist: correct the job's queue name." in row
    assert row.endswith("You 0 s")


def test_a_job_that_can_never_start_says_so(read: World, people: People) -> None:
    message = (
        "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor ml.p5.48xlarge, "
        "previously considered podsets requests (0) + current podset request (64) > maximum capacity (20)"
    )
    read.see(Job("giant", gpus=64).waits(message))
    (row,) = rows(visit(people.member, URL), "Waiting now")
    assert (
        "It can never start as it is: in H100 (ml.p5.48xlarge) it asks for 44 GPUs more than the queue may ever use."
    ) in row
    assert row.startswith("1 of 1 Does not fit giant")
    assert row.endswith("You 0 s")


def test_what_runs_own_or_borrowed(read: World, people: People) -> None:
    read.see(Job("early", gpus=10).admit(-90), Job("late", gpus=4).admit(-5), Job("last", gpus=2).admit(-1))
    early, late, last = rows(visit(people.member, URL), "Running now")
    assert early == "early PyTorchJob · normal Running 10 H100 own 1 h 30 min"
    assert "4 H100 2 own, 2 borrowed borrowed GPUs may be taken back 5 min" in late
    assert "2 H100 borrowed borrowed GPUs may be taken back 1 min" in last


def test_states_between_waiting_and_the_end(read: World, people: People) -> None:
    read.see(
        Job("reserved").reserve(-3),
        Job("preparing").admit(-2).condition("PodsReady", False, -2),
        Job("leaving").admit(-4).evict(-1),
        Job("interrupted").admit(-9).evict(-8).release(-7, "no room"),
    )
    running = " ".join(rows(visit(people.member, URL), "Running now"))
    for label in ("Quota reserved", "Preparing", "Giving capacity back"):
        assert label in running
    (waiting,) = rows(visit(people.member, URL), "Waiting now")
    assert waiting.startswith("1 of 1 Interrupted, queued again interrupted")


def test_unknown_kinds_conditions_and_states_render(read: World, people: People) -> None:
    odd = Job("odd").condition("Levitating", None, -1, "NobodyKnows").condition("QuotaReserved", None, -1, "Sulking")
    odd.obj["metadata"]["ownerReferences"][0]["kind"] = "FutureJob"
    bare = Job("bare", requests={"example.com/quantum": "3"}).waits("in words of tomorrow")
    del bare.obj["metadata"]["ownerReferences"]
    del bare.obj["spec"]["priorityClassRef"]
    read.see(odd, bare)
    read.row(odd).__class__.objects.filter(uid=odd.uid).update(state="queued")
    text = page(people)
    assert "odd FutureJob" in text
    assert "pytorchjob-bare Workload · no priority class" in text
    assert "The cluster gives a reason in words that the portal does not know." in text


def test_an_idle_team_says_what_will_appear(read: World, people: People) -> None:
    text = page(people)
    assert "Nothing waits Jobs that cannot start at once appear here, with the reason." in text
    assert "Nothing runs Jobs that hold quota appear here." in text


def test_a_team_without_a_namespace(people: People) -> None:
    assert "This team has no namespace yet" in page(people)


def test_a_namespace_without_a_queue(world: World, people: People) -> None:
    world.bind(people.research, "hyperpod-ns-research")
    world.is_read(START)
    world.is_read(START)
    assert "No GPU quota here" in page(people)


def test_facts_say_how_old_they_are(read: World, people: People) -> None:
    read.is_read(START - timedelta(seconds=90))
    text = page(people)
    assert "Facts from the cluster, read 1 min ago" in text
    assert "These facts are old" not in text


def test_old_facts_say_so_and_since_when(read: World, people: People) -> None:
    read.see(Job("kept").waits("no room", -1))
    read.is_read(START - timedelta(minutes=7))
    text = page(people)
    assert "These facts are old What you see of GPU one is as it was:" in text
    assert "7 min ago" in text
    assert "kept" in text


def test_a_cluster_that_was_never_read_is_unknown(world: World, people: People) -> None:
    world.bind(people.research, "hyperpod-ns-research")
    assert "Nothing is known of this cluster yet" in page(people)


def test_a_cluster_that_was_never_read_shows_no_0(world: World, people: People) -> None:
    world.bind(people.research, "hyperpod-ns-research")
    text = page(people).split("Nothing is known of this cluster yet")[1]
    assert " 0 " not in text
    assert "Nothing waits" not in text


@pytest.mark.parametrize("error", [Unavailable("connection refused"), Denied("403: forbidden")])
def test_a_failing_cluster_tells_members_the_age_and_platform_roles_the_error(
    read: World, people: People, error: Unavailable | Denied
) -> None:
    read.is_read(START - timedelta(minutes=5))
    for source in SourceState.objects.values_list("source", flat=True):
        record_failure(source, "gpu-one", now=START, error=error)
    assert "These facts are old" in page(people)
    assert str(error) not in page(people)
    assert f"Last error {error}" in words(visit(people.platform_admin, URL))


def test_two_clusters_have_a_heading_each(read: World, people: People) -> None:
    other = World(ClusterFactory(slug="gpu-two", name="GPU two"))
    other.bind(people.research, "ns-there")
    response = visit(people.member, URL)
    assert "<h2>GPU one</h2>" in response.text
    assert "<h2>GPU two</h2>" in response.text
    assert "Nothing is known of this cluster yet" in words(response)


def test_the_clock_of_a_cluster_ahead_shows_no_negative_time(read: World, people: People) -> None:
    read.see(Job("ahead", created=5).admit(5), Job("waits", created=5).waits("no room", 5))
    text = page(people)
    assert "0 s" in text
    assert "-" not in " ".join(rows(visit(people.member, URL), "Running now")).replace("p5.48", "")


def test_a_workload_page_link_leads_to_the_job(read: World, people: People) -> None:
    job = Job("runs").admit(-5)
    read.see(job)
    assert f'href="/clusters/gpu-one/workloads/{job.uid}/"' in visit(people.member, URL).text


def test_a_team_renamed_in_capitals_is_escaped(read: World, people: People) -> None:
    people.research.name = "<R&D>"
    people.research.cost_centre = CostCentreFactory(code="cc-odd", name="<Odd>")
    people.research.save()
    assert "&lt;R&amp;D&gt;" in visit(people.member, URL).text
    assert "<Odd>" not in visit(people.member, URL).text


def test_the_moment_of_an_age_is_there_for_the_script(read: World, people: People) -> None:
    text = visit(people.member, URL).text
    assert f'<time datetime="{minute(0).isoformat()}"' in text
    assert "data-rendered-at" in text
