"""The use of GPUs over time as CSV."""

import csv
import io

import pytest

from jobs.usage.chart import usage_of
from jobs.usage.csv import HEADER, csv_lines
from jobs.usage.hours import close_hours
from jobs.usage.stretches import Period, read_stretch
from portal.models import Gap
from scheduling.names import PODS_READY_TIMEOUT
from tests.jobs.usage.test_lost_facts import saving
from tests.people import People
from tests.stories import GPU, P5, Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db

_HELD = [name for name in HEADER if name.endswith("gpu_seconds") or "gpu_seconds_at" in name]


def lines(people: People, asked: str = "day") -> list[dict[str, str]]:
    text = "".join(csv_lines(usage_of(people.research, read_stretch(asked))))
    return list(csv.DictReader(io.StringIO(text)))


def close(world: World, at: float = 125) -> None:
    world.is_read(at=minute(at))
    close_hours(world.cluster, minute(at))


def test_a_row_for_each_stretch_of_each_type_in_gpu_seconds(shared: World, people: People) -> None:
    shared.see(Job("runs", gpus=14).admit(0), Job("waits", gpus=3, created=0).waits())
    Gap.objects.create(source="workloads", cluster="gpu-one", start=minute(90), end=minute(120), cause="unreachable")
    close(shared)
    found = lines(people)
    assert len(found) == 24
    first, last = found[-2:]
    assert (first["from"], first["to"]) == ("2026-10-08T12:00:00+00:00", "2026-10-08T13:00:00+00:00")
    place = ("gpu-one", "research-queue", P5, GPU, "0")
    assert tuple(first[name] for name in ("cluster", "queue", "flavor", "resource", "queue_is_shared")) == place
    assert [first[name] for name in _HELD] == [str(3600 * gpus) for gpus in (12, 2, 12, 0, 0, 3, 0, 0, 0)]
    assert [first["seconds_counted"], first["seconds_not_seen"]] == ["3600", "0"]
    assert [last["own_gpu_seconds"], last["seconds_not_seen"]] == [str(3600 * 12), "1800"]


def test_what_was_not_seen_is_empty_not_0(shared: World, people: People) -> None:
    close(shared)
    before = lines(people)[0]
    assert [before[name] for name in _HELD] == [""] * len(_HELD)
    assert [before["seconds_counted"], before["seconds_not_seen"]] == ["0", "3600"]


def test_what_was_lost_is_a_range(shared: World, people: People) -> None:
    job = saving(Job("bounded", gpus=2).admit(0), "1h")
    shared.see(job, now=minute(0))
    shared.see(job.evict(80), now=minute(80))
    close(shared)
    first, last = lines(people)[-2:]
    lost = [name for name in HEADER if name.startswith("lost")]
    assert [sum(int(row[name]) for row in (first, last)) for name in lost] == [3600, 0, 7200]


def test_what_nobody_saw_run_has_no_flavor_and_nothing_is_said_to_be_held(shared: World, people: People) -> None:
    shared.see(job := Job("flash", gpus=2).waits(), now=minute(1))
    shared.see(job.admit(10).evict(40).release(40), now=minute(41), last_seen=minute(1))
    twice = Job("twice", gpus=2).admit(0).evict(5).release(6).admit(7).evict(15, PODS_READY_TIMEOUT).release(16)
    shared.see(twice.admit(70), now=minute(75), last_seen=minute(41))
    close(shared)
    told = [row for row in lines(people) if not row["flavor"]]
    names = ("from", "own_gpu_seconds", "guaranteed_gpu_seconds", "lost_gpu_seconds", "evictions_of_unknown_cost")
    assert [[row[name] for name in names] for row in told] == [
        ["2026-10-08T12:00:00+00:00", "", "", "3600", "0"],
        ["2026-10-08T13:00:00+00:00", "", "", "", "2"],
    ]


def test_before_the_first_hour_there_is_the_header_alone(shared: World, people: People) -> None:
    text = "".join(csv_lines(usage_of(people.research, Period.YEAR)))
    assert text == ",".join(HEADER) + "\r\n"
