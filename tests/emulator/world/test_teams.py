from random import Random
from typing import Any

from emulator.defaults import with_defaults
from emulator.world.hardware import G6E, INSTANCE_TYPES, P5, InstanceType, nodes
from emulator.world.teams import TEAMS, manifests
from scheduling import names
from scheduling.objects import ClusterQueue, Quota
from scheduling.parsing import parse_cluster_queue


def parsed() -> dict[str, ClusterQueue]:
    queues = [obj for plural, obj in manifests() if plural == "clusterqueues"]
    for queue in queues:
        queue["metadata"] |= {"uid": "1", "resourceVersion": "1"}
    return {queue["metadata"]["name"]: parse_cluster_queue(with_defaults(queue)) for queue in queues}


def quota(queue: ClusterQueue, instance: InstanceType, resource: str = names.NVIDIA_GPU) -> Quota:
    (group,) = queue.groups
    return next(f.resources[resource] for f in group.flavors if f.name == instance.name)


def of(team: str) -> ClusterQueue:
    return parsed()[f"hyperpod-ns-{team}-clusterqueue"]


def by_name(plural: str) -> dict[str, Any]:
    return {obj["metadata"]["name"]: obj for found, obj in manifests() if found == plural}


def test_names_and_labels_are_hyperpods() -> None:
    namespace = by_name("namespaces")["hyperpod-ns-research"]
    assert namespace["metadata"]["labels"] == {
        "sagemaker.amazonaws.com/sagemaker-managed-queue": "true",
        "sagemaker.amazonaws.com/quota-allocation-id": "research",
        "sagemaker.amazonaws.com/activate-quota": "Enabled",
    }
    local = by_name("localqueues")["hyperpod-ns-research-localqueue"]
    assert local["metadata"]["namespace"] == "hyperpod-ns-research"
    assert local["spec"]["clusterQueue"] == "hyperpod-ns-research-clusterqueue"
    assert names.is_idle_queue("hyperpod-ns-idle-resource-sharing-cq-1")
    assert set(by_name("workloadpriorityclasses")) == {f"{n}-priority" for n in ("inference", "training", "experiment")}


def test_four_teams_share_one_cohort() -> None:
    assert [team.name for team in TEAMS] == ["research", "language", "vision", "serving"]
    assert {queue.cohort for queue in parsed().values()} == {"hyperpod"}


def test_a_quota_counts_whole_nodes() -> None:
    assert [quota(of("research"), P5, r).nominal for r in (names.NVIDIA_GPU, names.CPU, names.EFA)] == [
        48,
        6 * 192_000,
        192,
    ]
    assert quota(of("vision"), G6E, names.MEMORY).nominal == 3 * 384 * 2**30


def test_no_limit_a_limit_and_limit_zero() -> None:
    limits = [quota(of(team), P5).borrowing_limit for team in ("language", "research", "vision", "serving")]
    assert limits == [None, 48, 8, 0]


def test_serving_keeps_a_part_to_itself() -> None:
    assert quota(of("serving"), G6E).lending_limit == 16
    assert quota(of("research"), G6E).lending_limit is None


def test_quotas_and_idle_pool_are_what_healthy_nodes_offer() -> None:
    for instance in INSTANCE_TYPES:
        promised = sum(quota(queue, instance).nominal for queue in parsed().values())
        assert promised == instance.gpus * (instance.nodes - instance.sick)
    idle = parsed()["hyperpod-ns-idle-resource-sharing-cq-1"]
    assert quota(idle, P5).nominal == 8
    assert idle.spec.get("namespaceSelector") is None


def test_nodes_are_labelled_and_one_is_sick() -> None:
    found = nodes(Random(1))
    assert len({node["metadata"]["name"] for node in found}) == 28
    sick = [n for n in found if n["metadata"]["labels"][names.NODE_HEALTH_LABEL] != names.NODE_SCHEDULABLE]
    assert len(sick) == 1
    assert sick[0]["metadata"]["labels"][names.INSTANCE_TYPE_LABEL] == "ml.p5.48xlarge"
    assert sick[0]["spec"]["taints"][0]["effect"] == "NoSchedule"
    assert found[-1]["status"]["allocatable"]["nvidia.com/gpu"] == "4"
    assert nodes(Random(1)) == found != nodes(Random(2))
