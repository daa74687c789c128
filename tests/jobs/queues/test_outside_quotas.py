import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from gateways.records import NodeRecord
from jobs.queues.outside_quotas import outside_quotas
from jobs.sync.listings import Kind
from scheduling import names
from teams.queues import current_queues
from teams.sync import write_nodes
from tests.factories import ClusterFactory
from tests.stories import G6, GPU, P5, Job, cluster_queue, cohort, flavor, groups, minute, quota
from tests.worlds import World

pytestmark = pytest.mark.django_db


def nodes(world: World, healthy: int, sick: int = 0, instance_type: str = P5, at: float = 0) -> None:
    count = healthy + sick
    records = [NodeRecord(f"{instance_type}-{n}", instance_type, n < healthy, {GPU: 8}) for n in range(count)]
    write_nodes(world.cluster, records, minute(at))


def outside(world: World) -> dict[str, int]:
    return outside_quotas(current_queues(world.cluster))


def selecting(name: str, instance_type: str) -> object:
    return flavor(name, nodeLabels={names.INSTANCE_TYPE_LABEL: instance_type})


def test_what_quotas_leave_of_the_healthy_nodes(shared: World) -> None:
    """Research has 12 and vision 8."""
    nodes(shared, healthy=3)
    assert outside(shared) == {P5: 4}


@pytest.mark.parametrize(("healthy", "sick"), [(2, 0), (2, 2), (0, 4)])
def test_promised_to_the_last_or_more_than_there_is_leaves_nothing(shared: World, healthy: int, sick: int) -> None:
    nodes(shared, healthy, sick)
    assert outside(shared) == {}


def test_nodes_in_recovery_are_not_idle(shared: World) -> None:
    nodes(shared, healthy=3, sick=5)
    assert outside(shared) == {P5: 4}


def test_what_runs_changes_nothing(shared: World) -> None:
    nodes(shared, healthy=3)
    shared.see(Job(gpus=12).admit(1))
    assert outside(shared) == {P5: 4}


def test_a_cohort_s_own_quota_counts(shared: World) -> None:
    nodes(shared, healthy=3)
    shared.queues(cohort(gpus=3))
    assert outside(shared) == {P5: 1}


def test_flavors_of_one_instance_type_share_its_nodes(shared: World) -> None:
    nodes(shared, healthy=3)
    shared.queues(
        selecting("reserved", P5),  # type: ignore[arg-type]
        selecting("spot", P5),  # type: ignore[arg-type]
        cluster_queue("research-queue", flavors=groups(("reserved", {GPU: quota(6)}), ("spot", {GPU: quota(7)}))),
    )
    assert current_queues(shared.cluster).instance_type_of == {"reserved": P5, "spot": P5}
    assert outside(shared) == {P5: 24 - 6 - 7 - 8}


def test_a_flavor_without_such_a_label_is_taken_by_its_name(shared: World) -> None:
    nodes(shared, healthy=3)
    shared.queues(flavor(P5), flavor("any", nodeLabels=None))
    assert current_queues(shared.cluster).instance_type_of == {P5: P5, "any": "any"}
    assert outside(shared) == {P5: 4}


def test_types_that_no_quota_names_are_nobody_s_to_ask_for(shared: World) -> None:
    nodes(shared, healthy=9, instance_type=G6)
    assert outside(shared) == {}


def test_types_are_never_summed(shared: World) -> None:
    shared.queues(cluster_queue("research-queue", flavors=groups((P5, {GPU: quota(12)}), (G6, {GPU: quota(4)}))))
    records = [NodeRecord(f"n-{n}", kind, True, {GPU: 8}) for n, kind in enumerate([P5, P5, P5, G6, G6])]
    write_nodes(shared.cluster, records, minute(0))
    assert outside(shared) == {P5: 4, G6: 12}


def test_other_resources_are_no_gpus(shared: World) -> None:
    nodes(shared, healthy=1)
    for name in ("research-queue", "vision-queue"):
        shared.queues(cluster_queue(name, flavors=groups((P5, {"cpu": quota(4)}))))
    assert outside(shared) == {}


def test_a_queue_that_is_gone_gives_its_quota_up(shared: World) -> None:
    nodes(shared, healthy=3)
    shared.now = minute(1)
    shared.queues_gone("vision-queue", kind=Kind.CLUSTER_QUEUE)
    assert outside(shared) == {P5: 12}


def test_only_what_holds_now_counts(shared: World) -> None:
    nodes(shared, healthy=3)
    nodes(shared, healthy=2, sick=1, at=1)
    assert outside(shared) == {}
    shared.now = minute(2)
    shared.queues(cluster_queue("vision-queue", 3))
    assert outside(shared) == {P5: 1}


def test_clusters_are_apart_and_without_nodes_nothing_is_known(shared: World) -> None:
    other = World(ClusterFactory(slug="gpu-two", name="GPU two"))
    nodes(other, healthy=9)
    assert outside(shared) == outside(other) == {}


def test_no_query_once_the_queues_are_known(shared: World) -> None:
    nodes(shared, healthy=3)
    queues = current_queues(shared.cluster)
    with CaptureQueriesContext(connection) as queries:
        assert outside_quotas(queues) == {P5: 4}
    assert len(queries) == 0
