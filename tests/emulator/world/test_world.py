from collections import Counter
from datetime import timedelta

import pytest

from emulator.building import TEAMS, build_cluster, dumped
from emulator.clock import Clock
from emulator.cluster import Cluster
from emulator.resources import HYPERPOD_JOBS
from scheduling import names
from scheduling.messages import Obstacle, parse_pending
from scheduling.objects import Workload
from tests.emulator.scene import START


def built(hours: float, seed: int = 1) -> Cluster:
    return build_cluster(TEAMS, seed, Clock(START, paused=True), history=timedelta(hours=hours))


@pytest.fixture(scope="module")
def world() -> Cluster:
    return built(2, seed=6)


def workloads(world: Cluster) -> list[Workload]:
    return list(world.records.workloads().values())


def test_it_is_lively_from_the_first_moment(world: Cluster) -> None:
    found = workloads(world)
    assert sum(w.is_admitted for w in found) >= 15
    assert sum(w.is_finished for w in found) >= 50
    assert len(world.records.waiting()) >= 3
    assert {w.owner.kind for w in found if w.owner} == {"HyperPodPyTorchJob", "Job", "RayJob", "Pod"}
    assert len({w.namespace for w in found if w.is_admitted}) == 4


def test_some_jobs_say_when_they_last_saved_and_whose_they_are(world: Cluster) -> None:
    told = [job["metadata"]["annotations"] for job in world.store.all(HYPERPOD_JOBS.storage)]
    assert any(names.LAST_CHECKPOINT_ANNOTATION in notes for notes in told)
    assert any(names.SUBMITTED_BY_ANNOTATION in notes for notes in told)
    assert any(not notes for notes in told)
    uids = {w.owner.uid for w in workloads(world) if w.owner and w.owner.kind == "HyperPodPyTorchJob"}
    assert {job["metadata"]["uid"] for job in world.store.all(HYPERPOD_JOBS.storage)} == uids


def test_somebody_borrows_and_somebody_was_evicted(world: Cluster) -> None:
    queues = world.records.cluster_queues().values()
    assert any(used.borrowed for queue in queues for used in queue.status.usage.values())
    evicted = [w for w in workloads(world) if w.evictions]
    assert len(evicted) >= 5
    reasons = Counter(w.conditions[names.PREEMPTED].reason for w in evicted)
    assert reasons[names.QUOTA_RESERVED] >= 3


def test_some_never_fit_for_want_of_different_resources(world: Cluster) -> None:
    binding = {
        mention.resource
        for w in workloads(world)
        if (told := w.conditions.get(names.QUOTA_RESERVED))
        for mention in parse_pending(told.message).mentions
        if mention.obstacle is Obstacle.EXCEEDS_MAXIMUM
    }
    assert {names.NVIDIA_GPU, names.CPU, names.EFA} <= binding


def test_some_come_without_a_priority_class(world: Cluster) -> None:
    assert any(not w.priority_class for w in workloads(world))


def test_nobody_uses_more_than_there_is(world: Cluster) -> None:
    used: Counter[tuple[str, str]] = Counter()
    offered: Counter[tuple[str, str]] = Counter()
    for queue in world.records.cluster_queues().values():
        for key, amount in queue.status.reservation.items():
            used[key] += amount.total
        for group in queue.groups:
            for flavor in group.flavors:
                for resource, quota in flavor.resources.items():
                    offered[flavor.name, resource] += quota.nominal
    assert all(amount <= offered[key] for key, amount in used.items())


def test_a_seed_builds_the_same_world_and_another_builds_another() -> None:
    first, same, other = built(0.5), built(0.5), built(0.5, seed=2)
    assert dumped(first) == dumped(same)
    assert [w.name for w in workloads(first)] != [w.name for w in workloads(other)]


def test_a_saved_world_goes_on_as_if_it_had_not_been_stopped() -> None:
    whole = built(0.5)
    again = build_cluster(TEAMS, 1, Clock(START, paused=True), dumped(whole))
    for world in (whole, again):
        world.step(600)
    assert stories(whole) == stories(again)


def stories(world: Cluster) -> dict[str, list[tuple[str, str, str]]]:
    return {w.name: sorted((c.type, c.reason, str(c.since)) for c in w.conditions.values()) for w in workloads(world)}


def test_it_goes_on_and_stays_small(world: Cluster) -> None:
    before = {w.uid for w in workloads(world)}
    world.step(3600)
    after = workloads(world)
    assert len({w.uid for w in after} - before) > 20
    assert len(after) < 400
    ended = [w.since(names.FINISHED) for w in after if w.is_finished]
    assert all(end is not None and world.clock.now() - end <= timedelta(hours=2) for end in ended)
