from datetime import datetime

from jobs.rules.interruptions import SETTLES, Broken, Cause, End, Hold, Run, interruptions
from tests.stories import minute

HOLD = Hold(1, minute(0), None)


def run(
    node: str = "node-1",
    bound: float = 1,
    *,
    stop: float | None = None,
    end: float | None = None,
    how: str = "",
    reason: str = "",
    code: int | None = None,
    node_failed: bool = False,
    ended_after: float | None = None,
) -> Run:
    after = end if ended_after is None else ended_after
    times = (_at(stop), _at(after), _at(end))
    return Run(node, minute(bound), *times, how or ("deleted" if end else ""), reason, code, node_failed)


def _at(count: float | None) -> datetime | None:
    return None if count is None else minute(count)


def found(*runs: Run, hold: Hold = HOLD) -> list[Broken]:
    return interruptions(runs, [hold])


def test_pods_that_run_or_ended_well_are_no_interruption() -> None:
    assert found(run(), run(end=5, how=End.SUCCEEDED)) == []


def test_a_pod_that_failed_and_was_replaced() -> None:
    (broken,) = found(run(end=5, how=End.FAILED, reason="OOMKilled", code=137), run("node-2", 6))
    assert broken == Broken(1, minute(5), minute(5), Cause.FAILED, "OOMKilled", 137, 1, ("node-1",), minute(6))


def test_one_failed_node_takes_the_whole_job_along_and_is_named_alone() -> None:
    dead = run("node-1", stop=5, end=6, reason="DeletionByTaintManager", node_failed=True)
    others = [run("node-2", stop=5.5, end=6), run("node-3", end=6, how=End.FAILED, code=1)]
    (broken,) = found(dead, *others, run("node-4", 7), run("node-2", 7), run("node-3", 7))
    assert (broken.cause, broken.pods, broken.nodes) == (Cause.NODE, 3, ("node-1",))
    assert (broken.before, broken.replaced_at) == (minute(5), minute(7))


def test_pods_that_are_deleted_one_after_another_as_they_are_replaced_are_one_restart() -> None:
    old = [run(f"node-{n}", stop=5 + n, end=5 + n) for n in range(3)]
    new = [run(f"node-{n}", 5.5 + n) for n in range(3)]
    (broken,) = found(*old, *new)
    assert (broken.cause, broken.pods) == (Cause.DELETED, 3)


def test_a_pod_that_crashes_again_and_again_interrupts_each_time() -> None:
    crashes = [run(bound=n, end=n + 0.5, how=End.FAILED, code=1) for n in range(1, 5)]
    assert [broken.before for broken in found(*crashes)] == [minute(n + 0.5) for n in range(1, 5)]


def test_pods_of_one_generation_hit_long_after_each_other_are_two_interruptions() -> None:
    assert len(found(run(end=5, how=End.FAILED), run("node-2", end=60, how=End.FAILED))) == 2


def test_what_is_hit_as_the_job_ends_is_no_interruption() -> None:
    for end in (5, 6):
        assert found(run(end=5, how=End.FAILED), hold=Hold(1, minute(0), minute(end))) == []


def test_what_was_not_replaced_long_before_the_end_is_one() -> None:
    end = minute(5) + SETTLES
    (broken,) = found(run(end=5, how=End.FAILED), hold=Hold(1, minute(0), end))
    assert broken.replaced_at is None


def test_what_was_replaced_just_before_the_end_is_one() -> None:
    assert len(found(run(end=5, how=End.FAILED), run(bound=5.1), hold=Hold(1, minute(0), minute(6)))) == 1


def test_pods_that_go_after_the_eviction_is_decided_are_none() -> None:
    assert found(run(stop=8, end=9), hold=Hold(1, minute(0), minute(8))) == []


def test_a_pod_that_may_have_gone_after_the_end_is_none() -> None:
    lost = run(end=9, ended_after=5, how=End.UNSEEN)
    assert found(lost, hold=Hold(1, minute(0), minute(8))) == []
    (broken,) = found(lost)
    assert (broken.after, broken.before, broken.cause) == (minute(5), minute(9), Cause.UNKNOWN)


def test_a_pod_belongs_to_the_hold_in_which_it_got_its_node() -> None:
    holds = [Hold(1, minute(0), minute(10)), Hold(2, minute(20), None)]
    runs = [run(end=5, how=End.FAILED), run(bound=21, end=25, how=End.FAILED)]
    assert [(b.span, b.before) for b in interruptions(runs, holds)] == [(1, minute(5)), (2, minute(25))]


def test_a_pod_from_before_every_hold_is_left_out() -> None:
    assert interruptions([run(bound=-1, end=5)], [HOLD]) == interruptions([run(end=5)], []) == []


def test_a_replacement_of_the_second_in_which_the_deletion_was_seen_is_one() -> None:
    (broken,) = found(run(end=5 + 0.8 / 60), run("node-2", 5))
    assert broken.replaced_at == minute(5)
