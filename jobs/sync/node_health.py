"""Which nodes are to blame for what became of their pods."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

import structlog

from gateways.errors import GatewayError
from gateways.kubernetes import Kubernetes
from jobs.sync.listings import Clock

log = structlog.get_logger(__name__)

_REMEMBERED: Final = timedelta(seconds=10)


class NodeHealth:
    """Which nodes are there and healthy, read when somebody asks and remembered for seconds."""

    def __init__(self, kubernetes: Kubernetes, clock: Clock) -> None:
        self.kubernetes, self.clock = kubernetes, clock
        self._read_at: datetime | None = None
        self._healthy: set[str] | None = None

    def sick(self, nodes: Collection[str]) -> set[str]:
        """Those of the nodes that are not there or not healthy; none while nodes cannot be read."""
        if not nodes:
            return set()
        if self._read_at is None or self.clock() - self._read_at > _REMEMBERED:
            self._read_at, self._healthy = self.clock(), self._read()
        return set() if self._healthy is None else set(nodes) - self._healthy

    def _read(self) -> set[str] | None:
        healthy: set[str] = set()
        try:
            for page in self.kubernetes.list_nodes():
                healthy = set() if page.restarted else healthy
                healthy.update(node.name for node in page.records if node.healthy)
        except GatewayError as error:
            log.warning("nodes cannot be read", error=type(error).__name__)
            return None
        return healthy
