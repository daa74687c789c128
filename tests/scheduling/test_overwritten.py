from scheduling.overwritten import is_overwritten
from tests.stories import Job


def test_what_a_later_look_tells_too_is_not_overwritten() -> None:
    job = Job().waits("no room")
    waiting, running = job.record, job.admit(1).record
    later = job.condition("PodsReady", True, 2).record
    evicted = job.evict(5).record
    assert [is_overwritten(a, b) for a, b in ((waiting, running), (running, later), (later, evicted))] == [False] * 3


def test_the_hold_that_a_release_ends_and_the_eviction_that_a_new_hold_ends_are_overwritten() -> None:
    job = Job().admit(1)
    evicted, released, again = job.evict(5).record, job.release(6).record, job.admit(9).record
    second = job.evict(12).record
    assert is_overwritten(evicted, released)
    assert is_overwritten(released, again)
    assert not is_overwritten(again, second)
    assert is_overwritten(evicted, second)


def test_switching_off_overwrites_a_hold_and_finishing_does_not() -> None:
    job = Job().admit(1)
    running, off = job.record, job.deactivate().record
    assert is_overwritten(running, off)
    other = Job().admit(1)
    assert not is_overwritten(other.record, other.finish(5).record)


def test_what_it_was_short_of_is_overwritten_by_its_admission() -> None:
    job = Job().waits("insufficient unused quota. Pending the preemption of 1 workload(s)")
    first, second = job.record, job.waits("4 more needed. Pending the preemption of 1 workload(s)").record
    assert not is_overwritten(first, second)
    assert is_overwritten(second, job.admit(5).record)
