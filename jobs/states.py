"""The states people see, from Kueue's conditions. The only reader of conditions for that purpose."""

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from scheduling import names
from scheduling.messages import Mention, Obstacle, parse_pending
from scheduling.objects import Condition, Workload


class JobState(TextChoices):
    QUEUED = "queued", _("Queued")
    INADMISSIBLE = "inadmissible", _("Does not fit")
    RESERVED = "reserved", _("Quota reserved")
    PREPARING = "preparing", _("Preparing")
    RUNNING = "running", _("Running")
    GIVING_BACK = "giving_back", _("Giving capacity back")
    INTERRUPTED = "interrupted", _("Interrupted, will be queued again")
    PAUSED = "paused", _("Paused")
    FINISHED = "finished", _("Finished")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")
    ENDED = "ended", _("Ended, outcome unknown")
    UNKNOWN = "unknown", _("Unknown")


_LASTING = (
    Obstacle.EXCEEDS_MAXIMUM,
    Obstacle.NOT_COVERED,
    Obstacle.UNTOLERATED_TAINT,
    Obstacle.NODE_AFFINITY,
    Obstacle.FLAVOR_NOT_FOUND,
    Obstacle.INVALID_RESOURCES,
)

HOLDING = (JobState.RESERVED, JobState.PREPARING, JobState.RUNNING, JobState.GIVING_BACK)
WAITING = (JobState.QUEUED, JobState.INADMISSIBLE, JobState.INTERRUPTED, JobState.PAUSED)
OVER = (JobState.FINISHED, JobState.FAILED, JobState.CANCELLED, JobState.ENDED)


def state_of(workload: Workload) -> JobState:
    """The state of a workload that exists in the cluster."""
    if workload.is_finished:
        return _end_of(workload)
    if workload.is_true(names.EVICTED) and workload.is_true(names.QUOTA_RESERVED):
        return JobState.GIVING_BACK
    if not workload.active:
        return JobState.PAUSED
    if workload.holds_quota:
        return _holding(workload)
    return _waiting(workload)


def _end_of(workload: Workload) -> JobState:
    reason = workload.conditions[names.FINISHED].reason
    if reason == names.SUCCEEDED:
        return JobState.FINISHED
    if reason == names.OWNER_NOT_FOUND:
        return JobState.CANCELLED  # the job was deleted: for a moment that looks like a finish
    return JobState.FAILED if reason == names.FAILED else JobState.ENDED


def _holding(workload: Workload) -> JobState:
    if not workload.is_true(names.ADMITTED):
        return JobState.RESERVED
    ready = workload.conditions.get(names.PODS_READY)
    return JobState.PREPARING if ready and ready.status is False else JobState.RUNNING


def _waiting(workload: Workload) -> JobState:
    if workload.is_true(names.EVICTED):
        requeued = workload.conditions.get(names.REQUEUED)
        return JobState.INTERRUPTED if requeued is None or requeued.status is not False else JobState.PAUSED
    reserved = workload.conditions.get(names.QUOTA_RESERVED)
    if reserved and reserved.status is False and _needs_a_change(reserved):
        return JobState.INADMISSIBLE
    return JobState.QUEUED


def _needs_a_change(reserved: Condition) -> bool:
    """Whether waiting alone cannot help: Kueue says so by the reason or, up to 0.19, in the message only."""
    if reserved.reason in names.INADMISSIBLE_REASONS:
        return True
    return can_never_start(parse_pending(reserved.message).mentions)


def can_never_start(mentions: Iterable[Mention]) -> bool:
    """Whether it is in vain to wait, as far as the message tells: for some pod set no flavor is left that might come
    free. A flavor that is too small in one resource does not help by being merely taken in another."""
    by_pod_set: dict[str, list[Mention]] = defaultdict(list)
    for mention in mentions:
        by_pod_set[mention.pod_set].append(mention)
    return any(_is_in_vain(told) for told in by_pod_set.values())


def _is_in_vain(mentions: list[Mention]) -> bool:
    lasting = {mention.flavor for mention in mentions if mention.obstacle in _LASTING}
    is_covered = all(mention.obstacle is not Obstacle.NOT_COVERED for mention in mentions)
    return not is_covered or all(mention.flavor in lasting for mention in mentions)
