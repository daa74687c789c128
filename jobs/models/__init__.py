"""What runs, what waits, every hold of quota and every eviction with its dates."""

from jobs.models.evictions import Eviction
from jobs.models.now import QueueNow, TeamNow
from jobs.models.spans import Span, SpanUsage
from jobs.models.workloads import Workload

__all__ = ["Eviction", "QueueNow", "Span", "SpanUsage", "TeamNow", "Workload"]
