import csv
import io
from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from jobs.lists.csv_text import safe
from jobs.lists.reach import reach_of_all, reach_of_team
from jobs.workloads.csv import HEADER, csv_lines
from jobs.workloads.filter import Group, WorkloadFilter
from jobs.workloads.list import narrowed, page_of
from tests.stories import P5, START, Job
from tests.worlds import World

MANY = 1001


def lines(wanted: WorkloadFilter, slug: str = "research") -> list[dict[str, str]]:
    reach = reach_of_team(slug) if slug else reach_of_all()
    text = "".join(csv_lines(narrowed(reach, wanted, START), wanted, reach))
    return list(csv.DictReader(io.StringIO(text)))


@given(st.text())
def test_no_spreadsheet_takes_a_text_for_a_formula(text: str) -> None:
    cell = str(safe(text))
    assert cell[:1] not in ("=", "+", "-", "@", "\t", "\r", "\n")
    assert cell in (text, f"'{text}")


def test_numbers_and_times_stay_what_they_are() -> None:
    assert safe(-5) == -5
    assert safe(None) == ""
    there = datetime(2026, 10, 8, 9, 0, 0, 5, tzinfo=timezone(timedelta(hours=-3)))
    assert safe(there) == "2026-10-08T12:00:00.000005+00:00"
    assert safe(datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T00:00:00+00:00"


@pytest.mark.django_db
def test_one_row_each_of_what_waits_runs_and_is_over(shared: World) -> None:
    shared.see(
        Job("waits", created=-30, priority=-3).waits("insufficient quota in \r\n=cmd()", -30),
        Job("runs", gpus=14, created=-50).admit(-20),
        Job("over", created=-90).admit(-80).finish(-15),
    )
    over, runs, waits = lines(WorkloadFilter(sort="job"))
    assert tuple(waits) == HEADER
    assert {name: waits[name] for name in ("team", "cluster", "namespace", "state", "priority", "position")} == {
        "team": "research", "cluster": "gpu-one", "namespace": "hyperpod-ns-research", "state": "queued",
        "priority": "-3", "position": "1",
    }  # fmt: skip
    assert waits["waiting_since"] == "2026-10-08T11:30:00+00:00"
    assert (waits["own_gpus"], waits["running_since"], waits["ended_at"]) == ("", "", "")
    assert (runs["flavors"], runs["own_gpus"], runs["borrowed_gpus"], runs["gpus"]) == (P5, "12", "2", "14")
    assert runs["running_since"] == "2026-10-08T11:40:00+00:00"
    assert (over["ended_at"], over["why_it_waits"]) == ("2026-10-08T11:45:00+00:00", "")


@pytest.mark.django_db
def test_all_pages_in_the_order_of_the_screen(shared: World) -> None:
    shared.see(*(Job(f"job-{n:02}", gpus=n % 7 + 1).waits("no room") for n in range(60)))
    wanted = WorkloadFilter(sort="-gpus", q="job-", group=Group.WAITING)
    found = narrowed(reach_of_team("research"), wanted, START)
    screen = [row.uid for n in (1, 2, 3) for row in page_of(found, WorkloadFilter(sort="-gpus", page=n), 60).rows]
    assert [row["uid"] for row in lines(wanted)] == screen


@pytest.mark.django_db
def test_only_the_own_teams_rows(shared: World) -> None:
    shared.see(Job("ours").waits("no room"), Job("theirs", "hyperpod-ns-vision").waits("no room"))
    assert [row["job"] for row in lines(WorkloadFilter())] == ["ours"]
    assert {row["job"]: row["team"] for row in lines(WorkloadFilter(of_all=True), "")} == {
        "ours": "research", "theirs": "vision",
    }  # fmt: skip


@pytest.mark.django_db
def test_a_list_of_nothing_has_its_header(shared: World) -> None:
    reach = reach_of_team("research")
    assert "".join(csv_lines(narrowed(reach, WorkloadFilter(), START), WorkloadFilter(), reach)) == (
        ",".join(HEADER) + "\r\n"
    )


@pytest.mark.django_db
@pytest.mark.slow
def test_long_lists_come_in_pieces(shared: World) -> None:
    shared.see(*(Job(f"job-{n:04}").waits("no room") for n in range(MANY)))
    reach = reach_of_team("research")
    pieces = csv_lines(narrowed(reach, WorkloadFilter(), START), WorkloadFilter(), reach)
    assert next(pieces).startswith("team,")
    with CaptureQueriesContext(connection) as queries:
        sizes = [piece.count("\r\n") for piece in pieces]
    assert sizes == [500, 500, 1]
    assert len(queries) <= 3 * 3
