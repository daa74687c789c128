"""`scheduling` against what a real Kueue made of random situations (`python -m tests.cluster.record`)."""

import json
import lzma
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tests.scheduling.answers import Answer

FIXTURES = Path(__file__).parent / "fixtures"
KINDS = ("classical", "fair-sharing")
LEAST_SITUATIONS = 200
MOST_BYTES = 3_000_000


@lru_cache
def recorded(kind: str) -> list[dict[str, Any]]:
    text = lzma.decompress((FIXTURES / f"{kind}.jsonl.xz").read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_is_what_kueue_says(kind: str) -> None:
    found = [d for each in recorded(kind) for d in Answer(each).disagreements()]

    assert not found, "\n".join(found)


def test_recorded_situations_are_many_and_varied() -> None:
    answers = [Answer(each) for kind in KINDS for each in recorded(kind)]
    queues = [q for a in answers for q in a.queues]
    workloads = [w for a in answers for w in a.workloads]

    assert len(answers) >= LEAST_SITUATIONS
    assert sum(any(r.borrowed for r in q.status.reservation.values()) for q in queues) >= LEAST_SITUATIONS
    assert sum(bool(q.status.weighted_share) for q in queues) >= LEAST_SITUATIONS / 2
    assert sum(w.holds_quota and w.is_true("Evicted") for w in workloads) >= LEAST_SITUATIONS / 2
    assert sum(len(order) > 1 for a in answers for order in a.order.values()) >= LEAST_SITUATIONS
    assert sum(bool(w.reclaimable) for w in workloads) >= LEAST_SITUATIONS / 4


def test_recorded_situations_stay_small() -> None:
    assert sum(file.stat().st_size for file in FIXTURES.iterdir()) <= MOST_BYTES
