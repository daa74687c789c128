from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from portal.sync_runs import SyncRefused
from portal.write_path import exclusive
from teams.models import Cluster, QuotaLine, SpecVersion
from teams.sync import check_identity, line_name, live_names, write_deleted
from tests.stories import (
    G6,
    GPU,
    P5,
    cluster_queue,
    cohort,
    flavor,
    groups,
    local_queue,
    minute,
    next_version,
    priority_class,
    quota,
)
from tests.worlds import World

pytestmark = pytest.mark.django_db
Kind = SpecVersion.Kind
ACTIVE = {"conditions": [{"type": "Active", "status": "True", "reason": "Ready", "message": "ready"}]}
STOPPED = {"conditions": [{"type": "Active", "status": "False", "reason": "Stopped", "message": "stopped"}]}


def versions(name: str) -> list[SpecVersion]:
    return list(SpecVersion.objects.filter(name=name).order_by("valid_from"))


def lines(owner: str, flavor: str = P5) -> list[QuotaLine]:
    return list(QuotaLine.objects.filter(owner=owner, flavor=flavor, resource=GPU).order_by("valid_from"))


def touch_each_other(rows: Iterable[SpecVersion | QuotaLine]) -> bool:
    return all(earlier.valid_to == later.valid_from for earlier, later in pairwise(rows))


def test_a_new_queue_opens_a_version_and_its_quota_lines(world: World) -> None:
    assert world.queues(cluster_queue("research-queue", 12, borrow=4, lend=6)) == 1
    (version,), (line,) = versions("research-queue"), lines("research-queue")
    assert (version.kind, version.uid, version.deleted) == (Kind.CLUSTER_QUEUE, "uid-research-queue", False)
    assert (version.valid_from, version.valid_to) == (minute(0), None)
    assert (line.nominal, line.borrowing_limit, line.lending_limit) == (12, 4, 6)


def test_no_limit_is_not_the_limit_0(world: World) -> None:
    world.queues(cluster_queue("free"), cluster_queue("tight", borrow=0, lend=0))
    assert [(line.borrowing_limit, line.lending_limit) for line in lines("free") + lines("tight")] == [
        (None, None),
        (0, 0),
    ]


def test_an_unchanged_queue_writes_nothing(world: World) -> None:
    world.queues(cluster_queue("research-queue", 12))
    assert world.queues(cluster_queue("research-queue", 12)) == 0
    assert len(versions("research-queue")) == len(lines("research-queue")) == 1


def test_a_changed_quota_closes_one_version_and_opens_the_next_at_the_same_moment(world: World) -> None:
    world.queues(cluster_queue("research-queue", 12))
    world.now = minute(5)
    assert world.queues(cluster_queue("research-queue", 9)) == 1
    first, second = versions("research-queue")
    assert first.valid_to == second.valid_from == minute(5)
    assert [line.nominal for line in lines("research-queue")] == [12, 9]
    assert touch_each_other(lines("research-queue"))


def test_a_change_elsewhere_in_the_spec_leaves_the_quota_line_open(world: World) -> None:
    world.queues(cluster_queue("research-queue", 12))
    world.now = minute(5)
    world.queues(cluster_queue("research-queue", 12, stopPolicy="Hold"))
    assert len(versions("research-queue")) == 2
    assert [line.valid_to for line in lines("research-queue")] == [None]


def test_a_changed_condition_is_kept_without_a_new_version(world: World) -> None:
    world.queues(cluster_queue(status=ACTIVE))
    assert world.queues(cluster_queue(status=STOPPED)) == 0
    (version,) = versions("research-queue")
    assert version.status["conditions"]["Active"] == {"status": False, "reason": "Stopped", "message": "stopped"}


def test_counters_in_the_status_write_nothing(world: World) -> None:
    world.queues(cluster_queue(status={**ACTIVE, "pendingWorkloads": 1}, version=10))
    world.queues(cluster_queue(status={**ACTIVE, "pendingWorkloads": 2}, version=11))
    assert [version.resource_version for version in versions("research-queue")] == [10]


def test_an_older_look_is_skipped(world: World) -> None:
    world.queues(cluster_queue("research-queue", 9, version=20))
    assert world.queues(cluster_queue("research-queue", 12, version=19)) == 0
    assert [line.nominal for line in lines("research-queue")] == [9]


def test_a_deleted_queue_closes_its_lines_and_says_so(world: World) -> None:
    world.queues(cluster_queue("research-queue", 12))
    world.now = minute(5)
    assert world.queues_gone("research-queue") == 1
    first, second = versions("research-queue")
    assert (second.deleted, second.spec, second.valid_to) == (True, {}, None)
    assert touch_each_other([first, second])
    assert [line.valid_to for line in lines("research-queue")] == [minute(5)]
    assert live_names(world.cluster, Kind.CLUSTER_QUEUE) == set()
    assert world.queues_gone("research-queue", "never-seen") == 0


def test_a_re_created_queue_goes_on_in_the_same_line(world: World) -> None:
    world.queues(cluster_queue("research-queue", 12, uid="first"))
    world.now = minute(5)
    world.queues_gone("research-queue")
    world.now = minute(7)
    assert world.queues(cluster_queue("research-queue", 12, uid="second")) == 1
    found = versions("research-queue")
    assert [(v.uid, v.deleted) for v in found] == [("first", False), ("first", True), ("second", False)]
    assert touch_each_other(found)
    assert [(line.valid_from, line.valid_to) for line in lines("research-queue")] == [
        (minute(0), minute(5)),
        (minute(7), None),
    ]


def test_a_queue_re_created_unseen_is_a_new_version_with_the_lines_going_on(world: World) -> None:
    world.queues(cluster_queue("research-queue", 12, uid="first"))
    world.now = minute(5)
    world.queues(cluster_queue("research-queue", 12, uid="second"))
    assert [version.uid for version in versions("research-queue")] == ["first", "second"]
    assert [line.valid_to for line in lines("research-queue")] == [None]


def test_a_queue_newer_than_the_list_that_lacks_it_is_not_gone(world: World) -> None:
    list_version = next_version()
    world.queues(cluster_queue("research-queue"))
    with exclusive(world.cluster.slug):
        assert not write_deleted(world.cluster, Kind.CLUSTER_QUEUE, {"research-queue": list_version}, minute(5))
    assert live_names(world.cluster, Kind.CLUSTER_QUEUE) == {"research-queue"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {}),
        (
            {"admissionChecks": ["budget"]},
            {"admissionChecksStrategy": {"admissionChecks": [{"name": "budget"}]}},
        ),
        (
            {"flavorFungibility": {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}},
            {"flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "MayStopSearch"}},
        ),
        (
            {"flavorFungibility": {"whenCanBorrow": "TryNextFlavor"}},
            {"flavorFungibility": {"whenCanBorrow": "TryNextFlavor"}},
        ),
    ],
)
def test_either_api_version_of_one_queue_opens_no_new_version(
    world: World, old: dict[str, object], new: dict[str, object]
) -> None:
    world.queues(cluster_queue(api="v1beta1", **old))
    assert world.queues(cluster_queue(api="v1beta2", **new)) == 0
    assert world.queues(cluster_queue(api="v1beta1", **old)) == 0


def test_a_flavor_that_leaves_the_queue_ends_its_line_alone(world: World) -> None:
    both = groups((P5, {GPU: quota(12)}), (G6, {GPU: quota(4)}))
    world.queues(cluster_queue(flavors=both))
    world.now = minute(5)
    world.queues(cluster_queue(flavors=groups((P5, {GPU: quota(12)}))))
    assert [line.valid_to for line in lines("research-queue", P5)] == [None]
    assert [line.valid_to for line in lines("research-queue", G6)] == [minute(5)]


@pytest.mark.parametrize(("amount", "kept"), [("-1", -1), ("9223372036854775808", 2**63 - 1), ("-100E", -(2**63))])
def test_negative_and_overflowing_quotas_are_stored(world: World, amount: str, kept: int) -> None:
    world.queues(cluster_queue("research-queue", amount))
    assert [line.nominal for line in lines("research-queue")] == [kept]


def test_many_changes_within_one_instant_stay_contiguous(world: World) -> None:
    for gpus in (12, 9, 3, 9):
        world.queues(cluster_queue("research-queue", gpus))
    assert [line.nominal for line in lines("research-queue")] == [12, 9, 3, 9]
    assert touch_each_other(lines("research-queue"))
    assert touch_each_other(versions("research-queue"))


def test_a_portal_clock_set_back_keeps_the_line_in_order(world: World) -> None:
    world.queues(cluster_queue("research-queue", 12))
    world.now = minute(-5)
    world.queues(cluster_queue("research-queue", 9))
    first, second = lines("research-queue")
    assert first.valid_from < first.valid_to == second.valid_from


def test_every_other_kind_has_versions_but_no_quota_lines(world: World) -> None:
    records = [flavor(), local_queue("ns", "research-queue"), priority_class()]
    for record in records:
        assert world.queues(record) == 1
        assert [v.uid for v in versions(line_name(record))] == [record.uid]
    assert versions("ns/main-queue")[0].spec == {"clusterQueue": "research-queue"}
    assert versions("normal")[0].spec == {"value": 100, "description": ""}
    assert not QuotaLine.objects.exists()


def test_a_cohorts_own_quota_has_lines(world: World) -> None:
    world.queues(cohort("shared", gpus=3))
    (line,) = lines("shared")
    assert (line.owner_kind, line.nominal) == (Kind.COHORT, 3)


def test_dated_rows_hold_from_their_start_to_before_their_end(world: World) -> None:
    world.queues(cluster_queue("research-queue", 12))
    world.now = minute(5)
    world.queues(cluster_queue("research-queue", 9))

    def at(time: datetime) -> list[int]:
        return [line.nominal for line in QuotaLine.objects.all().at(time)]

    just_before = minute(5) - timedelta(microseconds=1)
    assert (at(minute(-1)), at(minute(0)), at(just_before), at(minute(5))) == ([], [12], [12], [9])
    assert [line.nominal for line in QuotaLine.objects.all().current()] == [9]


def test_the_first_read_sets_the_identity_and_another_is_refused(world: World) -> None:
    check_identity(world.cluster, "first-uid")
    check_identity(Cluster.objects.get(), "first-uid")
    with pytest.raises(SyncRefused, match="gpu-one leads to another cluster .* other-uid.* first-uid"):
        check_identity(Cluster.objects.get(), "other-uid")
    assert Cluster.objects.get().identity == "first-uid"


def test_two_processes_that_read_the_identity_first_agree_on_one(world: World) -> None:
    late = Cluster.objects.get()
    check_identity(world.cluster, "first-uid")
    with pytest.raises(SyncRefused):
        check_identity(late, "other-uid")
