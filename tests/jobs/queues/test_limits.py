"""Where a queue's own borrowing limit keeps its jobs waiting, and where what others use does."""

import pytest

from jobs.models import QueueNow
from jobs.queues.limits import NO_LIMITS, limits_of
from jobs.words.reasons import waiting_reason
from scheduling.messages import insufficient_unused, pod_set_message
from tests.pages.reading import visit, words
from tests.people import People
from tests.stories import GPU, P5, Job, cluster_queue, groups, quota
from tests.worlds import World

pytestmark = pytest.mark.django_db

NO_ROOM = pod_set_message("main", [insufficient_unused(GPU, P5, 4)])
SHORT = "Not enough is free in H100 (ml.p5.48xlarge): 4 GPUs more needed."


def told(world: World, *, borrow: int | None, runs: int, theirs: int = 0) -> tuple[str, ...]:
    """Why a job waits in a queue of 12 beside one of 8."""
    world.queues(cluster_queue("research-queue", 12, borrow))
    waits = Job("waits", gpus=6).waits(NO_ROOM)
    others = Job("theirs", "hyperpod-ns-vision", queue="vision-queue", gpus=theirs)
    world.see(Job("runs", gpus=runs).admit(0), waits, *([others.admit(0)] if theirs else []))
    row = world.row(waits)
    return waiting_reason(row, limits_of([row]).get(row.pk, NO_LIMITS)).sentences


@pytest.mark.parametrize(
    ("borrow", "runs", "most", "left"),
    [(4, 16, "16 GPUs", "0 GPUs"), (4, 14, "16 GPUs", "2 GPUs"), (0, 11, "12 GPUs", "1 GPU")],
)
def test_the_limit_is_named_where_the_lender_has_more(
    shared: World, borrow: int, runs: int, most: str, left: str
) -> None:
    named = f"The queue's own borrowing limit is in the way in H100 ({P5}): it may hold at most {most}"
    assert told(shared, borrow=borrow, runs=runs) == (SHORT, f"{named}; left of that: {left}.")


def test_one_sentence_for_all_of_a_flavor(shared: World) -> None:
    quotas = {GPU: quota(12, 4), "vpc.amazonaws.com/efa": quota(48, 16)}
    shared.queues(
        cluster_queue("research-queue", flavors=groups((P5, quotas))),
        cluster_queue("vision-queue", flavors=groups((P5, {GPU: quota(8), "vpc.amazonaws.com/efa": quota(32)}))),
    )
    asked = {GPU: "14", "vpc.amazonaws.com/efa": "56"}
    short = [insufficient_unused(GPU, P5, 4), insufficient_unused("vpc.amazonaws.com/efa", P5, 16)]
    waits = Job("waits", gpus=6).waits(pod_set_message("main", short))
    shared.see(Job("runs", requests=asked).admit(0), waits)
    row = shared.row(waits)
    assert waiting_reason(row, limits_of([row])[row.pk]).sentences[1:] == (
        f"The queue's own borrowing limit is in the way in H100 ({P5}): it may hold at most 16 GPUs and 64 EFA "
        "devices; left of that: 2 GPUs and 8 EFA devices.",
    )


@pytest.mark.parametrize(
    ("borrow", "runs", "theirs"),
    [(None, 16, 0), (7, 16, 4), (4, 12, 8)],
    ids=["no limit", "the lender uses what the limit would allow", "nothing is left to borrow"],
)
def test_it_is_not_named_where_what_others_use_is_in_the_way(
    shared: World, borrow: int | None, runs: int, theirs: int
) -> None:
    assert told(shared, borrow=borrow, runs=runs, theirs=theirs) == (SHORT,)


def test_outside_a_cohort_there_is_nothing_to_borrow(shared: World) -> None:
    shared.queues(cluster_queue("research-queue", 12, cohort=None))
    shared.see(Job("runs", gpus=12).admit(0))
    assert shared.queue_now().left_by_limit is None


def test_a_flavor_that_the_queue_lists_no_more_is_not_asked_about(shared: World) -> None:
    told(shared, borrow=4, runs=16)
    QueueNow.objects.update(listed=False)
    waits = shared.row(Job("waits"))
    assert limits_of([waits]) == {}


def test_the_pages_of_the_job_and_of_its_team_say_so(shared: World, people: People) -> None:
    told(shared, borrow=4, runs=16)
    shared.is_read()
    row = shared.row(Job("waits"))
    for address in (row.get_absolute_url(), "/teams/research/", "/teams/research/workloads/?group=waiting"):
        assert "own borrowing limit is in the way" in words(visit(people.member, address)), address
