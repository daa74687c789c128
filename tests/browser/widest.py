"""The longest of everything that tables show, written into a portal's ledger: two clusters, names with and without
places to break, amounts of thousands, and evictions of every kind and age, the latest of them just now."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import product

from django.utils import timezone

from jobs.models import ToldEviction
from scheduling import names
from scheduling.preemption_messages import preempted
from teams.models import Cluster, NamespaceBinding, Team
from tests.pods import Pod, see_pods
from tests.stories import START, Job, cluster_queue, cohort, local_queue
from tests.worlds import World

UNBROKEN = "megatronlongcontextpretrainingofthefoundationmodels"
SPACED = "Foundation models and long context of all laboratories"
HYPHENED = "production-inference-critical-with-guaranteed-latency"
NODE = "hyperpod-i-0123456789abcdef0"
OURS, THEIRS = "hyperpod-ns-research", "hyperpod-ns-vision"
OUR_QUEUE, THEIR_QUEUE = f"research-{HYPHENED}", f"vision{UNBROKEN}"
OLDEST = timedelta(days=89)

AGES = (timedelta(seconds=48), timedelta(minutes=59), timedelta(hours=23, minutes=59), timedelta(days=29, hours=23))
"""The widest of each unit."""

REASONS = (names.IN_CLUSTER_QUEUE, names.IN_COHORT_RECLAIM_WHILE_BORROWING, names.IN_COHORT_FAIR_SHARING)
INTERVALS = ("", "24h", "soon")
KINDS = ("PyTorchJob", "InferenceEndpointConfig", "Workspace")


def fill() -> None:
    Team.objects.filter(slug="research").update(name=UNBROKEN.title())
    Team.objects.filter(slug="vision").update(name=SPACED)
    Cluster.objects.update(name=f"{SPACED}, us-east-2")
    Cluster.objects.create(slug="gpu-second", name=UNBROKEN.upper(), kubeconfig_path="there/is/none")
    for cluster in Cluster.objects.all():
        _Widest(World(cluster, timezone.now())).fill()


class _Widest:
    """One cluster's."""

    def __init__(self, world: World) -> None:
        self.world = world

    def fill(self) -> None:
        self._queues()
        self.winner = self._job("winner", THEIRS, "", KINDS[1]).admit(self._at(OLDEST))
        self.world.see(self.winner)
        for job, age, reason in self._victims():
            self._evict(job, age, reason)
        for namespace in (OURS, THEIRS):
            job = self._job("waits", namespace)
            self.world.see(job.waits("insufficient unused quota for nvidia.com/gpu " * 20, self._at(AGES[2])))
        self._tell()
        self.world.is_read(self.world.now)

    def _queues(self) -> None:
        world = self.world
        world.queues(cohort(), cluster_queue(OUR_QUEUE, 4096), cluster_queue(THEIR_QUEUE, 4096))
        world.queues(local_queue(OURS, OUR_QUEUE, HYPHENED), local_queue(THEIRS, THEIR_QUEUE, UNBROKEN))
        NamespaceBinding.objects.filter(cluster=world.cluster).delete()
        for team, namespace in (("research", OURS), ("vision", THEIRS)):
            world.bind(Team.objects.get(slug=team), namespace)
        NamespaceBinding.objects.filter(cluster=world.cluster).update(valid_from=START - OLDEST)

    def _victims(self) -> Iterator[tuple[Job, timedelta, str]]:
        for age, reason, interval, kind in product(AGES, REASONS, INTERVALS, KINDS):
            name = f"{age.seconds}-{reason}-{interval}-{kind}".lower()
            yield self._job(name, OURS, interval, kind), age, reason

    def _job(self, name: str, namespace: str, interval: str = "", kind: str = KINDS[0]) -> Job:
        queue = OUR_QUEUE if namespace == OURS else THEIR_QUEUE
        uid = f"{self.world.cluster.slug}-{namespace}-{name}"
        job = Job(f"{name}-{UNBROKEN}", namespace, queue=queue, gpus=8, pods=128, uid=uid, created=self._at(OLDEST))
        job.obj["metadata"]["ownerReferences"][0]["kind"] = kind
        job.obj["spec"]["priorityClassRef"]["name"] = UNBROKEN if kind == KINDS[0] else HYPHENED
        if interval:
            annotations = {names.CHECKPOINT_INTERVAL_ANNOTATION: interval}
            job.obj["spec"]["podSets"][0]["template"]["metadata"] = {"annotations": annotations}
        return job

    def _evict(self, job: Job, age: timedelta, reason: str) -> None:
        message = preempted(self.winner.uid, f"job-{self.winner.uid}", reason, (THEIR_QUEUE,), (OUR_QUEUE,))
        self.world.see(job.admit(self._at(OLDEST)))
        pod = Pod(job, f"{job.uid}-worker-127", NODE, bound=self._at(OLDEST))
        see_pods(self.world, pod)
        self.world.see(job.evict(self._at(age), message=message))
        see_pods(self.world, pod.stops(self._at(age), "DeletionByTaintManager"))
        if age > AGES[0]:
            self.world.see(job.release(self._at(age) + 1, message))

    def _tell(self) -> None:
        """One that events alone tell of."""
        ToldEviction.objects.create(
            cluster=self.world.cluster, namespace=OURS, workload_uid="told", workload_name=f"told-{UNBROKEN}",
            reason=names.CLUSTER_QUEUE_STOPPED, at=self.world.now - AGES[2],
        )  # fmt: skip

    def _at(self, age: timedelta) -> float:
        """Minutes after the stories' start."""
        return (self.world.now - age - START) / timedelta(minutes=1)
