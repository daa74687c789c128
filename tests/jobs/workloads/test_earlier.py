import pytest

from jobs.workloads.earlier import of_same_job
from tests.factories import ClusterFactory
from tests.stories import Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


def run(number: int, name: str = "train", **rest: object) -> Job:
    return Job(name, uid=f"uid-{number}-{rest.get('namespace', '')}", created=-60 + number, **rest)  # type: ignore[arg-type]


def found(world: World, job: Job, most: int = 10) -> list[str]:
    return [other.uid for other in of_same_job(world.row(job), most)]


def test_the_newest_first_without_itself(world: World) -> None:
    jobs = [run(number) for number in range(4)]
    world.see(*jobs)
    assert found(world, jobs[1]) == ["uid-3-", "uid-2-", "uid-0-"]
    assert found(world, jobs[1], most=2) == ["uid-3-", "uid-2-"]


def test_those_that_are_gone_are_there(world: World) -> None:
    first, second = run(1), run(2)
    world.see(first)
    world.see_deleted(first, now=minute(-10))
    world.see(second)
    assert found(world, second) == ["uid-1-"]


def test_a_namesake_of_another_kind_namespace_or_cluster_is_another_job(world: World) -> None:
    job, kind = run(1), run(2)
    kind.obj["metadata"]["ownerReferences"][0]["kind"] = "RayJob"
    world.see(job, kind, run(3, "other"), run(4, namespace="hyperpod-ns-vision"))
    World(ClusterFactory(slug="gpu-two")).see(run(5))
    assert found(world, job) == []


def test_a_workload_without_an_owner_has_no_others(world: World) -> None:
    jobs = [run(1), run(2)]
    for job in jobs:
        del job.obj["metadata"]["ownerReferences"]
    world.see(*jobs)
    assert found(world, jobs[0]) == []
