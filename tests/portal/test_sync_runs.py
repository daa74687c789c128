from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from gateways.errors import Denied, Unavailable
from portal.models import Gap, Lease, SourceState, SyncRun
from portal.sync_runs import (
    GAP_AFTER,
    STALE_AFTER,
    UNDATED,
    Counts,
    Freshness,
    SyncRefused,
    complete_run,
    describe,
    freshness,
    hold_lease,
    prune_runs,
    record_failure,
    record_success,
    release_lease,
    sync_run,
)
from tests.stories import START, minute

pytestmark = pytest.mark.django_db
OF = ("workloads", "gpu-one")


def good(at: float, **counts: int) -> None:
    record_success(*OF, now=minute(at), counts=Counts(**counts))


def lossless(at: float) -> None:
    record_success(*OF, now=minute(at), counts=Counts(), lossless=True)


def bad(at: float, error: Exception | None = None) -> None:
    record_failure(*OF, now=minute(at), error=error or Unavailable("no answer"))


def state() -> SourceState:
    return SourceState.objects.get()


def gaps() -> list[tuple[datetime, datetime | None, str]]:
    return list(Gap.objects.order_by("start").values_list("start", "end", "cause"))


def clock(*minutes: float) -> Callable[[], datetime]:
    times = iter(minutes)
    return lambda: minute(next(times))


def test_a_run_leaves_what_it_did() -> None:
    with sync_run(*OF, clock(1, 2)) as counts:
        counts.seen, counts.written, counts.absent, counts.resource_version = 5, 2, 1, 77
        counts.malformed.append("Workload ns/odd: a field is missing")
    run = SyncRun.objects.get()
    assert (run.started_at, run.ended_at, run.status) == (minute(1), minute(2), SyncRun.Status.CHANGED)
    assert (run.seen, run.written, run.absent, run.malformed, run.error) == (5, 2, 1, 1, "")
    assert (state().last_good_at, state().resource_version, state().malformed) == (minute(1), 77, 1)


def test_a_run_that_changed_nothing_says_so_and_keeps_the_version() -> None:
    complete_run(*OF, Counts(seen=3), started_at=minute(1), now=minute(2))
    assert SyncRun.objects.get().status == SyncRun.Status.UNCHANGED
    assert state().version == 0
    complete_run(*OF, Counts(seen=3, absent=1), started_at=minute(3), now=minute(4))
    assert state().version == 1


def test_a_run_that_fails_leaves_the_error_and_raises_it() -> None:
    with pytest.raises(Denied), sync_run(*OF, clock(1, 2, 3)):
        raise Denied("403: workloads is forbidden")
    run = SyncRun.objects.get()
    assert (run.status, run.error, run.ended_at) == (SyncRun.Status.FAILED, "403: workloads is forbidden", minute(3))
    assert (state().failing_since, state().last_error) == (minute(2), "403: workloads is forbidden")
    assert state().last_good_at is None


def test_only_so_many_malformed_objects_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    counts = Counts(malformed=[f"Workload ns/odd-{n}: a field is missing" for n in range(100)])
    complete_run(*OF, counts, started_at=minute(1), now=minute(2))
    assert SyncRun.objects.get().malformed == 100
    assert caplog.text.count("object skipped") == 5


def test_a_version_never_goes_back() -> None:
    good(1, resource_version=90)
    good(2, resource_version=70)
    assert state().resource_version == 90


def test_failing_is_dated_from_the_first_failure_until_the_next_good_read() -> None:
    good(0)
    bad(1)
    bad(2, Denied("403"))
    assert (state().failing_since, state().last_error, state().last_good_at) == (minute(1), "403", minute(0))
    good(3)
    assert (state().failing_since, state().last_error) == (None, "")


def test_a_short_failure_leaves_no_gap() -> None:
    good(0)
    bad(2.5)
    good(2.5)
    assert gaps() == []


def test_a_long_failure_opens_a_gap_that_the_next_good_read_closes() -> None:
    good(0)
    bad(1)
    bad(3)
    bad(4)
    assert gaps() == [(minute(0), None, Gap.Cause.UNREACHABLE)]
    good(5)
    assert gaps() == [(minute(0), minute(5), Gap.Cause.UNREACHABLE)]


def test_a_gap_begins_again_after_each_good_read() -> None:
    for at in (0, 5, 10):
        bad(at - 0.1)
        good(at)
    assert [(start, end) for start, end, _ in gaps()] == [(minute(0), minute(5)), (minute(5), minute(10))]


def test_a_portal_that_did_not_run_leaves_a_gap_of_that_cause() -> None:
    good(0)
    good(60)
    assert gaps() == [(minute(0), minute(60), Gap.Cause.NOT_RUNNING)]


def test_a_failure_just_before_the_next_read_makes_the_gap_unreachable() -> None:
    good(0)
    bad(2)
    good(3)
    assert gaps() == [(minute(0), minute(3), Gap.Cause.UNREACHABLE)]


def test_a_lossless_read_leaves_no_gap_however_late() -> None:
    good(0)
    bad(30)
    assert len(gaps()) == 1
    lossless(60)
    assert gaps() == []
    assert state().last_good_at == minute(60)


def test_a_lossless_read_keeps_closed_gaps_and_the_count_of_malformed_objects() -> None:
    good(0)
    record_success(*OF, now=minute(10), counts=Counts(malformed=["odd"]))
    lossless(11)
    assert len(gaps()) == 1
    assert state().malformed == 1


@pytest.mark.parametrize("source", UNDATED)
def test_a_source_of_no_dated_facts_leaves_no_gap(source: str) -> None:
    record_success(source, "gpu-one", now=minute(0), counts=Counts())
    record_success(source, "gpu-one", now=minute(60), counts=Counts())
    record_failure(source, "gpu-one", now=minute(120), error=Unavailable("no answer"))
    assert gaps() == []


def test_the_first_read_ever_leaves_no_gap() -> None:
    bad(0)
    bad(60)
    good(120)
    assert gaps() == []


def test_a_clock_set_back_breaks_nothing() -> None:
    good(10)
    bad(5)
    good(0)
    assert gaps() == []
    good(1)
    assert state().last_good_at == minute(1)


def test_a_clock_set_back_within_a_gap_closes_it() -> None:
    good(0)
    bad(30)
    good(-10)
    (gap,) = gaps()
    assert gap[1] is not None
    assert gap[0] < gap[1]


def test_sources_and_clusters_have_their_own_gaps() -> None:
    good(0)
    record_failure("nodes", "gpu-one", now=minute(9), error=Unavailable("x"))
    record_failure("workloads", "gpu-two", now=minute(9), error=Unavailable("x"))
    assert gaps() == []


def test_a_version_raised_meanwhile_is_not_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    good(0, written=1)
    stale = state()
    SourceState.objects.update(version=9)
    monkeypatch.setattr(SourceState.objects, "get_or_create", lambda **_: (stale, False))
    good(1)
    assert SourceState.objects.get().version == 9


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (Unavailable("no answer within 10 s"), "no answer within 10 s"),
        (SyncRefused("another cluster"), "another cluster"),
        (ValueError("token=abc"), "unexpected ValueError"),
        (KeyError("password"), "unexpected KeyError"),
        (Unavailable("x" * 5000), "x" * 1000),
    ],
)
def test_what_people_are_told_of_an_error(error: Exception, text: str) -> None:
    assert describe(error) == text


def test_an_unexpected_error_never_shows_its_text_anywhere(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ValueError, match="secret"), sync_run(*OF, clock(1, 2, 3)):
        raise ValueError("secret")
    assert "secret" not in caplog.text + state().last_error + SyncRun.objects.get().error


def test_as_old_as_the_oldest_source() -> None:
    good(5)
    record_success("nodes", "gpu-one", now=minute(3), counts=Counts(written=1))
    found = freshness(["workloads", "nodes"], ["gpu-one"])["gpu-one"]
    assert (found.as_of, found.failing_since, found.error, found.version) == (minute(3), None, "", 1)
    assert freshness(["workloads"], ["gpu-one"])["gpu-one"].as_of == minute(5)


def test_a_source_never_read_makes_the_age_unknown() -> None:
    good(5)
    assert freshness(["workloads", "nodes"], ["gpu-one"])["gpu-one"].as_of is None
    assert freshness(["workloads"], ["gpu-two"]) == {"gpu-two": Freshness(None, None, "", 0)}


def test_a_failing_source_is_told_with_its_error() -> None:
    good(5)
    bad(6)
    found = freshness(["workloads"], ["gpu-one"])["gpu-one"]
    assert (found.as_of, found.failing_since, found.error) == (minute(5), minute(6), "no answer")


def test_facts_are_stale_after_two_minutes_or_when_they_were_never_read() -> None:
    fresh = Freshness(START, None, "", 0)
    assert not fresh.is_stale(START + STALE_AFTER)
    assert fresh.is_stale(START + STALE_AFTER + timedelta(seconds=1))
    assert Freshness(None, None, "", 0).is_stale(START)


def take(holder: str, at: float) -> bool:
    return hold_lease(*OF, holder=holder, now=minute(at), seconds=60)


def test_a_lease_is_taken_renewed_and_refused_to_others() -> None:
    assert take("a", 0)
    assert take("a", 0.5)
    assert not take("b", 1)
    assert Lease.objects.get().expires_at == minute(1.5)


def test_an_expired_lease_goes_to_whoever_comes_first() -> None:
    assert take("a", 0)
    assert take("b", 1)
    assert not take("a", 1.5)
    assert Lease.objects.get().holder == "b"


def test_a_lease_given_back_is_free_at_once() -> None:
    take("a", 0)
    release_lease(*OF, holder="b")
    assert not take("b", 0)
    release_lease(*OF, holder="a")
    assert take("b", 0)


def test_leases_are_per_source_and_cluster() -> None:
    assert take("a", 0)
    assert hold_lease("watch", "gpu-one", holder="b", now=START, seconds=60)
    assert hold_lease("workloads", "gpu-two", holder="b", now=START, seconds=60)


def test_of_two_who_insert_at_once_one_gets_the_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second sees no row either, and the database refuses its insert."""
    assert take("a", 0)
    monkeypatch.setattr("django.db.models.query.QuerySet.update", lambda self, **_: 0)
    assert not take("b", 0)


def test_runs_are_kept_14_days_and_failures_90() -> None:
    def run(days: float, status: str) -> None:
        at = START - timedelta(days=days)
        SyncRun.objects.create(source="nodes", cluster="gpu-one", started_at=at, ended_at=at, status=status)

    for days in (13.9, 14.1):
        run(days, SyncRun.Status.CHANGED)
        run(days, SyncRun.Status.UNCHANGED)
        run(days, SyncRun.Status.FAILED)
    run(89.9, SyncRun.Status.FAILED)
    run(90.1, SyncRun.Status.FAILED)
    assert prune_runs(START) == 3
    assert SyncRun.objects.filter(status=SyncRun.Status.FAILED).count() == 3
    assert SyncRun.objects.count() == 5


def test_gaps_are_never_pruned() -> None:
    good(0)
    good(60)
    prune_runs(START + timedelta(days=4000))
    assert len(gaps()) == 1


def test_two_missed_pulls_are_within_the_slack() -> None:
    assert timedelta(minutes=2) < GAP_AFTER < timedelta(minutes=3)
