import pytest

from jobs.ledger.eviction_loops import renew_all_loops, renew_loops
from jobs.models import Eviction, EvictionLoop
from jobs.rules.loops import Loop
from tests.stories import Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


def evicted(world: World, job: Job, *minutes: float) -> None:
    """Each time admitted five minutes before."""
    for at in minutes:
        world.see(job.admit(at - 5), now=minute(at - 4))
        world.see(job.evict(at).release(at + 1), now=minute(at + 2))


def stored(world: World, job: Job) -> list[Loop]:
    pk = world.row(job).pk
    return EvictionLoop.objects.filter(workload=pk).by_workload().get(pk, [])


def test_a_loop_is_there_with_its_third_eviction_and_grows_with_the_next(shared: World) -> None:
    job = Job()
    evicted(shared, job, 10, 60)
    assert stored(shared, job) == []
    evicted(shared, job, 100)
    assert stored(shared, job) == [Loop(3, minute(100), minute(10))]
    evicted(shared, job, 150, 400, 410, 420)
    assert stored(shared, job) == [Loop(4, minute(150), minute(10)), Loop(3, minute(420), minute(400))]


def test_loops_of_one_job_are_none_of_another(shared: World) -> None:
    one, other = Job("one"), Job("other")
    evicted(shared, one, 10, 60)
    evicted(shared, other, 90)
    assert stored(shared, one) == stored(shared, other) == []


def test_only_what_differs_is_written(shared: World) -> None:
    job = Job()
    evicted(shared, job, 10, 20, 30)
    pk = shared.row(job).pk
    [before] = EvictionLoop.objects.values_list("pk", flat=True)
    assert renew_loops({pk}) == renew_all_loops(shared.cluster) == 0
    assert EvictionLoop.objects.get().pk == before
    Eviction.objects.filter(decided_before=minute(30)).update(decided_before=minute(95), decided_after=minute(95))
    assert renew_loops({pk}) == 1
    assert not EvictionLoop.objects.exists()


def test_a_loop_goes_with_its_evictions(shared: World) -> None:
    evicted(shared, Job(), 10, 20, 30)
    Eviction.objects.filter(decided_before=minute(20)).delete()
    assert renew_loops([shared.row(Job()).pk]) == 1
    assert not EvictionLoop.objects.exists()
