"""What Kueue overwrites: a Workload tells its present hold of quota and its latest eviction, none of those before."""

from scheduling import names
from scheduling.objects import Workload
from scheduling.queue_order import is_preempting

_DATED = (names.QUOTA_RESERVED, names.EVICTED)


def is_overwritten(look: Workload, later: Workload) -> bool:
    """Whether the later look at the same workload tells no more of a hold or an eviction that this one tells, or of
    what it was short of while its victims stopped. One that is switched off holds nothing, whatever its conditions
    say."""
    if is_preempting(look) and not is_preempting(later):
        return True
    if look.holds_quota and not later.holds_quota and not later.is_finished:
        return True
    return any(look.is_true(kind) and look.since(kind) != later.since(kind) for kind in _DATED)
