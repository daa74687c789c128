"""What migrations make of rows that were there before."""

from importlib import import_module
from random import Random

import pytest
from django.apps import apps

from jobs.ledger.eviction_losses import write_losses
from jobs.models import Eviction, EvictionLoop, ReopenedHours, TeamHour
from jobs.usage.hours import close_hours
from tests.jobs.sync.test_owners import Answers, answers, says
from tests.jobs.usage.test_hours import close
from tests.jobs.usage.test_lost_facts import saving
from tests.stories import Job, minute
from tests.worlds import World

__all__ = ["answers"]
pytestmark = pytest.mark.django_db

lost_hours = import_module("jobs.migrations.0007_lost_hours")
eviction_loops = import_module("jobs.migrations.0009_eviction_loops")


def test_since_when_work_was_lost_is_known_of_older_evictions(shared: World, answers: Answers) -> None:
    whole, bounded, exact, unseen, none = (Job(name, gpus=2).waits() for name in ("a", "b", "c", "d", "e"))
    saving(bounded, "7m")
    held = [job.admit(10) for job in (whole, bounded, exact, none)]
    shared.see(*held, unseen, now=minute(11))
    shared.see(*(job.evict(41).release(42) for job in (whole, bounded, exact)), now=minute(43), last_seen=minute(11))
    shared.see(none.evict(10), unseen.admit(15).evict(25).release(26), now=minute(44), last_seen=minute(12))
    says(answers, exact, saved="2026-10-08T12:30:00Z")
    answers.read(shared, minute(45))
    before = dict(Eviction.objects.values_list("workload__uid", "lost_since"))
    assert len(set(before.values())) == 5
    Eviction.objects.update(lost_since=None)
    lost_hours.fill_since(apps, None)
    assert dict(Eviction.objects.values_list("workload__uid", "lost_since")) == before
    assert write_losses(Eviction.objects.select_related("span")) == 0


def test_closed_hours_are_rolled_up_again_with_what_was_lost(shared: World) -> None:
    lost_hours.open_all_hours(apps, None)
    assert not ReopenedHours.objects.exists()
    shared.see(job := Job().admit(10), now=minute(10))
    shared.see(job.evict(100), now=minute(100))
    close(shared, 125)
    TeamHour.objects.update(lost_low=0, lost_expected=0, lost_high=0)
    lost_hours.open_all_hours(apps, None)
    assert close_hours(shared.cluster, minute(126)) == 2


def test_older_evictions_make_the_loops_that_new_ones_would(shared: World) -> None:
    rng = Random(5)
    jobs = [Job(f"job-{number}") for number in range(6)]
    at = 0.0
    for job in rng.choices(jobs, k=60):
        at += rng.uniform(6, 30)
        shared.see(job.admit(at - 5).evict(at).release(at + 1), now=minute(at + 2), last_seen=minute(at - 5))
    before = EvictionLoop.objects.all().by_workload()
    assert before
    EvictionLoop.objects.all().delete()
    eviction_loops.fill(apps, None)
    assert EvictionLoop.objects.all().by_workload() == before
