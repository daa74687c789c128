"""Kueue's objects as records of `scheduling`, in whichever API version the cluster serves."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote

from gateways.discovery import ServedGroup, served_group
from gateways.errors import BadReply, NotFound
from gateways.http import Api
from gateways.lists import list_pages, list_versions
from gateways.records import Change, ObjectVersion, Page, QueuePosition
from gateways.watches import WATCH_SECONDS, watch
from gateways.watching import Identified, Source
from scheduling import parsing
from scheduling.names import KUEUE_GROUP, KUEUE_VERSIONS, VISIBILITY_GROUP
from scheduling.objects import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    Json,
    LocalQueue,
    PriorityClass,
    ResourceFlavor,
    Workload,
)
from scheduling.parsing import UNREADABLE, MalformedObject

Record = TypeVar("Record", bound=Identified)
Told = TypeVar("Told")


@dataclass(frozen=True, slots=True)
class Kind(Generic[Record]):
    """A kind of Kueue's API: its plural on the wire and how one object is read. Old Kueues lack an `is_recent` one."""

    plural: str
    parse: Callable[[Json], Record]
    is_recent: bool = False


WORKLOADS: Final = Kind("workloads", parsing.parse_workload)
CLUSTER_QUEUES: Final = Kind("clusterqueues", parsing.parse_cluster_queue)
COHORTS: Final = Kind("cohorts", parsing.parse_cohort, is_recent=True)
LOCAL_QUEUES: Final = Kind("localqueues", parsing.parse_local_queue)
RESOURCE_FLAVORS: Final = Kind("resourceflavors", parsing.parse_resource_flavor)
PRIORITY_CLASSES: Final = Kind("workloadpriorityclasses", parsing.parse_priority_class)
ADMISSION_CHECKS: Final = Kind("admissionchecks", parsing.parse_admission_check)

_MOST_PENDING: Final = 100_000  # Kueue's own ceiling; one call, since positions move between calls
_CONTROLLER_PODS: Final = "app.kubernetes.io/name=kueue,control-plane=controller-manager"
_VERSION_TAG: Final = re.compile(r":v?(\d+\.\d+\.\d+)")


class Kueue:
    """Kueue of one cluster. Every method and iterator raises GatewayError.

    The served API version is found out at the first call and again after a NotFound, so an upgrade under way heals.
    """

    def __init__(self, api: Api) -> None:
        self._api = api
        self._served: ServedGroup | None = None

    def list_workloads(self) -> Iterator[Page[Workload]]:
        return self._pages(WORKLOADS)

    def list_cluster_queues(self) -> Iterator[Page[ClusterQueue]]:
        return self._pages(CLUSTER_QUEUES)

    def list_cohorts(self) -> Iterator[Page[Cohort]]:
        """One empty page where Kueue is too old to know Cohorts."""
        return self._pages(COHORTS)

    def list_local_queues(self) -> Iterator[Page[LocalQueue]]:
        return self._pages(LOCAL_QUEUES)

    def list_resource_flavors(self) -> Iterator[Page[ResourceFlavor]]:
        return self._pages(RESOURCE_FLAVORS)

    def list_priority_classes(self) -> Iterator[Page[PriorityClass]]:
        """WorkloadPriorityClasses."""
        return self._pages(PRIORITY_CLASSES)

    def list_admission_checks(self) -> Iterator[Page[AdmissionCheck]]:
        return self._pages(ADMISSION_CHECKS)

    def list_workload_versions(self) -> Iterator[Page[ObjectVersion]]:
        """Which Workloads there are in which version, without reading them."""
        return self._reading(WORKLOADS, partial(list_versions, self._api))

    def get_workload(self, namespace: str, name: str) -> Workload:
        """One Workload, now. Raises NotFound, and BadReply for one that cannot be read."""
        try:
            return parsing.parse_workload(self.workload_object(namespace, name))
        except MalformedObject as error:
            raise BadReply(str(error)) from error

    def workload_object(self, namespace: str, name: str) -> dict[str, Any]:
        """One Workload, now, as the API server shows it. Raises NotFound."""
        root = self._path(WORKLOADS).removesuffix(WORKLOADS.plural)
        path = f"{root}namespaces/{quote(namespace, safe='')}/{WORKLOADS.plural}/{quote(name, safe='')}"
        try:
            return self._api.get(path)
        except NotFound:
            self._served = None
            raise

    def source(self, kind: Kind[Record]) -> Source[Record]:
        """What `watching.follow` needs of a kind; Workloads are re-listed by their versions alone."""
        versions = self.list_workload_versions if kind.plural == WORKLOADS.plural else None
        return Source(partial(self._pages, kind), partial(self.watch, kind), versions)

    def watch(
        self, kind: Kind[Record], resource_version: int, seconds: int = WATCH_SECONDS
    ) -> Iterator[Change[Record]]:
        """The changes of a kind after a version, for about `seconds`. No Cohort ever changes in an old Kueue."""
        return self._reading(kind, lambda path: watch(self._api, path, kind.parse, resource_version, seconds))

    def pending_workloads(self, cluster_queue: str) -> list[QueuePosition]:
        """The queue's order as Kueue tells it, inadmissible workloads included."""
        served = served_group(self._api, VISIBILITY_GROUP, KUEUE_VERSIONS)
        path = f"{served.root}/clusterqueues/{quote(cluster_queue, safe='')}/pendingworkloads"
        answer = self._api.get(path, {"limit": _MOST_PENDING})
        try:
            return [_position(item) for item in answer.get("items") or ()]
        except UNREADABLE as error:
            raise BadReply(f"{path}: a pending workload that cannot be read") from error

    def kueue_version(self) -> str | None:
        """Kueue's version, read off the image of its controller's pod; None where that does not tell."""
        for page in list_pages(self._api, "/api/v1/pods", _images, query={"labelSelector": _CONTROLLER_PODS}):
            for images in page.records:
                for found in map(_VERSION_TAG.search, images):
                    if found:
                        return found[1]
        return None

    def _pages(self, kind: Kind[Record]) -> Iterator[Page[Record]]:
        if not self._path(kind):
            yield Page((), (), 0, False, True)
        yield from self._reading(kind, lambda path: list_pages(self._api, path, kind.parse))

    def _reading(self, kind: Kind[Any], read: Callable[[str], Iterator[Told]]) -> Iterator[Told]:
        path = self._path(kind)
        if not path:
            return
        try:
            yield from read(path)
        except NotFound:
            self._served = None
            self._path(kind)  # says so when Kueue is gone
            raise

    def _path(self, kind: Kind[Any]) -> str:
        """Where all objects of the kind are; empty for a recent kind that is not served. Raises NotFound."""
        served = self._served
        if served is None or kind.plural not in served.resources:
            served = self._served = served_group(self._api, KUEUE_GROUP, KUEUE_VERSIONS)
        if kind.plural in served.resources:
            return f"{served.root}/{kind.plural}"
        if kind.is_recent:
            return ""
        raise NotFound(f"the cluster serves {served.root} without {kind.plural}: is Kueue installed completely?")


def _position(item: Json) -> QueuePosition:
    meta = item["metadata"]
    return QueuePosition(
        meta["namespace"],
        meta["name"],
        item.get("localQueueName") or "",
        int(item.get("priority") or 0),
        int(item.get("positionInClusterQueue") or 0),
        int(item.get("positionInLocalQueue") or 0),
    )


def _images(pod: Json) -> list[str]:
    """The images of one pod. Raises MalformedObject."""
    try:
        return [str(container["image"]) for container in pod["spec"]["containers"]]
    except (KeyError, TypeError) as error:
        raise MalformedObject("a pod without images") from error
