"""The history of evictions, the page of each, and the last week on the team's page, as people read them."""

import csv
import io
import re
from datetime import timedelta
from typing import Any

import pytest

from jobs.models import Eviction, ToldEviction
from jobs.sync.listings import Kind
from jobs.words.amounts import gpu_hours_text
from jobs.words.evictions import reason_label
from portal.times import duration_text
from scheduling import names
from scheduling.preemption_messages import preempted
from teams.models import Cluster, Team
from tests.pages.reading import rows, visit, words
from tests.people import People
from tests.stories import START, Job, minute, priority_class
from tests.worlds import World

pytestmark = pytest.mark.django_db

HISTORY, WEEK, CSV = "/teams/research/evictions/", "/teams/research/lost/", "/teams/research/evictions.csv"
DAY = 24 * 60
THEIRS = "22222222-2222-4222-8222-222222222222"


def taken_by(uid: str = THEIRS, rule: str = names.IN_COHORT_RECLAMATION, queue: str = "vision-queue") -> str:
    return preempted(uid, f"job-{uid}", rule, ("shared", queue), ("shared", "research-queue"))


@pytest.fixture
def past(shared: World) -> World:
    """Of research: `big` lost 4 × 10 minutes to vision and runs again, `old` was evicted ten days ago, `loops` three
    times within an hour by its own team, `dead` failed; of vision one eviction, too."""
    shared.is_read(START)
    endpoint = Job(
        "endpoint", "hyperpod-ns-vision", queue="vision-queue", gpus=4, created=-20, priority=1000, uid=THEIRS
    )
    chief = Job("chief", created=-200, priority=50).waits("no room")
    big, old, dead = Job("big", gpus=4, created=-40).admit(-30), Job("old", created=-10 * DAY), Job("dead").admit(-50)
    loops, theirs = Job("loops", created=-130), Job("theirs", "hyperpod-ns-vision", queue="vision-queue").admit(-9)
    shared.see(endpoint.waits("", -20), chief, big, old.admit(-10 * DAY), dead, loops, theirs)
    shared.see(old.evict(-10 * DAY + 60, names.DEACTIVATED), dead.finish(-40, names.FAILED))
    shared.see(old.release(-10 * DAY + 61))
    shared.see(
        big.evict(-20, message=taken_by()), theirs.evict(-5, message=taken_by(chief.uid, queue="research-queue"))
    )
    shared.see(big.release(-19))
    for at in (-120, -100, -80):
        shared.see(loops.admit(at))
        shared.see(loops.evict(at + 5, message=taken_by(chief.uid, names.IN_CLUSTER_QUEUE, "research-queue")))
        shared.see(loops.release(at + 6))
    shared.see(big.admit(-10))
    return shared


def jobs_shown(text: str) -> list[str]:
    return re.findall(r'<a class="job"[^>]*>([^<]*)</a>', text)


def history(people: People, query: str = "") -> list[str]:
    return jobs_shown(visit(people.member, HISTORY + query).text)


def lines(user: Any, query: str = "") -> list[dict[str, str]]:
    text = b"".join(visit(user, CSV + query)).decode()  # type: ignore[arg-type]
    return list(csv.DictReader(io.StringIO(text)))


def page_of(job: str, user: Any) -> str:
    eviction = Eviction.objects.filter(workload__owner_name=job).order_by("-decided_before")[0]
    address = f"/clusters/gpu-one/workloads/{eviction.workload.uid}/evictions/{eviction.pk}/"
    return words(visit(user, address))


def test_the_history_tells_the_newest_first_with_all_that_is_known(past: World, people: People) -> None:
    response = visit(people.member, HISTORY)
    assert jobs_shown(response.text) == ["big", "loops", "loops", "loops", "old"]
    shown = rows(response, "Evictions")
    assert (
        "Lender took it back for a workload of another team, priority 1,000, by the rule “Lender took it back”"
        in shown[0]
    )
    assert "Running 10 min 0.7 GPU-h whole run" in shown[0]
    assert "Priority in the queue loop, 3 times for chief of Research" in shown[1]
    assert "Switched off – Interrupted" not in shown[-1]


def test_totals_are_of_what_the_filters_leave(past: World, people: People) -> None:
    assert "5 evictions" in words(visit(people.member, HISTORY))
    text = words(visit(people.member, f"{HISTORY}?time=24h"))
    assert "1.7 GPU-h 4 evictions" in text
    assert "Held after the decisions, while the pods stopped: 0.3 GPU-h" in text


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?q=BIG", ["big"]),
        ("?q=" + "uid-hyperpod-ns-research-old", ["old"]),
        ("?time=1h", ["big"]),
        ("?time=7d", ["big", "loops", "loops", "loops"]),
        ("?time=2026-09", ["old"]),
        ("?time=2026-10", ["big", "loops", "loops", "loops"]),
        ("?reason=Preempted", ["big", "loops", "loops", "loops"]),
        ("?reason=InClusterQueue", ["loops", "loops", "loops"]),
        ("?reason=Deactivated", ["old"]),
        ("?by=research", ["loops", "loops", "loops"]),
        ("?by=-", ["big"]),
        ("?priority=normal", ["big", "loops", "loops", "loops", "old"]),
        ("?priority=-", []),
        ("?cluster=gpu-one&q=old", ["old"]),
        ("?cluster=elsewhere", []),
        ("?sort=lost", ["old", "big", "loops", "loops", "loops"]),
        ("?page=99999999999999999999", ["big", "loops", "loops", "loops", "old"]),
    ],
)
def test_the_address_filters(past: World, people: People, query: str, found: list[str]) -> None:
    assert history(people, query) == found
    assert [line["job"] for line in lines(people.member, query)] == found


@pytest.mark.parametrize("query", ["?time=soon", "?time=2026-13", "?sort=colour", "?sums=all", "?per=7", "?colour=red"])
def test_what_an_address_cannot_mean_is_left_out_with_a_sentence(past: World, people: People, query: str) -> None:
    response = visit(people.member, HISTORY + query)
    assert "left out" in words(response)
    assert len(jobs_shown(response.text)) == 5


def test_a_team_that_the_reader_may_not_know_is_as_one_that_is_not_there(past: World, people: People) -> None:
    hidden, unknown = (words(visit(people.member, f"{HISTORY}?by={slug}")) for slug in ("vision", "nobody"))
    assert hidden.replace("vision", "nobody") == unknown
    assert jobs_shown(visit(people.team_admin, f"{HISTORY}?by=vision").text) == ["big"]
    assert jobs_shown(visit(people.platform_admin, f"{HISTORY}?by=vision").text) == ["big"]


def test_the_preemptor_is_named_to_those_who_may_see_its_team(past: World, people: People) -> None:
    for user in (people.team_admin, people.platform_admin, people.finops):
        assert "endpoint of Vision" in words(visit(user, HISTORY))
        assert lines(user)[0]["taken_by"] == "endpoint of Vision"
        assert "endpoint of Vision" in page_of("big", user)
    Cluster.objects.update(names_across_teams=True)
    assert "endpoint of Vision" in words(visit(people.member, HISTORY))


@pytest.mark.parametrize("sums", ["", *(f"&sums={by}" for by in ("job", "queue", "preemptor", "flavor", "week"))])
def test_nothing_of_another_team_reaches_a_member(past: World, people: People, sums: str) -> None:
    pages = [visit(people.member, f"{HISTORY}?per=25{sums}").text, visit(people.member, WEEK).text]
    pages += [page_of(job, people.member) for job in ("big", "loops", "old")]
    pages.append(repr(lines(people.member)))
    for text in pages:
        assert "vision" not in text.lower()
        assert "endpoint" not in text.lower()
        assert THEIRS not in text


def test_the_file_equals_the_screen(past: World, people: People) -> None:
    big, *loops, old = lines(people.member)
    assert (big["lost_gpu_seconds"], big["stopping_gpu_seconds"], big["ran_seconds"]) == ("2400", "240", "600")
    assert (big["decided_at"], big["released_at"]) == ("2026-10-08T11:40:00+00:00", "2026-10-08T11:41:00+00:00")
    assert (big["resumed_at"], big["reason"], big["rule"]) == (
        "2026-10-08T11:50:00+00:00",
        "Preempted",
        "InCohortReclamation",
    )
    assert [line["loop"] for line in loops] == ["3", "3", "3"]
    assert (old["reason"], old["taken_by"]) == ("Deactivated", "")


def test_what_an_unseen_hold_of_unknown_loss_gave_up_is_not_0_in_the_file(past: World, people: People) -> None:
    unseen = Job("unseen", created=-600).admit(-500).evict(-400).release(-399).admit(-300).evict(-200).release(-199)
    past.see(unseen, now=minute(-190))
    lost = {line["job"]: (line["gpus"], line["lost_gpu_seconds"]) for line in lines(people.member)}
    assert lost["unseen"] == ("", "")
    assert lost["big"] == ("4", "2400")


@pytest.mark.parametrize("role", ["member", "team_admin", "finops", "platform_admin"])
def test_each_line_of_the_file_says_what_its_row_says(past: World, people: People, role: str) -> None:
    unseen = Job("unseen", created=-600).admit(-500)
    past.see(unseen, now=minute(-499))
    past.see(unseen.evict(-400).release(-399).admit(-300), now=minute(-200), last_seen=minute(-450))
    user = getattr(people, role)
    shown, told = rows(visit(user, f"{HISTORY}?per=100"), "Evictions"), lines(user)
    assert len(shown) == len(told) == 6
    for row, line in zip(shown, told, strict=True):
        assert f" {line['job']} " in f" {row} "
        assert reason_label(line["rule"] or line["reason"]) in row
        assert line["taken_by"] in row
        assert (f"loop, {line['loop']} times" in row) is bool(line["loop"])
        assert gpu_hours_text(int(line["lost_gpu_seconds"])) in row
        ran = line["ran_seconds"]
        assert (duration_text(timedelta(seconds=int(ran))) if ran else "–") in row
    by_job = {line["job"]: line for line in told}
    assert (by_job["unseen"]["decided_at"], by_job["unseen"]["released_at"]) == ("", "")


@pytest.mark.parametrize(
    ("by", "found"),
    [
        ("job", ["old 1 4.0 GPU-h", "loops 3 1.0 GPU-h", "big 1 0.7 GPU-h"]),
        ("queue", ["research-queue 5 5.7 GPU-h"]),
        ("preemptor", ["nobody 1 4.0 GPU-h", "Research 3 1.0 GPU-h", "another team 1 0.7 GPU-h"]),
        ("priority", ["normal 5 5.7 GPU-h"]),
        ("flavor", ["H100 5 5.7 GPU-h"]),
        ("week", ["2026-10-05 4 1.7 GPU-h", "2026-09-28 1 4.0 GPU-h"]),
        ("month", ["2026-10 4 1.7 GPU-h", "2026-09 1 4.0 GPU-h"]),
    ],
)
def test_losses_are_added_up_by_many_things(past: World, people: People, by: str, found: list[str]) -> None:
    heading = {"job": "Job", "queue": "Queue", "preemptor": "Taken by", "priority": "Priority class",
               "flavor": "GPU type", "week": "Week", "month": "Month"}[by]  # fmt: skip
    shown = rows(visit(people.member, f"{HISTORY}?sums={by}"), heading)
    assert [row.rsplit(" ", 2)[0] for row in shown] == found


def test_weeks_and_months_are_said_to_be_of_utc(past: World, people: People) -> None:
    """The times of the rows are in the reader's zone."""
    people.member.time_zone = "America/Sao_Paulo"
    people.member.save()
    assert ">October 2026 (UTC)</option>" in visit(people.member, HISTORY).text
    assert "Week from Monday on, UTC Week" in words(visit(people.member, f"{HISTORY}?sums=week"))
    assert "Month UTC Month" in words(visit(people.member, f"{HISTORY}?sums=month"))
    assert "Queue Queue Evictions" in words(visit(people.member, f"{HISTORY}?sums=queue"))


def test_the_story_of_one_eviction(past: World, people: People) -> None:
    text = page_of("big", people.member)
    assert "It ran on borrowed quota, and the lender took it back." in text
    assert "It gave up 4 GPUs for a workload of another team, priority 1,000" in text
    assert "How many were lacking is not known." in text
    assert "It started again." in text
    for step in ("waited 10 min", "ran for 10 min", "took to stop, the GPUs still held: 1 min", "waited 9 min"):
        assert step in text
    assert "preemptor path: [another team]" in text
    assert "Declare checkpoints" in text
    assert "Ask for own quota instead of borrowing" in text


def test_classes_that_are_high_enough_are_named(past: World, people: People) -> None:
    past.queues(priority_class("low", 49), priority_class("gold", 1000), priority_class("normal", 50))
    assert "what took its place 50. High enough: normal or gold." in page_of("loops", people.member)
    past.queues_gone("gold", "normal", kind=Kind.PRIORITY_CLASS)
    assert "give it a higher priority" not in page_of("loops", people.member)


def test_how_many_were_lacking_is_another_number_than_what_was_given_up(shared: World, people: People) -> None:
    shared.is_read(START)
    endpoint = Job("endpoint", "hyperpod-ns-vision", queue="vision-queue", gpus=8, created=-20, uid=THEIRS).waits(
        "", -20
    )
    big = Job("big", gpus=16, created=-40).admit(-30)
    shared.see(big, endpoint)
    shared.see(big.evict(-20, message=taken_by()))
    short = (
        "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor ml.p5.48xlarge"
    )
    shared.see(endpoint.waits(f"{short}, 4 more needed. Pending the preemption of 1 workload(s)", -20))
    text = page_of("big", people.team_admin)
    assert "It gave up 16 GPUs for endpoint of Vision, which was short of 4 GPUs." in text
    assert "All pods of a job stop together" in text
    assert "Make it smaller" in text
    assert "It has not started again." in text


def test_an_eviction_that_nobody_saw_says_so(shared: World, people: People) -> None:
    shared.is_read(START)
    job = Job("gone", created=-600).admit(-500).evict(-400).release(-399).admit(-300).evict(-200).release(-199)
    job.admit(-100)
    shared.see(job, now=START)
    text = page_of("gone", people.member)
    assert "Nobody saw it happen" in text
    assert "before the portal saw this job" in text
    assert "unknown 2 evictions Of 2 evictions the loss is not known" in words(visit(people.member, HISTORY))


def test_what_nobody_saw_in_hours_is_no_loop_on_any_page(shared: World, people: People) -> None:
    shared.is_read(START)
    job = Job("often", gpus=4, created=-600)
    shared.see(job.admit(-590), now=minute(-585))
    for at in range(-500, -20, 48):
        job.evict(at).release(at + 1).admit(at + 2)
    shared.see(job.evict(-5), now=START, last_seen=minute(-580))
    assert Eviction.objects.filter(observed=False).count() == 10
    for text in (page_of("often", people.member), *(words(visit(people.member, at)) for at in (HISTORY, WEEK))):
        assert "loop" not in text
    assert {line["loop"] for line in lines(people.member)} == {""}
    assert "0 in a loop" in words(visit(people.platform_admin, "/platform/"))


def test_a_wait_is_not_claimed_where_evictions_in_between_were_not_seen(shared: World, people: People) -> None:
    shared.is_read(START)
    job = Job("often", gpus=4, created=-600)
    for at in (-500, -400, -300):
        job.admit(at).evict(at + 10).release(at + 11)
    shared.see(job.admit(-60), now=minute(-50))
    shared.see(job.evict(-5), now=START)
    text = page_of("often", people.member)
    assert "3 evictions that nobody saw It was admitted and evicted in between." in text
    assert "waited" not in text
    assert "ran for 55 min" in text


def test_less_than_half_an_interval_loses_the_whole_run(shared: World, people: People) -> None:
    shared.is_read(START)
    Team.objects.update(checkpoint_seconds=7200)
    job = Job("short", gpus=4, created=-50).admit(-40)
    shared.see(job)
    shared.see(job.evict(-30))
    text = page_of("short", people.member)
    assert "0.7 GPU-h whole run" in text
    assert "The whole run: it was evicted before half its first checkpoint interval had passed." in text
    assert "expected" not in text
    line = lines(people.member)[0]
    assert [line[f"lost_gpu_seconds{part}"] for part in ("", "_at_least", "_at_most")] == ["2400", "0", "2400"]


def test_an_unseen_eviction_in_a_list_is_dated_by_its_latest_moment(shared: World, people: People) -> None:
    shared.is_read(START)
    job = Job("gone", created=-600).admit(-500).evict(-400).release(-399).admit(-300)
    shared.see(job, now=START)
    (row,) = rows(visit(people.member, HISTORY), "Evictions")
    assert row.startswith("5 h 0 min ago or earlier gone ")


def test_a_loop_is_one_on_every_page(shared: World, people: People) -> None:
    shared.is_read(START)
    job = Job("often", gpus=4, created=-60)
    shared.see(job.admit(-50), now=minute(-50))
    for at in (-45, -35, -25):
        job.evict(at).release(at + 1).admit(at + 2)
    shared.see(job.evict(-15), now=START, last_seen=minute(-49))
    assert Eviction.objects.filter(observed=False).count() == 3
    assert "loop, 4 times" in words(visit(people.member, HISTORY))
    assert "evicted 4 times, each within an hour of the one before" in page_of("often", people.member)
    assert "1 in a loop" in words(visit(people.platform_admin, "/platform/"))


def test_what_was_held_while_stopping_is_unknown_and_not_nothing(shared: World, people: People) -> None:
    shared.is_read(START)
    job = Job("open").admit(-50)
    shared.see(job)
    shared.see(job.evict(-10))
    assert rows(visit(people.member, f"{HISTORY}?sums=job"), "Job") == ["open 1 2.7 GPU-h unknown"]
    assert "while the pods stopped: unknown" in words(visit(people.member, HISTORY))
    assert "Held while stopping charged, no work done unknown" in page_of("open", people.member)
    assert [line["stopping_gpu_seconds"] for line in lines(people.member)] == [""]


def test_wording_that_nobody_knows_is_shown_raw(shared: World, people: People) -> None:
    shared.is_read(START)
    told = "They came at night; nobody will ever know why. " * 40
    job = Job("odd", created=-600).admit(-500)
    shared.see(job)
    shared.see(job.evict(-100, "AbductedByAliens", told))
    page = page_of("odd", people.member)
    assert "The cluster names a cause that the portal does not know." in page
    assert f"Raw message from Kueue {told.strip()}" in page
    assert "AbductedByAliens" in words(visit(people.member, HISTORY))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("soon", "it is not a duration"),
        ("-5m", "it must be more than 0"),
        ("10y", "it is not a duration"),
        ("31d", "it is longer than 30 days"),
    ],
)
def test_a_bad_checkpoint_annotation_is_told_to_the_team(shared: World, people: People, text: str, why: str) -> None:
    shared.is_read(START)
    Team.objects.update(checkpoint_seconds=1800)
    job = Job("odd", gpus=16, created=-600).admit(-500)
    annotations = {"hyperpod-portal/checkpoint-interval": text}
    job.obj["spec"]["podSets"][0]["template"]["metadata"] = {"annotations": annotations}
    shared.see(job)
    shared.see(job.evict(-100))
    page = page_of("odd", people.member)
    assert f"“{text}”; that was ignored: {why}" in page
    assert "4.0 GPU-h expected, 0.0 to 8.0" in page
    assert "Save twice as often The most that an eviction can cost falls from 8.0 GPU-h to 4.0 GPU-h." in page


def test_a_checkpoint_in_the_future_is_ignored_with_a_reason(shared: World, people: People) -> None:
    shared.is_read(START)
    job = Job("odd", gpus=16, created=-600).admit(-500)
    job.obj["metadata"]["annotations"] = {"hyperpod-portal/last-checkpoint": "2027-01-01T00:00:00Z"}
    shared.see(job)
    shared.see(job.evict(-100))
    page = page_of("odd", people.member)
    assert "“2027-01-01T00:00:00Z”; that was ignored: it lies after the eviction." in page


def test_an_endpoint_loses_minutes_of_its_replicas(shared: World, people: People) -> None:
    shared.is_read(START)
    job = Job("chat", gpus=1, pods=3, created=-600).admit(-500)
    job.obj["metadata"]["ownerReferences"][0]["kind"] = "InferenceEndpointConfig"
    shared.see(job)
    shared.see(job.evict(-100))
    shared.see(job.release(-99))
    shared.see(job.admit(-60))
    assert "Not answering: 40 min × 3 replicas" in page_of("chat", people.member)


def test_the_last_week_of_a_team(past: World, people: People) -> None:
    team = visit(people.member, "/teams/research/").text
    assert f'hx-get="{WEEK}" hx-trigger="load, every 60s"' in team
    response = visit(people.member, WEEK)
    assert jobs_shown(response.text) == ["big", "loops", "dead"]
    assert "loop, 3 times" in words(response)
    assert "1.7 GPU-h 4 evictions" in words(response)
    assert "4 evictions in 7 days: see them in the history" in words(response)


def test_what_a_job_suffered_before_the_portal_is_one_row_of_the_week(shared: World, people: People) -> None:
    shared.is_read(START)
    worn, once = Job("worn", created=-300), Job("once", created=-90)
    for at in (-200, -150, -100, -50):
        worn.admit(at).evict(at + 5).release(at + 6)
    shared.see(worn.admit(-40), once.admit(-60).evict(-55).release(-54).admit(-30))
    assert Eviction.objects.filter(workload__owner_name="worn", observed=False).count() == 4
    response = visit(people.member, WEEK)
    assert sorted(jobs_shown(response.text)) == ["once", "worn"]
    assert words(response).count("4 times, unseen") == words(response).count("times, unseen") == 1
    assert history(people).count("worn") == 4


def test_a_week_without_losses(shared: World, people: People) -> None:
    assert "Nothing was lost" not in words(visit(people.member, WEEK))
    shared.is_read(START)
    assert "Nothing was lost" in words(visit(people.member, WEEK))
    assert "Nothing was evicted" in words(visit(people.member, HISTORY))


def test_an_eviction_of_another_workload_is_not_there(past: World, people: People) -> None:
    eviction = Eviction.objects.filter(workload__owner_name="theirs").get()
    mine = Eviction.objects.filter(workload__owner_name="big").get()
    address = f"/clusters/gpu-one/workloads/{mine.workload.uid}/evictions/{eviction.pk}/"
    assert visit(people.member, address).status_code == 404


def test_names_in_an_eviction_are_text_and_not_markup(shared: World, people: People) -> None:
    job = Job("odd").admit(-5)
    shared.see(job)
    shared.see(job.evict(-1, "<b>Bold</b>", "<script>alert(1)</script>"))
    eviction = Eviction.objects.get()
    for address in (HISTORY, WEEK, f"/clusters/gpu-one/workloads/{job.uid}/evictions/{eviction.pk}/"):
        text = visit(people.member, address).text
        assert "<b>Bold" not in text
        assert "<script>alert" not in text


def test_evicted_jobs_that_came_and_went_unseen_are_said_to_their_team_alone(past: World, people: People) -> None:
    for namespace, name, reason in (
        ("hyperpod-ns-research", "job-quick", names.CLUSTER_QUEUE_STOPPED),
        ("hyperpod-ns-vision", "job-of-vision", names.PREEMPTED),
    ):
        ToldEviction.objects.create(
            cluster=past.cluster,
            namespace=namespace,
            workload_uid=name,
            workload_name=name,
            reason=reason,
            at=minute(-9),
        )
    response = visit(people.member, WEEK)
    assert "Evicted, and gone before the portal saw them" in words(response)
    assert "job-quick Queue stopped" in words(response)
    assert "what they held and lost is not known" in words(response)
    assert "job-of-vision" not in response.text


def test_a_week_with_nothing_else_shows_them(shared: World, people: People) -> None:
    shared.is_read(START)
    ToldEviction.objects.create(
        cluster=shared.cluster, namespace="hyperpod-ns-research", workload_uid="u", workload_name="job-quick",
        reason="AbductedByAliens", at=minute(-9),
    )  # fmt: skip
    assert "AbductedByAliens" in words(visit(people.member, WEEK))
    ToldEviction.objects.update(at=minute(-8 * DAY))
    assert "Nothing was lost" in words(visit(people.member, WEEK))
