from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs.lists.addresses import NONE, PER_PAGE
from jobs.lists.paging import Page
from jobs.lists.reach import Reach, reach_of_all, reach_of_person, reach_of_team
from jobs.models import Workload
from jobs.states import JobState
from jobs.workloads.filter import Column, Group, WorkloadFilter
from jobs.workloads.list import Tally, narrowed, options_of, page_of, tally
from teams.models import NamespaceBinding
from tests.factories import ClusterFactory
from tests.people import People
from tests.remembered import Remembered
from tests.stories import START, Job, local_queue, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def elsewhere(shared: World, people: People) -> World:
    """A second cluster in which research has a namespace."""
    other = World(ClusterFactory(slug="gpu-two", name="GPU two"))
    other.queues(local_queue("ns-there", "there"))
    other.bind(people.research, "ns-there")
    return other


def see_many(shared: World, elsewhere: World) -> datetime:
    """One of every kind of workload that lists tell apart; returns when the last was seen."""
    no_class = Job("no-class", created=-3).waits("no room", -3)
    no_class.obj["spec"].pop("priorityClassRef")
    ray = Job("ray-tune", gpus=8, created=-300, priority=7, queueName="second").admit(-200)
    ray.obj["metadata"]["ownerReferences"][0]["kind"] = "RayJob"
    stuck = Job("stuck", gpus=1, created=-50).admit(-40).evict(-30)
    shared.see(
        no_class,
        ray,
        stuck,
        Job("done", created=-9000).admit(-8000).finish(-7000),
        Job("theirs", "hyperpod-ns-vision", queue="vision-queue", created=-20).waits("no room", -20),
        Job("stray", "of-nobody", created=-10).waits("no room", -10),
    )
    elsewhere.see(Job("there", "ns-there", created=-15).waits("no room", -15))
    gone = Job("gone", created=-80).admit(-70)
    shared.see(gone)
    shared.lose(gone, now=minute(-60), after=minute(-61))
    return shared.now


_see_many = Remembered(see_many)


@pytest.fixture
def many(shared: World, elsewhere: World) -> World:
    shared.now = _see_many(shared, elsewhere)
    return shared


def titles(reach: Reach, now: Any = START, **wanted: Any) -> list[str]:
    return sorted(w.title for w in narrowed(reach, WorkloadFilter(**wanted, of_all=reach.is_everything), now))


EVERY = ["done", "gone", "no-class", "ray-tune", "stray", "stuck", "theirs", "there"]


def test_a_team_reaches_its_namespaces_in_every_cluster(many: World) -> None:
    assert titles(reach_of_team("research")) == ["done", "gone", "no-class", "ray-tune", "stuck", "there"]
    assert titles(reach_of_team("vision")) == ["theirs"]
    assert titles(reach_of_team("unknown")) == []


def test_all_reaches_also_what_no_team_owns(many: World) -> None:
    assert titles(reach_of_all()) == EVERY


def test_a_person_reaches_what_is_theirs(many: World, people: People) -> None:
    assert titles(reach_of_person(people.neighbour)) == ["theirs"]
    assert titles(reach_of_person(people.stranger)) == []
    assert titles(reach_of_person(people.finops)) == EVERY


def test_a_namespace_that_was_given_away_is_no_longer_reached(many: World) -> None:
    NamespaceBinding.objects.filter(namespace="hyperpod-ns-research").update(valid_to=minute(1))
    assert titles(reach_of_team("research")) == ["there"]


def test_an_archived_cluster_is_out_of_reach(many: World, elsewhere: World) -> None:
    elsewhere.cluster.archived_at = START
    elsewhere.cluster.save()
    assert "there" not in titles(reach_of_all())
    assert "there" not in titles(reach_of_team("research"))
    assert [cluster.slug for cluster in reach_of_all().clusters] == ["gpu-one"]


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        ({"kind": "RayJob"}, ["ray-tune"]),
        ({"priority": NONE}, ["no-class"]),
        ({"queue": "second"}, ["ray-tune"]),
        ({"cluster": "gpu-two"}, ["there"]),
        ({"cluster": "unknown"}, []),
        ({"team": "vision"}, ["theirs"]),
        ({"team": NONE}, ["stray"]),
        ({"team": "unknown"}, []),
        ({"stuck": True}, ["stuck"]),
        ({"created": "1h"}, ["no-class", "stray", "stuck", "theirs", "there"]),
        ({"created": "24h"}, ["gone", "no-class", "ray-tune", "stray", "stuck", "theirs", "there"]),
        ({"created": "30d"}, EVERY),
        ({"q": "ray"}, ["ray-tune"]),
        ({"q": "tune"}, []),
        ({"q": "pytorchjob-th"}, ["theirs", "there"]),
        ({"q": "uid-hyperpod-ns-vis"}, ["theirs"]),
        ({"q": "st", "kind": "PyTorchJob"}, ["stray", "stuck"]),
        ({"q": "%"}, []),
        ({"q": "_tray"}, []),
        ({"q": "*"}, []),
        ({"q": "[st]"}, []),
        ({"q": "?"}, []),
    ],
)
def test_what_each_filter_leaves_of_all(many: World, wanted: dict[str, Any], left: list[str]) -> None:
    assert titles(reach_of_all(), **wanted) == left


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        ({"q": "tune"}, ["ray-tune"]),
        ({"q": "TUNE"}, ["ray-tune"]),
        ({"q": "torchjob-no"}, ["no-class"]),
        ({"q": "uid-ns-there"}, ["there"]),
        ({"q": "ns-there"}, []),
        ({"q": "theirs"}, []),
        ({"q": "%"}, []),
        ({"q": "'"}, []),
        ({"queue": "main-queue", "created": "1h"}, ["no-class", "stuck", "there"]),
    ],
)
def test_what_each_filter_leaves_of_a_teams(many: World, wanted: dict[str, Any], left: list[str]) -> None:
    assert titles(reach_of_team("research"), **wanted) == left


def test_what_is_stuck_now_was_not_when_its_eviction_was_decided(many: World) -> None:
    assert titles(reach_of_all(), now=minute(-25), stuck=True) == []


def test_total_counters_and_groups_come_from_one_count(many: World) -> None:
    counts = tally(narrowed(reach_of_team("research"), WorkloadFilter(), START))
    assert counts.groups == {Group.ALL: 6, Group.NOW: 4, Group.WAITING: 2, Group.RUNNING: 2, Group.ENDED: 2}
    assert counts.of_wanted(WorkloadFilter(group=Group.RUNNING)) == 2
    assert counts.of_wanted(WorkloadFilter(group=Group.RUNNING, state=JobState.GIVING_BACK)) == 1
    giving_back = WorkloadFilter(group=Group.RUNNING, state=JobState.GIVING_BACK)
    assert dict(counts.tabs(giving_back)) == {**counts.groups, Group.RUNNING: 1}
    assert dict(counts.tabs(WorkloadFilter(group=Group.RUNNING))) == counts.groups
    assert tally(narrowed(reach_of_team("unknown"), WorkloadFilter(), START)).groups == dict.fromkeys(Group, 0)


def test_a_state_of_a_later_release_counts_among_all() -> None:
    counts = Tally({"running": 1, "levitating": 2})
    assert (counts.groups[Group.ALL], counts.groups[Group.NOW]) == (3, 1)


def page(wanted: WorkloadFilter, reach: Reach) -> Page:
    found = narrowed(reach, wanted, START)
    return page_of(found, wanted, tally(found).of_wanted(wanted))


def in_order(sort: str, **wanted: Any) -> list[str]:
    return [w.title for w in page(WorkloadFilter(sort=sort, **wanted), reach_of_team("research")).rows]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("job", ["done", "gone", "no-class", "ray-tune", "stuck", "there"]),
        ("-job", ["there", "stuck", "ray-tune", "no-class", "gone", "done"]),
        ("created", ["done", "ray-tune", "gone", "stuck", "there", "no-class"]),
        ("since", ["done", "ray-tune", "gone", "stuck", "there", "no-class"]),
    ],
)
def test_each_order(many: World, sort: str, order: list[str]) -> None:
    assert in_order(sort) == order


def test_orders_by_what_few_differ_in(many: World) -> None:
    assert in_order("-gpus")[0] == "ray-tune"
    assert in_order("gpus")[0] == "stuck"
    assert in_order("-priority")[0] == "ray-tune"
    assert in_order("cluster")[-1] == "there"
    assert in_order("namespace")[-1] == "there"
    assert [in_order("state")[0], in_order("-state")[0]] == ["no-class", "gone"]


def test_the_line_comes_first_in_its_own_order(shared: World) -> None:
    shared.see(
        Job("late", created=2).waits("no room"),
        Job("early", created=1).waits("no room"),
        Job("urgent", created=9, priority=10).waits("no room"),
        Job("paused", created=0).waits("no room").deactivate(),
    )
    assert in_order("position") == ["urgent", "early", "late", "paused"]
    assert in_order("-position") == ["paused", "late", "early", "urgent"]


def test_pages_hold_every_row_once_whatever_the_order(shared: World) -> None:
    shared.see(*(Job(f"job-{n:03}").waits("no room") for n in range(60)))
    for column in Column:
        for sign in ("", "-"):
            pages = [page(WorkloadFilter(sort=f"{sign}{column}", page=n), reach_of_team("research")) for n in (1, 2, 3)]
            assert [(p.number, p.pages, p.total, p.first, p.last) for p in pages] == [
                (1, 3, 60, 1, 25), (2, 3, 60, 26, 50), (3, 3, 60, 51, 60),
            ]  # fmt: skip
            assert len({w.pk for p in pages for w in p.rows}) == 60


def test_beyond_the_last_page_is_the_last(shared: World) -> None:
    shared.see(*(Job(f"job-{n:03}").waits("no room") for n in range(26)))
    last = page(WorkloadFilter(page=10**12 - 1), reach_of_team("research"))
    assert (last.number, last.pages, last.first, last.last) == (2, 2, 26, 26)


def test_an_empty_list_is_one_page_of_nothing(shared: World) -> None:
    assert page(WorkloadFilter(), reach_of_team("research")) == Page([], 1, 1, 0, 0)
    assert page(WorkloadFilter(), reach_of_team("research")).last == 0


def test_what_there_is_to_choose_from(many: World) -> None:
    options = options_of(reach_of_team("research"))
    assert options.kinds == ["PyTorchJob", "RayJob"]
    assert options.priority_classes == ["normal"]
    assert options.queues == ["main-queue", "second"]
    assert options_of(reach_of_team("vision")).kinds == ["PyTorchJob"]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "q": st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20),
            "group": st.sampled_from(list(Group)),
            "kind": st.sampled_from(["RayJob", "x", NONE]),
            "priority": st.sampled_from(["normal", NONE]),
            "team": st.sampled_from(["research", "vision", NONE, "x"]),
            "cluster": st.sampled_from(["gpu-one", "gpu-two", "x"]),
            "created": st.sampled_from(["1h", "7d"]),
            "stuck": st.booleans(),
            "sort": st.sampled_from([f"{sign}{column}" for column in Column for sign in ("", "-")]),
            "per": st.sampled_from(PER_PAGE),
            "page": st.integers(1, 10**12 - 1),
        },
    )
)
def test_any_filter_counts_what_it_shows(many: World, wanted: dict[str, Any]) -> None:
    shown = page(WorkloadFilter(**wanted, of_all=True), reach_of_all())
    assert shown.total == len(shown.rows)  # all on the first page


def test_the_length_of_a_list_is_not_read_into_memory(shared: World, django_assert_num_queries: Any) -> None:
    shared.see(*(Job(f"job-{n:03}").waits("no room") for n in range(30)))
    found = narrowed(reach_of_team("research"), WorkloadFilter(), START)
    with django_assert_num_queries(1):
        rows = page_of(found, WorkloadFilter(), 30).rows
        assert [row.cluster.slug for row in rows] == ["gpu-one"] * 25


def test_since_an_hour_is_exact(shared: World) -> None:
    shared.see(Job("edge", created=-60).waits("no room"))
    assert Workload.objects.get().created_at == START - timedelta(hours=1)
    assert titles(reach_of_team("research"), created="1h") == ["edge"]
    assert titles(reach_of_team("research"), now=START + timedelta(seconds=1), created="1h") == []


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        ({}, "workload_by_state"),
        ({"kind": "Job"}, "workload_by_since"),
        ({"queue": "main-queue"}, "workload_by_since"),
        ({"created": "1h"}, "COVERING INDEX workload_by_"),
        ({"team": NONE}, "COVERING INDEX workload_by_"),
        ({"team": "research"}, "workload_by_namespace"),
    ],
)
def test_counting_reads_no_rows_of_others_one_by_one(shared: World, wanted: dict[str, Any], index: str) -> None:
    with CaptureQueriesContext(connection) as queries:
        tally(narrowed(reach_of_all(), WorkloadFilter(**wanted, of_all=True), START))
    if connection.vendor == "sqlite":
        (plan, *_) = plan_of(queries.captured_queries[-1]["sql"])
        assert index in plan
        assert "COVERING" in plan or index == "workload_by_namespace"


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        ({}, "workload_by_since"),
        ({"group": Group.WAITING}, "workload_by_state"),
        ({"group": Group.RUNNING}, "workload_by_state"),
        ({"group": Group.ENDED}, "workload_by_since"),
        ({"group": Group.ENDED, "sort": "job"}, "workload_by_since"),
        ({"group": Group.ENDED, "state": "failed", "sort": "-gpus"}, "workload_by_since"),
    ],
)
def test_a_page_is_cut_along_an_index_that_holds_all_it_needs(
    shared: World, wanted: dict[str, Any], index: str
) -> None:
    shared.see(Job().waits("no room"))
    asked = WorkloadFilter(**wanted, of_all=True)
    with CaptureQueriesContext(connection) as queries:
        page_of(narrowed(reach_of_all(), asked, START), asked, 1)
    if connection.vendor == "sqlite":
        plan = plan_of(queries.captured_queries[-1]["sql"])
        assert any(f"COVERING INDEX {index}" in step for step in plan), plan


def plan_of(sql: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        return [row[3] for row in cursor.fetchall()]
