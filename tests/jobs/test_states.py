import pytest

from jobs.states import HOLDING, OVER, WAITING, JobState, state_of
from scheduling import names
from tests.stories import Job

FITS_NEVER = (
    "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor h100, "
    "previously considered podsets requests (0) + current podset request (64) > maximum capacity (20)"
)
NOT_NOW = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 4 more needed"  # noqa: E501

CASES = {
    "nothing said yet": (Job(), JobState.QUEUED),
    "no room now": (Job().waits(NOT_NOW), JobState.QUEUED),
    "never fits, by the message": (Job().waits(FITS_NEVER), JobState.INADMISSIBLE),
    "never fits, by the reason": (Job().waits("", reason="Misconfigured"), JobState.INADMISSIBLE),
    "never fits, and has no room in the same flavor": (
        Job().waits(f"{FITS_NEVER}; {NOT_NOW}"),
        JobState.INADMISSIBLE,
    ),
    "never fits one flavor, has no room in the other": (
        Job().waits(f"{FITS_NEVER}; {NOT_NOW.replace('h100', 'a100')}"),
        JobState.QUEUED,
    ),
    "one pod set never fits, the other has no room": (
        Job().waits(f"{FITS_NEVER}; {NOT_NOW.replace('h100', 'a100').replace('main', 'worker')}"),
        JobState.INADMISSIBLE,
    ),
    "an unknown reason": (Job().waits("", reason="Sulking"), JobState.QUEUED),
    "an unknown status": (Job().condition(names.QUOTA_RESERVED, None, 1), JobState.QUEUED),
    "reserved": (Job().reserve(1), JobState.RESERVED),
    "admitted": (Job().admit(1), JobState.RUNNING),
    "pods not ready": (Job().admit(1).condition(names.PODS_READY, False, 1), JobState.PREPARING),
    "pods ready": (Job().admit(1).condition(names.PODS_READY, True, 1), JobState.RUNNING),
    "being evicted": (Job().admit(1).evict(2), JobState.GIVING_BACK),
    "evicted": (Job().admit(1).evict(2).release(3), JobState.INTERRUPTED),
    "evicted, not to be queued": (
        Job().admit(1).evict(2).release(3).condition(names.REQUEUED, False, 3, names.DEACTIVATED),
        JobState.PAUSED,
    ),
    "admitted again": (Job().admit(1).evict(2).release(3).admit(4), JobState.RUNNING),
    "deactivated": (Job().deactivate(), JobState.PAUSED),
    "deactivated while it runs": (Job().admit(1).deactivate(), JobState.PAUSED),
    "deactivated and being evicted": (Job().admit(1).deactivate().evict(2), JobState.GIVING_BACK),
    "done": (Job().admit(1).finish(2), JobState.FINISHED),
    "failed": (Job().admit(1).finish(2, names.FAILED), JobState.FAILED),
    "its job was deleted": (Job().admit(1).finish(2, names.OWNER_NOT_FOUND), JobState.CANCELLED),
    "ended for a reason nobody knows": (Job().admit(1).finish(2, "Evaporated"), JobState.ENDED),
    "finished while being evicted": (Job().admit(1).evict(2).finish(3), JobState.FINISHED),
    "an unknown condition": (Job().condition("Levitating", True, 1), JobState.QUEUED),
}


@pytest.mark.parametrize(("job", "state"), CASES.values(), ids=CASES)
def test_state(job: Job, state: JobState) -> None:
    assert state_of(job.record) is state


def test_states_are_grouped_without_overlap() -> None:
    grouped = [*HOLDING, *WAITING, *OVER]
    assert len(grouped) == len(set(grouped))
    assert set(JobState) - set(grouped) == {JobState.UNKNOWN}
