"""A portal full of teams and workloads, for benches of its pages: written by the sync's own hand, the same each time.

Of a hundred workloads ninety are over, six hold quota, four wait; one in ten was evicted once. Messages name other
teams' queues and workloads, so that redaction has work.
"""

import random
import uuid
from datetime import datetime

from django.db import connection
from django.db.models import F

from accounts.models import User
from jobs.models import Workload
from jobs.states import OVER
from portal.write_path import BATCH
from scheduling import names
from scheduling.objects import ClusterQueue
from scheduling.objects import Workload as Look
from teams.models import Cluster, CostCentre, Membership, NamespaceBinding, PlatformRole, Team
from teams.permissions import GlobalRole, TeamRole
from tests.stories import G6, GPU, P5, START, Job, cluster_queue, cohort, flavor, groups, local_queue, quota
from tests.worlds import World

TEAMS, COHORTS = 200, 5
ADMIN, NEWCOMER = "admin", "newcomer"

_KINDS = ("PyTorchJob", "HyperPodPyTorchJob", "Job", "RayJob")
_WORDS = ("llm", "bert", "vit", "moe", "probe", "finetune", "eval", "pretrain", "ablation", "speech")
_HOUR, _DAY = 60, 1440  # in minutes, as stories count
_LONGEST_DAYS = {"over": 90, "holds": 3, "waits": 1}  # since it was created


def settle(now: datetime) -> World:
    """Teams with a member, a namespace and a queue each, a platform admin, and a newcomer without any team."""
    cluster = Cluster.objects.create(slug="gpu-one", name="GPU one", access="kubeconfig", kubeconfig_path="none")
    world = World(cluster, now=START)
    _settle_people(cluster)
    world.queues(*(cohort(f"cohort-{n}") for n in range(COHORTS)), flavor(P5), flavor(G6))
    world.queues(*map(_queue, range(TEAMS)))
    world.queues(*(local_queue(namespace(n), queue_name(n)) for n in range(TEAMS)))
    world.now = now
    return world


def _settle_people(cluster: Cluster) -> None:
    centre = CostCentre.objects.create(code="cc-1", name="Costs")
    teams = [Team(slug=f"team-{n:03}", name=f"Team {n:03}", cost_centre=centre) for n in range(TEAMS)]
    Team.objects.bulk_create(teams)
    NamespaceBinding.objects.bulk_create(
        NamespaceBinding(cluster=cluster, namespace=namespace(n), team=team, valid_from=START)
        for n, team in enumerate(teams)
    )
    usernames = [*map(member, range(TEAMS)), ADMIN, NEWCOMER]
    people = [User(username=name, name=name.title(), created_at=START) for name in usernames]
    User.objects.bulk_create(people)
    Membership.objects.bulk_create(
        Membership(user=user, team=team, role=TeamRole.MEMBER) for user, team in zip(people, teams, strict=False)
    )
    PlatformRole.objects.create(user=people[TEAMS], role=GlobalRole.PLATFORM_ADMIN)


def member(team: int) -> str:
    """The username of the only member of a team."""
    return f"member-{team:03}"


def namespace(team: int) -> str:
    return f"hyperpod-ns-team-{team:03}"


def queue_name(team: int) -> str:
    return f"{namespace(team)}-clusterqueue"


def _queue(team: int) -> ClusterQueue:
    """Less than its workloads hold, so that most borrow; some have a limit, some lend nothing."""
    amounts = {
        GPU: quota(64, (None, 0, 64)[team % 3], (None, 0)[team % 2]),
        "cpu": quota(4000),
        "memory": quota("64Ti"),
    }
    return cluster_queue(
        queue_name(team), cohort=f"cohort-{team % COHORTS}", flavors=groups((P5, amounts), (G6, amounts))
    )


def fill(world: World, numbers: range) -> None:
    """The workloads of these numbers, as lists and watches would have left them; a third of what is over is gone."""
    for start in range(numbers.start, numbers.stop, BATCH):
        looks = [_looks(number, world.now) for number in range(start, min(start + BATCH, numbers.stop))]
        world.see(*(early for early, _ in looks if early))
        world.see(*(last for _, last in looks))
    over = Workload.objects.live().filter(state__in=OVER).alias(third=F("pk") % 3).filter(third=0)
    over.update(gone_after=F("since"), gone_before=F("since"), gone_version=F("resource_version"))
    analyse()


def analyse() -> None:
    """What a server does by itself within minutes."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


def _looks(number: int, now: datetime) -> tuple[Look | None, Look]:
    """An early look, if the workload was evicted, and the last one."""
    rng = random.Random(number)  # the same workload, however many there are
    today = (now - START).total_seconds() / _HOUR
    team, end = _of_whom(rng, number)
    created = today - rng.uniform(_HOUR, _LONGEST_DAYS[end] * _DAY)
    early, at = None, created + rng.uniform(1, _HOUR / 4)
    job, kind = _job(rng, number, team, created), rng.choice((P5, G6))
    if rng.random() < 0.1:
        early = job.admit(at, kind).record
        job.evict(at + 5, message=preempted(rng, team)).release(at + 6, preempted(rng, team))
        at += 10
    if end == "waits":
        job.waits(_why(rng), at)
    else:
        job.admit(at, kind)
    if end == "over":
        job.finish(rng.uniform(at, today), rng.choice((names.SUCCEEDED, names.SUCCEEDED, "Failed")))
    return early, job.record


def _of_whom(rng: random.Random, number: int) -> tuple[int, str]:
    """The team and how its workload ended up; every team has one of each among the first."""
    if number < len(_LONGEST_DAYS) * TEAMS:
        return number % TEAMS, list(_LONGEST_DAYS)[number // TEAMS]
    return rng.randrange(TEAMS), rng.choices(list(_LONGEST_DAYS), (90, 6, 4))[0]


def _job(rng: random.Random, number: int, team: int, created: float) -> Job:
    title = "-".join([*rng.choices(_WORDS, k=2), str(number)])
    amounts = {GPU: str(rng.choice((1, 4, 8))), "cpu": "32", "memory": "256Gi"}
    priority = rng.choice((0, 50, 100))
    job = Job(
        title, namespace(team), queue=queue_name(team), requests=amounts, created=created, priority=priority,
        uid=new_uid(rng),
    )  # fmt: skip
    job.obj["metadata"]["ownerReferences"][0]["kind"] = rng.choice(_KINDS)
    return job


def new_uid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def _why(rng: random.Random) -> str:
    missing = f"insufficient unused quota for {GPU} in flavor {rng.choice((P5, G6))}, {rng.randint(1, 8)} more needed"
    return f"couldn't assign flavors to pod set main: {missing}"


def preempted(rng: random.Random, team: int) -> str:
    root, other = f"/cohort-{team % COHORTS}", (team + COHORTS) % TEAMS
    return (
        f"Preempted to accommodate a workload (UID: {new_uid(rng)}, JobUID: {new_uid(rng)}) due to reclamation within "
        f"the cohort; preemptor path: {root}/{queue_name(other)}; preemptee path: {root}/{queue_name(team)}"
    )
