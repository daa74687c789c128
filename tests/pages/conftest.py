from collections.abc import Iterator
from typing import Any

import pytest
import time_machine

from teams.models import Team
from tests.factories import TeamFactory
from tests.people import People
from tests.stories import START, Job, cluster_queue, cohort, local_queue
from tests.worlds import World

THEIR_UID = "22222222-2222-4222-8222-222222222222"
UNKNOWN_UID = "33333333-3333-4333-8333-333333333333"
PREEMPTED = (
    f"Preempted to accommodate a workload (UID: {THEIR_UID}, JobUID: {UNKNOWN_UID}) due to reclamation within the "
    "cohort; preemptor path: /shared/zebra-herd/zebra-cq; preemptee path: /shared/research-queue"
)


@pytest.fixture(autouse=True)
def _noon() -> Iterator[Any]:
    """The portal's clock stands still where the stories begin."""
    with time_machine.travel(START, tick=False) as traveller:
        yield traveller


@pytest.fixture
def zebra(people: People) -> Team:
    team: Team = TeamFactory(slug="zebra", name="Zebra Crossing")
    return team


@pytest.fixture
def zoo(shared: World, zebra: Team) -> World:
    """Beside research, the team zebra, all of whose names hold its own: in queues, namespaces, jobs, messages."""
    shared.is_read()
    shared.queues(
        cohort("zebra-herd", parent="shared"),
        cluster_queue("zebra-cq", 4, cohort="zebra-herd"),
        local_queue("hyperpod-ns-zebra", "zebra-cq", name="zebra-lq"),
        local_queue("hyperpod-ns-zebra", "research-queue", name="zebra-second-lq"),
    )
    shared.bind(zebra, "hyperpod-ns-zebra")
    return shared


@pytest.fixture
def jobs(zoo: World) -> dict[str, Job]:
    """Of each team one that waits and one that runs; ours were told of zebra in every way."""
    waits = Job("waits", created=-30).waits(
        "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor "
        "ml.p5.48xlarge, 4 more needed. ClusterQueue zebra-cq of hyperpod-ns-zebra/pytorchjob-zebra-llm borrows"
    )
    evicted = Job("evicted", created=-60).admit(-40).evict(-20, message=PREEMPTED).release(-19, PREEMPTED)
    runs = Job("runs", created=-60, gpus=14).admit(-50)
    runs.condition("PreemptedWorkload", True, -10, "Preempted", "Preempted workload hyperpod-ns-zebra/zebra-job-7")
    theirs = Job("zebra-llm", "hyperpod-ns-zebra", queue="zebra-cq", gpus=4, uid=THEIR_UID).admit(-30)
    ahead = Job("zebra-first", "hyperpod-ns-zebra", created=-90, queueName="zebra-second-lq").waits("no room")
    found = {"waits": waits, "evicted": evicted, "runs": runs, "theirs": theirs, "ahead": ahead}
    zoo.see(*found.values())
    return found
