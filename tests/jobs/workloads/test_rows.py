import pytest

from jobs.lists.reach import Owner, reach_of_all, reach_of_team
from jobs.models import Workload
from jobs.workloads.rows import WorkloadRow, rows_of
from tests.stories import P5, Job, local_queue
from tests.worlds import World

pytestmark = pytest.mark.django_db


def rows(*, with_places: bool = True) -> dict[str, WorkloadRow]:
    listed = Workload.objects.select_related("cluster").order_by("-pk")
    found = rows_of(listed, reach_of_all(), with_places=with_places, with_shares=True)
    assert [row.workload.pk for row in found] == [workload.pk for workload in listed]
    return {row.workload.title: row for row in found}


def test_whose_each_is(shared: World) -> None:
    shared.see(Job("ours"), Job("theirs", "hyperpod-ns-vision"), Job("stray", "of-nobody"))
    assert {title: row.owner for title, row in rows().items()} == {
        "ours": Owner("research", "Research"), "theirs": Owner("vision", "Vision"), "stray": None,
    }  # fmt: skip


def test_what_waits_has_a_reason_and_a_place_among_all_in_its_queue(shared: World) -> None:
    shared.queues(local_queue("hyperpod-ns-vision", "research-queue"))
    shared.see(
        Job("theirs", "hyperpod-ns-vision", created=1).waits("no room"),
        Job("ours", created=2).waits("The workload is deactivated"),
        Job("runs").admit(0),
    )
    found = rows()
    assert (found["ours"].place.position, found["ours"].place.of) == (2, 2)  # type: ignore[union-attr]
    assert found["ours"].reason is not None
    assert (found["runs"].reason, found["runs"].place) == (None, None)
    assert rows(with_places=False)["ours"].place is None


def test_what_holds_quota_tells_own_and_borrowed(shared: World) -> None:
    shared.see(Job("first", gpus=10).admit(1), Job("second", gpus=6).admit(2), Job("over").admit(3).finish(4))
    found = rows()
    assert list(found["second"].gpus) == [P5]
    assert (found["second"].own, found["second"].borrowed) == (2, 4)
    assert (found["over"].gpus, found["over"].own, found["over"].borrowed) == ({}, 0, 0)
    (second,) = rows_of([found["second"].workload], reach_of_all())
    assert second.gpus == {}


def test_without_a_queue_there_is_no_place(shared: World) -> None:
    shared.see(Job("lost", queueName="unknown").waits("LocalQueue unknown doesn't exist"))
    assert rows()["lost"].place is None


def test_nothing_makes_no_rows(shared: World) -> None:
    assert rows_of([], reach_of_team("research"), with_places=True) == []
