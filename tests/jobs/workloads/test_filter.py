"""An address is anybody's text: what it says is followed, corrected or left out with a sentence."""

from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.lists.addresses import PER_PAGE, Age
from jobs.states import JobState
from jobs.workloads.filter import STATES_OF, Column, Group, WorkloadFilter, read_filter

NAMES = (
    "q",
    "group",
    "state",
    "kind",
    "priority",
    "queue",
    "cluster",
    "team",
    "created",
    "stuck",
    "sort",
    "per",
    "page",
)
KNOWN = [
    *Group.values, *JobState.values, *Column.values, *(f"-{column}" for column in Column.values), *Age.values,
    *map(str, PER_PAGE), "1", "0", "-1", "007", "9" * 40, "1.5", "１", "²", "-", "--", "", " ", "*", "%", "[", "'", '"',
]  # fmt: skip
TEXTS = st.one_of(st.sampled_from(KNOWN), st.text(max_size=300))


def told(address: str) -> dict[str, str]:
    return dict(parse_qsl(address.removeprefix("?"), strict_parsing=bool(address.removeprefix("?"))))


def read(address: str, *, of_all: bool = False) -> WorkloadFilter:
    return read_filter(told(address), of_all=of_all)[0]


def test_a_plain_address_shows_everything() -> None:
    wanted, notes = read_filter({})
    assert (wanted, notes) == (WorkloadFilter(), [])
    assert wanted.is_open
    assert wanted.states == tuple(JobState)
    assert wanted.query == "?"


def test_what_is_empty_narrows_nothing() -> None:
    assert read_filter(dict.fromkeys(NAMES, ""), of_all=True) == (WorkloadFilter(of_all=True), [])


@given(st.dictionaries(st.one_of(st.sampled_from(NAMES), st.text(max_size=60)), TEXTS, max_size=14), st.booleans())
def test_no_address_is_an_error_and_each_is_read_the_same_again(address: dict[str, str], of_all: bool) -> None:
    wanted, notes = read_filter(address, of_all=of_all)
    assert read_filter(told(wanted.query), of_all=of_all) == (wanted, [])
    assert len(notes) <= 5
    assert all(note.isprintable() and len(note) < 200 for note in notes)
    assert wanted.per in PER_PAGE
    assert wanted.page >= 1
    assert set(wanted.states) <= set(STATES_OF[wanted.group])


@given(st.dictionaries(st.sampled_from(NAMES), TEXTS), st.sampled_from(list(Column)))
def test_links_change_what_they_say_and_nothing_else(address: dict[str, str], column: Column) -> None:
    wanted, _notes = read_filter(address, of_all=True)
    once = read(wanted.sort_link(column), of_all=True)
    twice = read(once.sort_link(column), of_all=True)
    assert (once.order[0], twice.order[0]) == (column, column)
    assert once.order[1] != twice.order[1]
    assert (once.q, once.narrowing, once.per, once.page) == (wanted.q, wanted.narrowing, wanted.per, 1)
    cleared = read(wanted.cleared(), of_all=True)
    assert cleared.is_open
    assert (cleared.group, cleared.sort, cleared.per) == (wanted.group, wanted.sort, wanted.per)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("group", "everything"), ("state", "Running"), ("created", "2h"), ("sort", "owner"), ("sort", "--job"),
        ("per", "10"), ("per", "0"), ("page", "last"), ("page", "-1"), ("page", "1e3"), ("page", "１"),
        ("stuck", "yes"), ("kind", "x" * 254), ("queue", "a\nb"), ("cluster", "\u202e"),
    ],
)  # fmt: skip
def test_what_cannot_be_followed_is_left_out_and_told(name: str, text: str) -> None:
    wanted, notes = read_filter({name: text}, of_all=True)
    assert wanted == WorkloadFilter(of_all=True)
    (note,) = notes
    assert f"“{name}”" in note


def test_a_filter_that_there_is_not_is_told() -> None:
    assert read_filter({"teem": "x"})[1] == ["This list has no filter “teem”; it was left out."]


def test_a_teams_list_knows_no_filter_by_team_or_by_what_is_stuck() -> None:
    wanted, notes = read_filter({"team": "vision", "stuck": "1"})
    assert wanted == WorkloadFilter()
    assert len(notes) == 2


def test_long_and_invisible_texts_are_shortened_where_they_are_told() -> None:
    _wanted, notes = read_filter({"per": "9" * 99, "a\u202eb": "x"})
    assert notes == [
        f"“{'9' * 40}…” is nothing that “per” can be; it was left out.",
        "This list has no filter “ab”; it was left out.",
    ]


def test_a_state_brings_its_group() -> None:
    assert read("?state=queued").group == Group.WAITING
    assert read("?state=giving_back").group == Group.RUNNING
    assert read("?state=failed").group == Group.ENDED
    assert read("?state=unknown").group == Group.ALL


def test_a_group_that_does_not_fit_the_state_is_told() -> None:
    wanted, notes = read_filter({"group": "running", "state": "queued"})
    assert (wanted.group, wanted.state) == (Group.WAITING, "queued")
    assert notes == ["No job of that group is in that state; the group was left out."]
    assert read_filter({"group": "now", "state": "queued"})[1] == []


@pytest.mark.parametrize(
    ("group", "of_all", "order"),
    [
        ("waiting", False, (Column.POSITION, False)),
        ("waiting", True, (Column.SINCE, False)),
        ("running", False, (Column.SINCE, False)),
        ("running", True, (Column.SINCE, False)),
        ("ended", False, (Column.SINCE, True)),
        ("all", True, (Column.SINCE, True)),
    ],
)
def test_each_group_has_an_order_of_its_own(group: str, of_all: bool, order: tuple[Column, bool]) -> None:
    assert read(f"?group={group}", of_all=of_all).order == order


def test_a_column_is_first_sorted_by_what_people_look_for() -> None:
    plain = WorkloadFilter()
    assert plain.sort_link(Column.JOB) == "?sort=job"
    assert plain.sort_link(Column.GPUS) == "?sort=-gpus"
    assert read("?sort=-gpus").sort_link(Column.GPUS) == "?sort=gpus"


def test_another_group_forgets_page_order_and_state_but_no_filter() -> None:
    wanted = read("?state=queued&q=llm&kind=Job&per=50&page=3&sort=job")
    assert told(wanted.group_link(Group.ENDED)) == {"group": "ended", "q": "llm", "kind": "Job", "per": "50"}


def test_a_page_beyond_all_numbers_is_one_that_a_database_can_count_to() -> None:
    assert read(f"?page={'9' * 4000}").page < 2**63 // 100


@pytest.mark.parametrize(("text", "found"), [(" llm ", "llm"), ("a\u0007b\u200fc", "abc"), ("x" * 400, "x" * 253)])
def test_nothing_is_searched_for_that_nothing_can_be_called(text: str, found: str) -> None:
    assert read_filter({"q": text})[0].q == found
