"""A month of usage by hour against `json.loads` of the same spans; prints the ratio of the two and the peak of memory.

    python -m bench.month

50 ClusterQueues of 2 flavors in 5 cohorts under one root; one team to a queue, but three in every fifth; 100,000 spans
in 30 days, as many at once as there is quota, so that a fifth of what runs is borrowed. A fifth of them ends by an
eviction, which throws away what came since a checkpoint of the last half hour. Both sides run in turn in one process,
in its CPU time; the ratio is that of the medians. The peak counts the loaded rows and their JSON, too.
"""

import gc
import json
import random
import resource
import statistics
import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from bench.scheduling import timed
from scheduling.hour_rows import Era, Held, Stretch, micros
from scheduling.hours import Facts, Hours, roll_up
from scheduling.lost_time import Lost, LostWork
from scheduling.objects import ClusterQueue, Cohort
from scheduling.parsing import parse_cluster_queue, parse_cohort

QUEUES, COHORTS, SPANS, DAYS, ROUNDS = 50, 5, 100_000, 30, 5
FLAVORS = ("ml.p5.48xlarge", "ml.g6.12xlarge")
GPU = "nvidia.com/gpu"
EVICTED_EACH, INTERVAL = 5, 30 * 60 * 10**6
NOMINAL, PER_SPAN = 64, (1, 2, 4, 8, 8, 16, 32)
START = datetime(2026, 10, 1, tzinfo=UTC)
MONTH = Stretch(micros(START), micros(START + timedelta(days=DAYS)))
MEAN_HOLD = timedelta(days=DAYS) * NOMINAL * QUEUES * len(FLAVORS) / (SPANS * sum(PER_SPAN) / len(PER_SPAN))

Json = dict[str, Any]


def main() -> None:
    gc.set_threshold(50_000, 20, 20)  # as in the portal's own processes
    text = written(build_spans(random.Random(7)))
    eras = [Era(*MONTH, queues(), cohorts())]
    loading: list[float] = []
    rolling: list[float] = []
    for _ in range(ROUNDS):
        rows = timed(loading, partial(json.loads, text))
        hours = timed(rolling, partial(month_of, eras, rows))
        used = sum(row.used for row in hours.queues)
        assert sum(row.lost_high for row in hours.teams) == sum(most_lost(each) for each in losses(rows))
        assert used == sum(each.amount * length(each) for each in holds(rows))
        assert used == sum(row.own + row.borrowed for row in hours.teams)
        borrowed = sum(row.borrowed for row in hours.queues) / used
        size = f"{len(hours.queues)} hours of queues, {len(hours.teams)} of teams"
        del rows, hours
    print(f"{size}; {borrowed:.0%} of the use is borrowed")
    base, taken = statistics.median(loading), statistics.median(rolling)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"json.loads {base:.2f} s, roll-up {taken:.2f} s, peak {peak:.0f} MB (300)")
    print(f"ratio {taken / base:.1f} (must reach 10)")


def written(rows: Iterable[Json]) -> str:
    """A JSON list, without the rows and their texts standing in memory beside it."""
    text = bytearray()
    for number, row in enumerate(rows):
        text += ("," if number else "[").encode() + json.dumps(row).encode()
    return (text + b"]").decode()


def month_of(eras: Sequence[Era], rows: Iterable[Json]) -> Hours:
    return roll_up(MONTH, Facts(eras, list(holds(rows)), lost=losses(rows)))


def holds(rows: Iterable[Json]) -> Iterator[Held]:
    for row in rows:
        reserved_at, released = (datetime.fromisoformat(row[name]) for name in ("reserved_at", "released_before"))
        where = (row["cluster_queue"], row["flavor"], row["resource"], row["team_id"], row["uid"])
        yield Held(*where, reserved_at, row["amount"], micros(reserved_at), micros(released))


def losses(rows: Iterable[Json]) -> Iterator[Lost]:
    """What each eviction threw away of a hold whose job saves its work every half hour."""
    for row in rows:
        if row["evicted_at"]:
            start, end = (micros(datetime.fromisoformat(row[name])) for name in ("admitted_at", "evicted_at"))
            most = row["amount"] * min(end - start, INTERVAL)
            work = LostWork(max(start, end - INTERVAL), end, [(row["amount"], start, end)], (0, most // 2, most), False)
            where = (row["cluster_queue"], row["flavor"], row["resource"], row["team_id"])
            yield Lost(*where, work.start, end, work)


def most_lost(lost: Lost) -> int:
    """Within the month."""
    return lost.work.done_before(MONTH.end)[2] - lost.work.done_before(MONTH.start)[2]


def length(hold: Held) -> int:
    return max(0, min(hold.end, MONTH.end) - max(hold.start, MONTH.start))


def cohorts() -> list[Cohort]:
    names = [("root", None), *((f"cohort-{number}", "root") for number in range(COHORTS))]
    return [
        parse_cohort({"metadata": {"name": name, "uid": name}, "spec": {"parentName": parent}})
        for name, parent in names
    ]


def queues() -> list[ClusterQueue]:
    flavors = [{"name": name, "resources": [{"name": GPU, "nominalQuota": NOMINAL}]} for name in FLAVORS]
    groups = [{"coveredResources": [GPU], "flavors": flavors}]
    return [
        parse_cluster_queue(
            {
                "metadata": {"name": f"queue-{number}", "uid": f"queue-{number}"},
                "spec": {"cohortName": f"cohort-{number % COHORTS}", "resourceGroups": groups},
            }
        )
        for number in range(QUEUES)
    ]


def build_spans(rng: random.Random) -> Iterator[Json]:
    """What the ledger keeps of a span with one usage, as JSON writes it."""
    for number in range(SPANS):
        queue = rng.randrange(QUEUES)
        reserved = START + timedelta(seconds=rng.randrange(DAYS * 86_400))
        released = (reserved + rng.expovariate(1) * MEAN_HOLD).replace(microsecond=0)
        yield {
            "uid": str(uuid.UUID(int=rng.getrandbits(128))),
            "namespace": f"hyperpod-ns-team-{queue}",
            "team_id": queue + (100 * rng.randrange(3) if queue % 5 == 0 else 0),
            "cluster_queue": f"queue-{queue}",
            "reserved_at": reserved.isoformat(),
            "admitted_at": reserved.isoformat(),
            "evicted_at": None if number % EVICTED_EACH else released.isoformat(),
            "released_after": released.isoformat(),
            "released_before": released.isoformat(),
            "end": "finished" if number % EVICTED_EACH else "evicted",
            "flavor": rng.choice(FLAVORS),
            "resource": GPU,
            "amount": rng.choice(PER_SPAN),
            "valid_from": reserved.isoformat(),
            "valid_to": None,
        }


if __name__ == "__main__":
    main()
