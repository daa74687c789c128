from jobs.ledger.rounds import in_rounds
from tests.stories import Job


def test_nothing_is_one_empty_round() -> None:
    assert in_rounds([]) == [[]]


def test_looks_whose_hold_or_eviction_the_next_hides_come_first_and_the_newest_of_all_last() -> None:
    job, other = Job("job"), Job("other")
    first = job.admit(1).record
    job.evict(5)
    decided = job.condition("PodsReady", False, 5).record
    released = job.release(6).record
    waits = other.waits("a").record
    later = other.waits("b").record
    rounds = in_rounds([waits, released, decided, first, later, first])
    assert rounds[0] == [decided]
    assert sorted(look.uid for look in rounds[1]) == sorted((released.uid, later.uid))
    assert released in rounds[1]
    assert later in rounds[1]


def test_an_eviction_that_another_overwrites_is_kept() -> None:
    job = Job()
    looks = [job.admit(1).record, job.evict(5).record, job.release(6).record, job.admit(7).record, job.evict(9).record]
    assert [each[0] for each in in_rounds(looks)] == [looks[1], looks[2], looks[4]]


def test_messages_alone_are_one_round() -> None:
    job = Job().admit(0)
    looks = [job.condition("PodsReady", True, 1, message=str(n)).record for n in range(9)]
    assert in_rounds(looks) == [[looks[-1]]]
