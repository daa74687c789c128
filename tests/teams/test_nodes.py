import pytest

from gateways.records import NodeRecord
from teams.models import NodeCapacity
from teams.sync import write_nodes
from tests.stories import GPU, P5, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


def nodes(count: int, healthy: int, instance_type: str = P5, gpus: int = 8) -> list[NodeRecord]:
    return [NodeRecord(f"node-{n}", instance_type, n < healthy, {GPU: gpus, "cpu": 96000}) for n in range(count)]


def rows() -> list[tuple[int, int, int, int]]:
    found = NodeCapacity.objects.order_by("valid_from")
    return [(c.total, c.healthy, c.accelerators, c.healthy_accelerators) for c in found]


def test_counts_and_devices_per_instance_type(world: World) -> None:
    assert write_nodes(world.cluster, nodes(4, 3) + nodes(2, 2, "", 0), minute(0)) == 2
    assert rows() == [(4, 3, 32, 24), (2, 2, 0, 0)]


def test_unchanged_counts_write_nothing(world: World) -> None:
    write_nodes(world.cluster, nodes(4, 3), minute(0))
    assert write_nodes(world.cluster, nodes(4, 3)[::-1], minute(1)) == 0
    assert NodeCapacity.objects.count() == 1


def test_a_node_in_recovery_closes_one_row_and_opens_the_next(world: World) -> None:
    write_nodes(world.cluster, nodes(4, 4), minute(0))
    assert write_nodes(world.cluster, nodes(4, 3), minute(1)) == 1
    first, second = NodeCapacity.objects.order_by("valid_from")
    assert first.valid_to == second.valid_from == minute(1)
    assert rows() == [(4, 4, 32, 32), (4, 3, 32, 24)]


def test_an_instance_type_without_nodes_counts_none(world: World) -> None:
    write_nodes(world.cluster, nodes(4, 4), minute(0))
    write_nodes(world.cluster, [], minute(1))
    assert rows()[-1] == (0, 0, 0, 0)
    assert write_nodes(world.cluster, [], minute(2)) == 0


@pytest.mark.parametrize("gpus", [-1, 2**63 - 1])
def test_impossible_device_counts_break_nothing(world: World, gpus: int) -> None:
    assert write_nodes(world.cluster, nodes(2, 1, gpus=gpus), minute(0)) == 1
    (row,) = NodeCapacity.objects.all()
    assert (row.total, row.healthy) == (2, 1)
