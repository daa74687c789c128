"""What an eviction cost, where the cluster's times cannot be."""

import pytest
from django.core.management import call_command

from jobs.models import ClosedHours, Eviction, ReopenedHours
from tests.pages.reading import visit
from tests.people import People
from tests.stories import START, Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

TEN_YEARS = 10 * 365 * 24 * 60


@pytest.fixture
def ahead(shared: World) -> Job:
    """Decided in ten years, released after six minutes."""
    shared.is_read(minute(9))
    job = Job(gpus=4).admit(0)
    shared.see(job, now=minute(1))
    shared.see(job.evict(TEN_YEARS), now=minute(5))
    shared.see(job.release(6), now=minute(7))
    return job


def test_no_work_was_done_after_the_quota_came_back(ahead: Job) -> None:
    eviction = Eviction.objects.get()
    assert eviction.decided_before == minute(TEN_YEARS)
    assert (eviction.gpus, eviction.lost_low, eviction.lost_high, eviction.stopping) == (4, 4 * 360, 4 * 360, 0)
    assert eviction.lost_since == START
    call_command("check_ledger")


def test_with_checkpoints_the_last_interval_before_the_release(shared: World) -> None:
    job = Job(gpus=4).admit(0)
    template = job.obj["spec"]["podSets"][0]["template"]
    template["metadata"] = {"annotations": {"hyperpod-portal/checkpoint-interval": "2m"}}
    shared.see(job, now=minute(1))
    shared.see(job.evict(TEN_YEARS), now=minute(5))
    shared.see(job.release(6), now=minute(7))
    eviction = Eviction.objects.get()
    assert (eviction.lost_low, eviction.lost_expected, eviction.lost_high) == (0, 4 * 60, 4 * 120)
    assert eviction.lost_since == minute(4)


def test_hours_that_are_closed_open_again_as_far_as_they_are(shared: World) -> None:
    ClosedHours.objects.create(cluster=shared.cluster, begun_at=START, until=minute(120))
    job = Job(gpus=4).admit(0)
    shared.see(job, now=minute(1))
    ReopenedHours.objects.all().delete()
    shared.see(job.evict(TEN_YEARS), now=minute(121))
    assert {(each.start, each.end) for each in ReopenedHours.objects.all()} == {(START, minute(120))}


def test_pages_show_it_as_it_was_told(ahead: Job, people: People) -> None:
    eviction = Eviction.objects.get()
    workload = eviction.workload.get_absolute_url()
    for address in (
        workload, f"{workload}evictions/{eviction.pk}/", "/teams/research/evictions/", "/teams/research/evictions.csv",
        "/teams/research/lost/", "/teams/research/usage/",
    ):  # fmt: skip
        assert visit(people.member, address).status_code == 200
