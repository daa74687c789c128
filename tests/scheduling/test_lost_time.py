"""What was lost belongs to the hours in which the work was done, in parts that add up."""

from hypothesis import given
from hypothesis import strategies as st

from scheduling.hour_rows import HOUR, Stretch, TeamHour
from scheduling.hours import Facts, roll_up
from scheduling.lost_time import NOTHING_LOST, Lost, LostUnknown, LostWork, lost_hours
from tests.scheduling.builders import GPU, KEY, gpus, queue
from tests.scheduling.test_hours import DAY, MINUTE, ONE, T0, A, B, era, held, losses, minute


def lost(start, end, figures, *, gpus=1, since_start=True, team=A):
    """Of so many GPUs, held from one minute to another; the figures are GPU-minutes."""
    amounts = [(gpus, minute(start), minute(end))]
    low, expected, high = (MINUTE * each for each in figures)
    work = LostWork(minute(start), minute(end), amounts, (low, expected, high), since_start)
    return Lost("a", *KEY, team, work.start, work.end, work)


def by_hour(*losses, window=DAY):
    """Of team A, in GPU-minutes and evictions, by the number of the hour."""
    hours = lost_hours(window, losses, ())[KEY]["a"]
    return {
        (hour - T0) // HOUR: (*(each // MINUTE for each in teams[A][:3]), teams[A][3])
        for hour, teams in sorted(hours.items())
        if A in teams
    }


def test_a_whole_run_is_lost_hour_by_hour():
    assert by_hour(lost(50, 130, (160, 160, 160), gpus=2)) == {
        0: (20, 20, 20, 0),
        1: (120, 120, 120, 0),
        2: (20, 20, 20, 0),
    }


def test_of_a_bounded_loss_the_expected_part_is_the_last():
    assert by_hour(lost(40, 70, (0, 15, 30), since_start=False)) == {0: (0, 5, 20, 0), 1: (0, 10, 10, 0)}


def test_an_eviction_that_nobody_saw_surely_lost_the_beginning():
    assert by_hour(lost(0, 120, (50, 85, 120))) == {0: (50, 60, 60, 0), 1: (0, 25, 60, 0)}


def test_amounts_that_changed_count_as_they_were():
    stretches = [(8, minute(0), minute(60)), (2, minute(60), minute(120))]
    work = LostWork(minute(30), minute(120), stretches, (360 * MINUTE,) * 3, True)
    assert by_hour(Lost("a", *KEY, A, work.start, work.end, work)) == {0: (240,) * 3 + (0,), 1: (120,) * 3 + (0,)}


def test_what_rounding_added_is_lost_where_the_loss_ends():
    for since_start, end in ((True, 1), (False, 0)):
        work = LostWork(minute(0), minute(120), [(1, minute(0), minute(120))], (0, 0, 2 * HOUR + 7), since_start)
        hours = lost_hours(DAY, [Lost("a", *KEY, A, work.start, work.end, work)], ())[KEY]["a"]
        assert hours[T0 + end * HOUR][A] == (0, 0, HOUR + 7, 0)
        assert hours[T0 + (1 - end) * HOUR][A] == (0, 0, HOUR, 0)


def test_each_team_loses_what_it_did_itself():
    whole = lost(0, 60, (60, 60, 60))
    parts = [whole._replace(end=minute(20)), whole._replace(team=B, start=minute(20))]
    (teams,) = lost_hours(ONE, parts, ())[KEY]["a"].values()
    assert {team: sums[0] // MINUTE for team, sums in teams.items()} == {A: 20, B: 40}


def test_a_loss_of_unknown_size_is_counted_and_not_zero():
    hours = roll_up(DAY, Facts([era(queue("a", gpus(1)))], lost_unknown=[LostUnknown("a", GPU, A, minute(60))] * 2))
    assert hours.teams == [TeamHour(T0 + HOUR, A, "a", "", GPU, 0, 0, 0, lost_unknown=2)]


def test_lost_stands_beside_what_was_used():
    facts = Facts([era(queue("a", gpus(1)))], [held("a", "1", 1, 0, 60)], lost=[lost(30, 60, (0, 15, 30))])
    assert roll_up(ONE, facts).teams == [
        TeamHour(T0, A, "a", *KEY, HOUR, 0, 0, 0, 15 * MINUTE, 30 * MINUTE, 0),
    ]


# Whatever happens


@given(st.lists(losses(), max_size=5))
def test_the_hours_of_all_time_hold_what_was_lost(known):
    window = Stretch(T0 - 2 * HOUR, T0 + 4 * HOUR)
    rows = roll_up(window, Facts([era(queue("q0", gpus(1)), start=-120)], lost=known)).teams
    sums = tuple(map(sum, zip(*((row.lost_low, row.lost_expected, row.lost_high) for row in rows), strict=True)))
    whole = [each.work.figures for each in known if each.start < each.end]
    assert (sums or (0, 0, 0)) == (tuple(map(sum, zip(*whole, strict=True))) or (0, 0, 0))
    assert all(0 <= row.lost_low <= row.lost_expected <= row.lost_high for row in rows)


@given(losses(), st.integers(-2 * HOUR, 4 * HOUR), st.integers(-2 * HOUR, 4 * HOUR))
def test_no_stretch_lost_more_than_was_held_in_it_but_for_rounding(known, one, other):
    start, end = T0 + min(one, other), T0 + max(one, other)
    before, after = known.work.done_before(start), known.work.done_before(end)
    in_use = sum(amount * max(0, min(end, b) - max(start, a)) for amount, a, b in known.work.held)
    assert all(0 <= b - a <= in_use + 1 for a, b in zip(before, after, strict=True))


def test_hours_of_nothing_lost_are_left_out():
    assert by_hour(lost(0, 180, (60, 60, 60)), window=Stretch(T0 + HOUR, T0 + 2 * HOUR)) == {}
    assert NOTHING_LOST not in by_hour(lost(0, 60, (0, 0, 0))).values()
