"""A control plane that has Kueue's kinds but no Kueue: only tests move anything, and all is back soon after a stop."""

from collections.abc import Iterator
from typing import Any

from tests.cluster import kueue
from tests.cluster.client import KUEUE
from tests.cluster.plane import KINDS_READ, ControlPlane

Json = dict[str, Any]


class StillPlane(ControlPlane):
    """`is_away` while its API server is stopped."""

    is_away = False

    def start(self) -> None:
        self._write_credentials()
        self._start_etcd()
        self.start_api_server()
        self._grant_portal()
        self.add_kinds()
        self.is_set_up = True

    def start_api_server(self) -> None:
        super().start_api_server()
        self.is_away = False

    def _wait_until_back(self) -> None:
        self._wait_for_kinds()

    def stop_api_server(self) -> None:
        super().stop_api_server()
        self.is_away = True

    def add_kinds(self) -> None:
        """Returns when they are served."""
        for crd in _kinds():
            self.admin.create("customresourcedefinitions", crd)
        self.processes.wait_until("Kueue's kinds", self._serves_kueue)
        self._wait_for_kinds()

    def remove_kinds(self) -> None:
        """With every object of them. Returns when none is served."""
        for crd in _kinds():
            self.admin.delete("customresourcedefinitions", crd["metadata"]["name"])
        self.processes.wait_until("the end of Kueue's kinds", lambda: self.admin.ask("GET", KUEUE).status_code == 404)


def _kinds() -> Iterator[Json]:
    for crd in kueue.crds(webhook_port=0, authority=b""):
        if crd["spec"]["names"]["plural"] in KINDS_READ:
            yield {**crd, "spec": {**crd["spec"], "conversion": {"strategy": "None"}}}
