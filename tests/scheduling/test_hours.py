"""Usage over time: every sum of an hour is exact, and what was not seen is said."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.accounting import Hold, split_own_and_borrowed
from scheduling.cohort import figures
from scheduling.hour_rows import (
    HOUR,
    Claim,
    Era,
    Held,
    PendingHour,
    PerhapsHeld,
    QueueHour,
    Stretch,
    TeamHour,
    Waited,
)
from scheduling.hours import Facts, roll_up
from scheduling.lost_time import Lost, LostUnknown, LostWork
from tests.scheduling.builders import GPU, KEY, P5, cohort, gpus, groups, queue, quota

T0 = 490_000 * HOUR
MINUTE = HOUR // 60
DAY = Stretch(T0, T0 + 24 * HOUR)
ONE = Stretch(T0, T0 + HOUR)
A, B = 1, 2


def minute(number):
    return T0 + number * MINUTE


def held(name, uid, amount, start, end, team=A, reserved=None, key=KEY):
    """A hold between two minutes."""
    since = datetime(2026, 10, 1, tzinfo=UTC) + timedelta(minutes=start if reserved is None else reserved)
    return Held(name, *key, team, uid, since, amount, minute(start), minute(end))


def era(*queues, start=0, end=24 * 60, cohorts=()):
    return Era(minute(start), minute(end), queues, cohorts)


def queue_hours(hours):
    return {(row.hour, row.cluster_queue): row for row in hours.queues}


def test_a_job_runs_on_own_quota_first_and_what_it_borrows_is_lent_by_the_other_queue():
    eras = [era(queue("a", gpus(6)), queue("b", gpus(5)))]
    spans = [held("a", "1", 2, 0, 60), held("b", "2", 4, 0, 60, team=B), held("b", "3", 4, 0, 60, team=B)]
    hours = roll_up(ONE, Facts(eras, spans))
    assert sorted(hours.queues) == [
        QueueHour(T0, "a", *KEY, 6 * HOUR, 2 * HOUR, 0, 3 * HOUR, 3 * HOUR, 0),
        QueueHour(T0, "b", *KEY, 5 * HOUR, 8 * HOUR, 3 * HOUR, 0, 0, 0),
    ]
    assert sorted(hours.teams) == [
        TeamHour(T0, A, "a", *KEY, 2 * HOUR, 0, 0),
        TeamHour(T0, B, "b", *KEY, 5 * HOUR, 3 * HOUR, 0),
    ]


def test_a_hold_counts_in_each_hour_for_as_long_as_it_lasted_there():
    hours = roll_up(DAY, Facts([era(queue("a", gpus(0)), start=0)], [held("a", "1", 3, 50, 130)]))
    assert [(row.hour, row.used) for row in sorted(hours.queues)] == [
        (T0, 3 * 10 * MINUTE),
        (T0 + HOUR, 3 * HOUR),
        (T0 + 2 * HOUR, 3 * 10 * MINUTE),
    ]


def test_a_quota_that_is_cut_within_the_hour_counts_to_the_microsecond():
    cut = 20 * MINUTE + 1
    eras = [
        Era(T0, T0 + cut, [queue("a", gpus(8)), queue("b", gpus(8))], ()),
        Era(T0 + cut, T0 + HOUR, [queue("a", gpus(2)), queue("b", gpus(8))], ()),
    ]
    hours = roll_up(ONE, Facts(eras, [held("a", "1", 6, 0, 60)]))
    row = queue_hours(hours)[T0, "a"]
    assert row.guaranteed == 8 * cut + 2 * (HOUR - cut)
    assert (row.used, row.borrowed) == (6 * HOUR, 4 * (HOUR - cut))
    assert hours.teams == [TeamHour(T0, A, "a", *KEY, 6 * HOUR - row.borrowed, row.borrowed, 0)]


def test_whoever_reserved_first_runs_on_own_quota():
    spans = [
        held("a", "late", 4, 0, 60, team=B, reserved=5),
        held("a", "early", 4, 0, 30, team=A, reserved=1),
    ]
    hours = roll_up(ONE, Facts([era(queue("a", gpus(4)), queue("b", gpus(9)))], spans))
    assert {row.team: (row.own, row.borrowed) for row in hours.teams} == {A: (2 * HOUR, 0), B: (2 * HOUR, 2 * HOUR)}


def test_outside_a_cohort_nothing_is_borrowed_or_lent():
    eras = [era(queue("a", gpus(2), None), queue("b", gpus(5), None))]
    row = queue_hours(roll_up(ONE, Facts(eras, [held("a", "1", 4, 0, 60)])))[T0, "a"]
    assert (row.used, row.borrowed, row.lent_low, row.lent_high) == (4 * HOUR, 0, 0, 0)


def test_what_a_queue_that_is_gone_still_holds_is_used_and_not_borrowed():
    eras = [era(queue("a", gpus(4)), queue("b", gpus(4)), end=30), era(queue("b", gpus(4)), start=30)]
    row = queue_hours(roll_up(ONE, Facts(eras, [held("a", "1", 6, 0, 60)])))[T0, "a"]
    assert (row.guaranteed, row.used, row.borrowed) == (2 * HOUR, 6 * HOUR, 1 * HOUR)


def test_two_possible_lenders_leave_a_range():
    eras = [era(queue("a", gpus(4)), queue("b", gpus(6)), queue("c", gpus(0)))]
    rows = queue_hours(roll_up(ONE, Facts(eras, [held("c", "1", 5, 0, 30)])))
    assert [(rows[T0, name].lent_low, rows[T0, name].lent_high) for name in "ab"] == [
        (0, 2 * HOUR),
        (HOUR // 2, 5 * HOUR // 2),
    ]


def test_in_a_tree_with_more_in_use_than_there_is_only_idle_quota_bounds_what_is_lent():
    eras = [era(queue("a", gpus(4)), queue("c", gpus(0)))]
    row = queue_hours(roll_up(ONE, Facts(eras, [held("c", "1", 5, 0, 60), held("a", "2", 1, 0, 60)])))[T0, "a"]
    assert (row.lent_low, row.lent_high) == (0, 3 * HOUR)


def test_in_a_cycle_of_cohorts_only_idle_quota_bounds_what_is_lent():
    cohorts = [cohort("x", parent="y"), cohort("y", parent="x")]
    eras = [era(queue("a", gpus(4), "x"), queue("b", gpus(0), "y"), cohorts=cohorts)]
    rows = queue_hours(roll_up(ONE, Facts(eras, [held("a", "1", 1, 0, 60), held("b", "2", 2, 0, 60)])))
    assert (rows[T0, "a"].lent_low, rows[T0, "a"].lent_high) == (0, 3 * HOUR)
    assert rows[T0, "b"].borrowed == 2 * HOUR


def test_only_accelerators_count():
    eras = [era(queue("a", groups((P5, {"cpu": quota(64), GPU: quota(8)}))))]
    hours = roll_up(ONE, Facts(eras, [held("a", "1", 4000, 0, 60, key=(P5, "cpu"))]))
    assert {row.resource for row in [*hours.queues, *hours.teams]} == {GPU}


def test_an_hour_of_nothing_that_was_seen_whole_is_left_out():
    facts = Facts([era(queue("a", gpus(0)))], [held("a", "1", 1, 60, 70)])
    assert [row.hour for row in roll_up(DAY, facts).queues] == [T0 + HOUR]


def test_an_hour_of_nothing_that_was_not_seen_whole_is_kept_for_whoever_could_have_used_it():
    facts = Facts(
        [era(queue("a", gpus(0)))],
        claims=[Claim(A, "a", minute(0), minute(70)), Claim(B, "a", minute(100), minute(999))],
        gaps=[(minute(50), minute(75)), (minute(70), minute(80))],
    )
    hours = roll_up(DAY, facts)
    assert sorted(hours.queues) == [
        QueueHour(T0, "a", *KEY, 0, 0, 0, 0, 0, 10 * MINUTE),
        QueueHour(T0 + HOUR, "a", *KEY, 0, 0, 0, 0, 0, 20 * MINUTE),
    ]
    assert sorted(hours.teams) == [
        TeamHour(T0, A, "a", *KEY, 0, 0, 10 * MINUTE),
        TeamHour(T0 + HOUR, A, "a", *KEY, 0, 0, 20 * MINUTE),
        TeamHour(T0 + HOUR, B, "a", *KEY, 0, 0, 20 * MINUTE),
    ]
    assert sorted(hours.pending) == [
        PendingHour(T0, A, "a", GPU, 0, 10 * MINUTE),
        PendingHour(T0 + HOUR, A, "a", GPU, 0, 20 * MINUTE),
        PendingHour(T0 + HOUR, B, "a", GPU, 0, 20 * MINUTE),
    ]


def test_a_hold_whose_end_nobody_saw_counts_as_far_as_it_was_seen_and_the_rest_is_unknown():
    perhaps = [PerhapsHeld("a", *KEY, minute(20), minute(30)), PerhapsHeld("a", *KEY, minute(25), minute(40))]
    facts = Facts(
        [era(queue("a", gpus(8)), queue("b", gpus(8)))], [held("a", "1", 2, 0, 20)], perhaps, gaps=[(T0, minute(5))]
    )
    rows = queue_hours(roll_up(ONE, facts))
    assert (rows[T0, "a"].used, rows[T0, "a"].unknown) == (40 * MINUTE, 25 * MINUTE)
    assert rows[T0, "b"].unknown == 5 * MINUTE


def test_what_waits_is_counted_by_team_and_queue():
    waits = [
        Waited(A, "a", GPU, 8, minute(-30), minute(90)),
        Waited(A, "a", GPU, 2, minute(0), minute(30)),
        Waited(B, "a", GPU, 1, minute(0), minute(60)),
        Waited(B, "a", GPU, 1, minute(60), minute(70), perhaps=True),
    ]
    assert sorted(roll_up(DAY, Facts(waited=waits)).pending) == [
        PendingHour(T0, A, "a", GPU, 9 * HOUR, 0),
        PendingHour(T0, B, "a", GPU, HOUR, 0),
        PendingHour(T0 + HOUR, A, "a", GPU, 4 * HOUR, 0),
        PendingHour(T0 + HOUR, B, "a", GPU, 0, 10 * MINUTE),
    ]


# Whatever happens

QUEUES = ("q0", "q1", "q2", "q3")
COHORTS = ("c0", "c1", "c2")
instants = st.integers(-1, 13).map(lambda tens: 10 * tens)
amounts = st.integers(0, 12)
limits = st.none() | st.integers(0, 8)


@st.composite
def specs(draw):
    """Queues anywhere in a chain of cohorts, or outside any; some are not there at all."""
    cohorts = [
        cohort(name, gpus(draw(st.integers(0, 3)), lend=draw(limits) if parent else None), parent)
        for name, parent in zip(COHORTS, (None, *COHORTS), strict=False)
    ]
    names = draw(st.sets(st.sampled_from(QUEUES), min_size=1))
    places = st.none() | st.sampled_from(COHORTS)
    return [queue(name, gpus(draw(amounts), lend=draw(limits)), draw(places)) for name in sorted(names)], cohorts


@st.composite
def facts(draw):
    cuts = sorted(10 * tens for tens in draw(st.sets(st.integers(1, 11), max_size=2)))
    edges = [0, *cuts, 120]
    eras = [Era(minute(a), minute(b), *draw(specs())) for a, b in zip(edges, edges[1:], strict=False)]
    spans = []
    for number in range(draw(st.integers(0, 8))):
        name, team = draw(st.sampled_from(QUEUES)), draw(st.sampled_from([None, A, B]))
        start, middle, end = sorted(draw(st.tuples(instants, instants, instants)))
        for amount, begin, stop in ((draw(amounts), start, middle), (draw(amounts), middle, end)):
            spans.append(held(name, str(number), amount, begin, stop, team, start))
    gaps = [(minute(a), minute(b)) for a, b in draw(st.lists(st.tuples(instants, instants), max_size=2))]
    waits = [
        Waited(A, "q0", GPU, draw(amounts), minute(a), minute(b), draw(st.booleans()))
        for a, b in draw(st.lists(st.tuples(instants, instants), max_size=3))
    ]
    claims = [Claim(A, "q0", minute(0), minute(120)), Claim(B, "q1", minute(30), minute(90))]
    perhaps = [PerhapsHeld("q0", *KEY, minute(a), minute(b)) for a, b in draw(st.lists(st.tuples(instants, instants)))]
    unknown = [LostUnknown("q0", GPU, A, minute(at)) for at in draw(st.lists(instants, max_size=2))]
    return Facts(eras, spans, perhaps, waits, claims, gaps, draw(st.lists(losses(), max_size=3)), unknown)


@st.composite
def losses(draw):
    """Of a hold that changed its amount once, as much as it made or less, to a microsecond more: it was rounded."""
    start, middle, end = sorted(draw(st.tuples(instants, instants, instants)))
    amount, after = draw(amounts), draw(amounts)
    stretches = [(amount, minute(start), minute(middle)), (after, minute(middle), minute(end))]
    most = sum(amount * (end - start) for amount, start, end in stretches)
    low, expected, high = sorted(draw(st.tuples(*[st.integers(0, most + 1)] * 3)))
    work = LostWork(minute(start), minute(end), stretches, (low, expected, high), draw(st.booleans()))
    name, team = draw(st.sampled_from(QUEUES)), draw(st.sampled_from([None, A, B]))
    return Lost(name, draw(st.sampled_from([P5, ""])), GPU, team, work.start, work.end, work)


TWO = Stretch(T0, T0 + 2 * HOUR)
STEP = 10 * MINUTE


def truth(known):
    """The same sums the slow way: the figures of each ten minutes, one by one."""
    queues = defaultdict(lambda: [0] * 5)
    teams = defaultdict(lambda: [0, 0])
    for now in range(TWO.start, TWO.end, STEP):
        specs = next(each for each in known.eras if each.start <= now < each.end)
        holds = [each for each in known.held if each.start <= now < each.end]
        used = {name: {KEY: sum(h.amount for h in holds if h.cluster_queue == name)} for name in QUEUES}
        standing = figures(specs.cluster_queues, specs.cohorts, used, {}).queues
        places = {each.name: each.cohort for each in specs.cluster_queues}
        hour = now - now % HOUR
        for name in QUEUES:
            line = standing[name].figures[KEY] if name in standing else None
            low, high = (line.lent_low, line.lent_high) if line else (0, 0)
            sums = [line.nominal if line else 0, used[name][KEY], line.borrowed if line else 0]
            sums += [0, line.lendable] if low is None else [low, high]
            queues[hour, name] = [a + b * STEP for a, b in zip(queues[hour, name], sums, strict=True)]
            here = [Hold(h.uid, h.reserved_at, h.amount) for h in holds if h.cluster_queue == name]
            splits = split_own_and_borrowed(here, line.nominal if line else 0, places.get(name) is not None)
            for uid, split in splits.items():
                team = next(h.team for h in holds if h.uid == uid)
                own, borrowed = teams[hour, team, name]
                teams[hour, team, name] = [own + split.own * STEP, borrowed + split.borrowed * STEP]
    return queues, teams


@pytest.mark.slow
@given(facts())
def test_every_sum_is_that_of_the_figures_of_each_instant(known):
    hours = roll_up(TWO, known)
    queues, teams = truth(known)
    assert {(r.hour, r.cluster_queue): list(r[4:9]) for r in hours.queues if any(r[4:9])} == {
        key: sums for key, sums in queues.items() if any(sums)
    }
    assert {(r.hour, r.team, r.cluster_queue): [r.own, r.borrowed] for r in hours.teams if r.own or r.borrowed} == {
        key: sums for key, sums in teams.items() if any(sums)
    }


@pytest.mark.slow
@given(facts())
def test_what_is_used_is_own_and_borrowed_of_all_teams(known):
    hours = roll_up(TWO, known)
    own, borrowed = defaultdict(int), defaultdict(int)
    for row in hours.teams:
        own[row.hour, row.cluster_queue] += row.own
        borrowed[row.hour, row.cluster_queue] += row.borrowed
    for row in hours.queues:
        key = (row.hour, row.cluster_queue)
        assert (row.used, row.borrowed) == (own[key] + borrowed[key], borrowed[key])
        assert 0 <= row.lent_low <= row.lent_high
        assert 0 <= row.unknown <= HOUR


NAMES = {QueueHour: 4, TeamHour: 5, PendingHour: 4}
"""How many fields of a row say what it is of; what was not seen of the hour is no sum."""


def rows_of(*parts):
    return [row for hours in parts for row in (*hours.queues, *hours.teams, *hours.pending)]


def summed(*parts):
    sums = {}
    for row in rows_of(*parts):
        names = NAMES[type(row)]
        key = (type(row), *row[:names])
        amounts = [value for name, value in zip(row._fields, row, strict=True) if name != "unknown"][names:]
        sums[key] = [a + b for a, b in zip(sums.get(key, [0] * len(amounts)), amounts, strict=True)]
    return {key: values for key, values in sums.items() if any(values)}


def cut_at(time, known):
    return [roll_up(Stretch(TWO.start, time), known), roll_up(Stretch(time, TWO.end), known)]


@pytest.mark.slow
@given(facts(), st.integers(1, 2 * HOUR - 1))
def test_splitting_a_window_changes_no_sum(known, cut):
    assert summed(*cut_at(T0 + cut, known)) == summed(roll_up(TWO, known))


@pytest.mark.slow
@given(facts())
def test_hours_rolled_up_apart_are_those_rolled_up_together(known):
    key = str
    assert sorted(rows_of(*cut_at(T0 + HOUR, known)), key=key) == sorted(rows_of(roll_up(TWO, known)), key=key)


@st.composite
def cohorts_of_equals(draw):
    """Some queues of one cohort whose quotas are cut and raised while jobs come and go; in which order they lend."""
    names = QUEUES[: draw(st.integers(2, 4))]
    cuts = sorted(10 * tens for tens in draw(st.sets(st.integers(1, 11), max_size=2)))
    edges = [0, *cuts, 120]
    eras = [
        era(*(queue(name, gpus(draw(amounts))) for name in names), start=start, end=end)
        for start, end in zip(edges, edges[1:], strict=False)
    ]
    spans = [
        held(draw(st.sampled_from(names)), str(number), draw(amounts), *sorted(draw(st.tuples(instants, instants))))
        for number in range(draw(st.integers(0, 8)))
    ]
    return Facts(eras, spans), draw(st.permutations(names))


def lent_in_turn(known, names):
    """What each lent if whatever is borrowed comes from the first that has it idle, and whether there was enough."""
    lent, is_enough = defaultdict(int), True
    for now in range(TWO.start, TWO.end, STEP):
        nominal = next(
            {q.name: q.groups[0].flavors[0].resources[GPU].nominal for q in each.cluster_queues}
            for each in known.eras
            if each.start <= now < each.end
        )
        holds = [each for each in known.held if each.start <= now < each.end]
        used = {name: sum(h.amount for h in holds if h.cluster_queue == name) for name in names}
        left = sum(max(0, used[name] - nominal[name]) for name in names)
        for name in names:
            given = min(left, max(0, nominal[name] - used[name]))
            lent[now - now % HOUR, name] += given * STEP
            left -= given
        is_enough = is_enough and left == 0
    return lent, is_enough


@pytest.mark.slow
@given(cohorts_of_equals())
def test_whoever_lent_it_the_bounds_hold_what_was_lent(drawn):
    known, names = drawn
    rows = queue_hours(roll_up(TWO, known))
    lent, is_enough = lent_in_turn(known, names)
    for key, truth_of_it in lent.items():
        low, high = (rows[key].lent_low, rows[key].lent_high) if key in rows else (0, 0)
        assert low <= truth_of_it <= high
        if is_enough and len(names) == 2:
            assert low == high, "nobody else can have lent it"
