"""The events that a real cluster writes about a job and its pods, as Kubernetes 1.36 and Kueue 0.19 word them."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from emulator.events import Events, Reporter, reference
from emulator.pods import NO_NODE, Stage
from emulator.store import Json
from scheduling import names
from scheduling.objects import Workload

_SCHEDULER: Final = Reporter("default-scheduler")
_KUBELET: Final = Reporter("kubelet", counts=True)
_JOB_CONTROLLER: Final = Reporter("job-controller", counts=True)
_FRAMEWORKS: Final = {"Job": "batch/job", "RayJob": "ray.io/rayjob", "Pod": "pod"}
_LIMIT: Final = "Job has reached the specified backoff limit"


class PodNotes:
    """`job` is a reference to the job, with its namespace; `pod` is stored already."""

    def __init__(self, events: Events) -> None:
        self._events = events

    def of_job(self, job: Json, workload: Workload, stage: Stage, now: datetime) -> None:
        """What Kueue and the job's own controller note when the job moves on."""
        kueue = Reporter(f"{_FRAMEWORKS.get(job['kind'], job['kind'].lower())}-kueue-controller")
        if stage is Stage.STARTING and workload.admission:
            message = f"Admitted by clusterQueue {workload.admission.cluster_queue}"
            self._events.note(kueue, job, "Started", message, now)
        elif stage is Stage.STOPPING:
            self._events.note(kueue, job, "Stopped", workload.conditions[names.EVICTED].message, now)
        elif stage in (Stage.SUCCEEDED, Stage.FAILED):
            self._events.note(kueue, job, "FinishedWorkload", f"Workload '{workload.key}' is declared finished", now)
            if job["kind"] == "Job":
                self._end_of_batch_job(job, stage, now)

    def _end_of_batch_job(self, job: Json, stage: Stage, now: datetime) -> None:
        if stage is Stage.SUCCEEDED:
            self._events.note(_JOB_CONTROLLER, job, "Completed", "Job completed", now)
        else:
            self._events.note(_JOB_CONTROLLER, job, "BackoffLimitExceeded", _LIMIT, now, is_warning=True)

    def created(self, job: Json, pod: str, now: datetime) -> None:
        if job["kind"] == "Job":
            self._events.note(_JOB_CONTROLLER, job, "SuccessfulCreate", f"Created pod: {pod}", now)

    def placed(self, pod: Json, now: datetime) -> None:
        """What the scheduler notes, also where it found no node."""
        about, node = reference(pod), pod["spec"].get("nodeName")
        if node:
            message = f"Successfully assigned {about['namespace']}/{about['name']} to {node}"
            self._events.note(_SCHEDULER, about, "Scheduled", message, now, action="Binding")
        else:
            self._events.note(_SCHEDULER, about, "FailedScheduling", NO_NODE, now, is_warning=True, action="Scheduling")

    def of_kubelet(self, pod: Json, stage: Stage, now: datetime, *, is_sick: bool) -> None:
        node = pod["spec"].get("nodeName")
        if not node:
            return
        about = reference(pod)
        for container in pod["spec"].get("containers") or ():
            for reason, message in _of_container(container, stage):
                self._events.note(_KUBELET, about, reason, message, now, host=node)
            if is_sick and stage is Stage.RUNNING:
                which = f"{about['name']}_{about['namespace']}({about['uid']})"
                message = f"Back-off restarting failed container {container['name']} in pod {which}"
                self._events.note(_KUBELET, about, "BackOff", message, now, is_warning=True, count=2, host=node)


def _of_container(container: Json, stage: Stage) -> Iterator[tuple[str, str]]:
    """Reason and message."""
    name = container["name"]
    if stage is Stage.RUNNING:
        yield "Pulled", f'Container image "{container.get("image", "")}" already present on machine'
        yield "Created", f"Created container: {name}"
        yield "Started", f"Started container {name}"
    elif stage is Stage.STOPPING:
        yield "Killing", f"Stopping container {name}"
