"""Free quota, admission and victims, held against what Kueue's own scheduler code answered
(`python -m tests.scheduling.decisions`)."""

from collections import Counter
from functools import lru_cache
from typing import Any

import pytest

from scheduling.accounting import reserved_by_queue
from scheduling.admission import Decision, Fit, Preempt, decide
from scheduling.cohort import figures
from scheduling.messages import pending_preemption
from scheduling.parsing import parse_cluster_queue, parse_cohort, parse_resource_flavor, parse_workload
from scheduling.trial import Snapshot, Trial
from tests.scheduling import decisions

Json = dict[str, Any]

pytestmark = pytest.mark.slow


@lru_cache
def recorded() -> list[Json]:
    return list(decisions.recorded())


def snapshot(asked: Json) -> Snapshot:
    return Snapshot(
        tuple(parse_cluster_queue(q) for q in asked["queues"]),
        tuple(parse_cohort(c) for c in asked["cohorts"]),
        tuple(parse_resource_flavor(f) for f in asked["flavors"]),
        tuple(parse_workload(w) for w in asked["workloads"]),
    )


def ours(decision: Decision) -> Json:
    """A decision in the oracle's words."""
    if not isinstance(decision, Fit | Preempt):
        return {"mode": "NoFit", "message": decision.message}
    victims = [[v.workload.name, v.reason] for v in decision.victims] if isinstance(decision, Preempt) else []
    return {
        "mode": type(decision).__name__,
        "borrowing": decision.borrowing,
        "message": decision.message if isinstance(decision, Preempt) else "",
        "flavors": [dict(a.flavors) for a in decision.admission.pod_sets],
        "victims": victims,
    }


def theirs(decision: Json) -> Json:
    """The oracle's decision as Kueue acts on it: without victims it only waits."""
    victims = decision["victims"] or []
    if decision["mode"] == "NoFit" or (decision["mode"] == "Preempt" and not victims):
        return {"mode": "NoFit", "message": decision["message"]}
    message = pending_preemption(decision["message"], len(victims)) if victims else decision["message"]
    return {**decision, "victims": victims, "message": message}


def test_what_is_free_and_what_could_be_is_what_kueue_says():
    for number, each in enumerate(recorded()):
        snap = snapshot(each["asked"])
        result = figures(snap.cluster_queues, snap.cohorts, *reserved_by_queue(snap.workloads))
        for line in each["answer"]["figures"]:
            mine = result.queues[line["queue"]].figures[line["flavor"], line["resource"]]
            assert (mine.available, mine.potential) == (line["available"], line["potential"]), (number, line)


def test_every_head_is_decided_as_kueue_decides():
    for number, each in enumerate(recorded()):
        snap = snapshot(each["asked"])
        for head, decision in zip(each["asked"]["heads"], each["answer"]["decisions"], strict=True):
            mine = ours(decide(Trial(snap), parse_workload(head["workload"]), head["queue"]))
            assert mine == theirs(decision), (number, head["workload"]["metadata"]["name"])


def test_the_recorded_situations_are_varied():
    made = [theirs(decision) for each in recorded() for decision in each["answer"]["decisions"]]
    modes = Counter(decision["mode"] for decision in made)
    reasons = Counter(reason for decision in made for _, reason in decision.get("victims", ()))
    assert min(modes["Fit"], modes["NoFit"]) >= 300
    assert modes["Preempt"] >= 50
    assert min(reasons[r] for r in ("InClusterQueue", "InCohortReclamation", "InCohortReclaimWhileBorrowing")) >= 10
    assert max(decision.get("borrowing", 0) for decision in made) >= 2
