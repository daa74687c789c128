"""The emulator's teams, nodes and jobs on a real Kueue, with a stand-in for the jobs' controllers."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from emulator.jobs import PREFIX
from emulator.world.arrivals import Arrival, arrivals_after
from emulator.world.hardware import nodes
from emulator.world.profiles import JOB
from emulator.world.teams import TEAMS, manifests
from emulator.world.workloads import workload
from tests.cluster import jobs
from tests.cluster.client import CONFLICT, NOT_FOUND, Client, Refused

Json = dict[str, Any]

SEED = 1
STORY = datetime(2026, 10, 8, 12, 30, tzinfo=UTC)
"""When the story that is told here begins, whatever the time is: at some minutes nobody borrows, or nobody waits."""
BACKLOG = timedelta(minutes=45)
BORROWER = "research"  # first, so that the others have to take their quota back
TIMES_FASTER = 10  # jobs arrive, run and go so much faster than in the emulator


class World:
    """Bare Workloads of jobs that only their annotations tell of."""

    def __init__(self, client: Client, now: datetime) -> None:
        self.client = client
        self.began = now
        self.teams = {team.name: team for team in TEAMS}
        self.coming: Iterator[Arrival] = arrivals_after(SEED, STORY)
        self.next = next(self.coming)

    def set_up(self) -> None:
        """Teams, queues and nodes, and the jobs of the last while, all at once."""
        for collection, manifest in manifests():
            self.client.create(collection, manifest)
        for node in nodes(Random(SEED)):
            self.client.create("nodes", node)
        backlog = self._backlog()
        for is_first in (True, False):
            for arrival in (a for a in backlog if (a.profile.team == BORROWER) == is_first):
                self._submit(arrival)
            self._wait_until_quiet()

    def _backlog(self) -> list[Arrival]:
        found: list[Arrival] = []
        for arrival in arrivals_after(SEED, STORY - BACKLOG):
            if arrival.at > STORY:
                return found
            found.append(arrival)
        return found

    def _wait_until_quiet(self) -> None:
        """Until no other Workload was admitted for two seconds."""
        before = None
        while (admitted := [jobs.is_true(w, "Admitted") for w in self._workloads()]) != before:
            before = admitted
            time.sleep(2)

    def _submit(self, arrival: Arrival) -> None:
        manifest = workload(self.teams[arrival.profile.team], arrival)
        if arrival.profile.owner == JOB:
            for part in ("ownerReferences", "labels"):  # Kueue would look for the Job and take it for deleted
                del manifest["metadata"][part]
        self.client.create("workloads", manifest)

    def _workloads(self) -> list[Json]:
        return self.client.items("workloads")

    def move(self, now: datetime) -> None:
        """Let arrive what is due by now, and let every job do its next step."""
        while self.began + (self.next.at - STORY) / TIMES_FASTER <= now:
            self._submit(self.next)
            self.next = next(self.coming)
        for found in self._workloads():
            try:
                self._follow(found, now)
            except Refused as error:
                if error.status not in (CONFLICT, NOT_FOUND):
                    raise

    def _follow(self, found: Json, now: datetime) -> None:
        """Stop what is evicted, start what is admitted, end what has run long enough, clean up."""
        place = (self.client, found["metadata"]["namespace"], found["metadata"]["name"])
        if jobs.is_true(found, "Finished"):
            if _is_over(found, "Finished", "keep", now):
                self.client.delete("workloads", place[2], place[1])
        elif jobs.must_release(found):
            if _is_over(found, "Evicted", "stop", now):
                jobs.release(*place)
        elif jobs.is_true(found, "Admitted"):
            if _is_over(found, "Admitted", "run", now):
                jobs.finish(*place, reason=_story(found, "outcome"))
            elif not jobs.is_true(found, "PodsReady") and _is_over(found, "Admitted", "start", now):
                jobs.start(*place)


def _is_over(found: Json, condition: str, stage: str, now: datetime) -> bool:
    reached = jobs.condition(found, condition)
    if reached is None:
        return False
    lasts = timedelta(seconds=float(_story(found, stage)) / TIMES_FASTER)
    return datetime.fromisoformat(reached["lastTransitionTime"]) + lasts <= now


def _story(found: Json, stage: str) -> str:
    told: str = found["metadata"]["annotations"][f"{PREFIX}{stage}"]
    return told


def now() -> datetime:
    return datetime.now(UTC)
