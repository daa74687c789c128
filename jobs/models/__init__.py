"""What runs, what waits, every hold of quota and every eviction with its dates, and the hours rolled up from them."""

from jobs.models.evictions import Eviction
from jobs.models.hours import ClosedHours, PendingHour, QueueHour, ReopenedHours, TeamHour
from jobs.models.now import QueueNow, TeamNow
from jobs.models.spans import Span, SpanUsage
from jobs.models.workloads import Workload

__all__ = [
    "ClosedHours",
    "Eviction",
    "PendingHour",
    "QueueHour",
    "QueueNow",
    "ReopenedHours",
    "Span",
    "SpanUsage",
    "TeamHour",
    "TeamNow",
    "Workload",
]
