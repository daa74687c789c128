from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs.evictions.filter import SumBy
from jobs.evictions.list import tally
from jobs.evictions.sums import Line, sums
from jobs.ledger.eviction_losses import only_flavor
from jobs.models import Eviction
from jobs.rules.lost_work import Basis, Total
from jobs.sight import Sight
from scheduling import names
from tests.stories import G6, P5, START, Job
from tests.worlds import World

pytestmark = pytest.mark.django_db

SIGHT = Sight(everywhere=True, teams=frozenset(), clusters=frozenset())
SECONDS = st.integers(0, 10**6)
PRICES = st.tuples(SECONDS, SECONDS, SECONDS).map(sorted)
STOPPING = st.none() | SECONDS
BY_FLAVOR = st.dictionaries(st.sampled_from((P5, G6)), st.tuples(PRICES, SECONDS), min_size=1)
WITHOUT_FLAVORS = st.tuples(st.none() | PRICES, st.integers(0, 8), STOPPING)


def evicted(shared: World, number: int, **columns: Any) -> Eviction:
    decided = START - timedelta(days=9 * number)
    job = Job(f"job-{number % 3}")
    shared.see(job)
    return Eviction.objects.create(
        cluster=shared.cluster,
        workload=shared.row(job),
        namespace=job.namespace,
        reason=names.PREEMPTED,
        ordinal=number,
        observed=True,
        decided_after=decided,
        decided_before=decided,
        priority=0,
        **columns,
    )


def without_flavors(prices: list[int] | None, gpus: int, stopping: int | None) -> dict[str, Any]:
    low, expected, high = prices or (None, None, None)
    basis = Basis.UNKNOWN if prices is None else Basis.WHOLE
    lost = {"lost_low": low, "lost_expected": expected, "lost_high": high}
    return {"basis": basis, "gpus": gpus, "stopping": stopping, **lost}


def with_flavors(flavors: dict[str, tuple[list[int], int]], is_open: bool) -> dict[str, Any]:
    low, expected, high = (sum(prices[place] for prices, _ in flavors.values()) for place in range(3))
    by_flavor = {flavor: [4, *prices, stopping] for flavor, (prices, stopping) in flavors.items()}
    stopping = None if is_open else sum(stopping for _, stopping in flavors.values())
    if is_open:
        by_flavor = {flavor: [*amounts[:4], 0] for flavor, amounts in by_flavor.items()}
    lost = {"lost_low": low, "lost_expected": expected, "lost_high": high}
    held = {"by_flavor": by_flavor, "flavor": only_flavor(by_flavor)}
    return {"basis": Basis.WHOLE, "gpus": 4, "stopping": stopping, **held, **lost}


def added(lines: Iterable[Line]) -> Total:
    return sum((line.lost for line in lines), Total())


@pytest.mark.parametrize("by", SumBy)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    plain=st.lists(st.builds(with_flavors, BY_FLAVOR, st.booleans()), max_size=3),
    bare=st.lists(WITHOUT_FLAVORS.map(lambda each: without_flavors(*each)), max_size=3),
)
def test_whatever_they_are_added_up_by_the_sums_make_the_total(
    shared: World, by: SumBy, plain: list[Any], bare: list[Any]
) -> None:
    Eviction.objects.all().delete()
    for number, columns in enumerate([*plain, *bare], 1):
        evicted(shared, number, **columns)
    total = tally(Eviction.objects.all())
    lines, whole = sums(Eviction.objects.all(), by, SIGHT, {})
    assert whole == total
    lost = added(lines)
    assert (lost.low, lost.expected, lost.high, lost.stopping, lost.unknown) == (
        total.lost.low,
        total.lost.expected,
        total.lost.high,
        total.lost.stopping,
        total.lost.unknown,
    )
    assert (lost.stopping_unknown > 0) == (total.lost.stopping_unknown > 0)
    if by != SumBy.FLAVOR:
        assert sum(line.count for line in lines) == total.count
        assert lost == total.lost


def test_a_loss_on_gpus_of_no_known_type_stands_by_itself(shared: World) -> None:
    evicted(shared, 1, **without_flavors([1451, 1451, 1451], 1, None))
    assert sums(Eviction.objects.all(), SumBy.FLAVOR, SIGHT, {})[0] == [
        Line("unknown type", 1, Total(1451, 1451, 1451, stopping_unknown=1))
    ]


def test_what_held_no_gpus_is_of_no_type(shared: World) -> None:
    evicted(shared, 1, **without_flavors([0, 0, 0], 0, 0))
    assert sums(Eviction.objects.all(), SumBy.FLAVOR, SIGHT, {})[0] == [Line("none", 1, Total())]
