"""What runs, what waits, every hold of quota, every eviction and every pod with its dates, and the hours rolled up."""

from jobs.models.evictions import Eviction, EvictionLoop
from jobs.models.hours import ClosedHours, PendingHour, QueueHour, ReopenedHours, TeamHour
from jobs.models.now import QueueNow, TeamNow
from jobs.models.pods import Interruption, PodRun
from jobs.models.spans import Span, SpanUsage
from jobs.models.told import ToldEviction
from jobs.models.workloads import Workload

__all__ = [
    "ClosedHours",
    "Eviction",
    "EvictionLoop",
    "Interruption",
    "PendingHour",
    "PodRun",
    "QueueHour",
    "QueueNow",
    "ReopenedHours",
    "Span",
    "SpanUsage",
    "TeamHour",
    "TeamNow",
    "ToldEviction",
    "Workload",
]
