"""What runs, what waits, and every hold of quota with its dates."""

from jobs.models.now import QueueNow, TeamNow
from jobs.models.spans import Span, SpanUsage
from jobs.models.workloads import Workload

__all__ = ["QueueNow", "Span", "SpanUsage", "TeamNow", "Workload"]
