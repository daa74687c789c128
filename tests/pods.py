"""Pods as the API server shows them while their story goes on, read by the real parser. Times as in `tests.stories`."""

import copy
from datetime import timedelta
from typing import Any

from gateways.pod_looks import parse_pod_look
from gateways.records import Page, PodLook
from jobs.sync.pod_runs import write_pods
from scheduling import names
from tests.stories import Job, minute, next_version, stamp
from tests.worlds import World

Json = dict[str, Any]
_GRACE_SECONDS = 30


class Pod:
    """One pod of a job on a node since `bound`. Every verb is one write."""

    def __init__(self, job: Job, name: str = "train-0", node: str = "node-1", bound: float = 1, **meta: Any) -> None:
        self.uid = f"pod-{job.uid}-{name}-{bound}"
        owner = job.obj["metadata"]["ownerReferences"][0]
        self.obj: Json = {
            "metadata": {
                "uid": self.uid,
                "namespace": job.namespace,
                "name": name,
                "creationTimestamp": stamp(bound),
                "labels": {names.POD_SET_LABEL: "main"},
                "annotations": {names.WORKLOAD_ANNOTATION: job.obj["metadata"]["name"]},
                "ownerReferences": [owner],
                **meta,
            },
            "spec": {"nodeName": node, "containers": [{"name": "main", "env": [{"name": "TOKEN", "value": "secret"}]}]},
            "status": {"phase": "Running", "conditions": [], "containerStatuses": [{"name": "main", "state": {}}]},
        }
        self.condition("PodScheduled", bound)

    @property
    def look(self) -> PodLook:
        return parse_pod_look(copy.deepcopy(self.obj))

    def condition(self, kind: str, at: float, reason: str = "") -> "Pod":
        entry = {"type": kind, "status": "True", "reason": reason, "lastTransitionTime": stamp(at)}
        self.obj["status"]["conditions"].append(entry)
        return self.touch()

    def touch(self) -> "Pod":
        self.obj["metadata"]["resourceVersion"] = str(next_version())
        return self

    def restart(self) -> "Pod":
        status = self.obj["status"]["containerStatuses"][0]
        status["restartCount"] = status.get("restartCount", 0) + 1
        return self.touch()

    def ends(self, at: float, code: int = 0, reason: str = "") -> "Pod":
        """By itself."""
        self.obj["status"]["phase"] = "Failed" if code else "Succeeded"
        told = {"exitCode": code, "reason": reason or ("Error" if code else "Completed"), "finishedAt": stamp(at)}
        self.obj["status"]["containerStatuses"][0]["state"] = {"terminated": told}
        return self.touch()

    def stops(self, at: float, disruption: str = "") -> "Pod":
        """It is told to go."""
        end = (minute(at) + timedelta(seconds=_GRACE_SECONDS)).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.obj["metadata"] |= {"deletionTimestamp": end, "deletionGracePeriodSeconds": _GRACE_SECONDS}
        return self.condition(names.DISRUPTION_TARGET, at, disruption) if disruption else self.touch()


def pods_page(*pods: Pod, restarted: bool = False, is_last: bool = True) -> Page[PodLook]:
    return Page(tuple(pod.look for pod in pods), (), next_version(), restarted, is_last)


def see_pods(world: World, *pods: Pod) -> None:
    """A list or a watch told of these, just now."""
    looks = [pod.look for pod in pods]
    write_pods(world.cluster, looks, sick_nodes=lambda nodes: (), now=world.now, last_seen=None)
