"""Plays every situation on a real Kueue and keeps what Kueue made of it, for tests on machines without one.

    python -m tests.cluster.record

Writes a file for each kind of Kueue into tests/scheduling/fixtures, one JSON line per situation.
"""

import json
import lzma
import re
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.cluster.plane import ControlPlane
from tests.cluster.play import play_all
from tests.cluster.situations import Situation, situation

Json = dict[str, Any]

SITUATIONS = 300
FIXTURES = Path(__file__).parents[1] / "scheduling" / "fixtures"
FILES = {False: FIXTURES / "classical.jsonl.xz", True: FIXTURES / "fair-sharing.jsonl.xz"}

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_KEPT_METADATA = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp")


def record(fair_sharing: bool) -> int:
    """Play the situations meant for that kind of Kueue and write their file. The number of them."""
    wanted = [s for s in map(situation, range(SITUATIONS)) if s.fair_sharing == fair_sharing]
    with tempfile.TemporaryDirectory() as folder, ControlPlane(Path(folder), fair_sharing=fair_sharing) as plane:
        lines = [_line(s, a) for s, a in zip(wanted, play_all(plane.admin, wanted), strict=True)]
    FIXTURES.mkdir(exist_ok=True)
    FILES[fair_sharing].write_bytes(lzma.compress("".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME))
    return len(lines)


def _line(played: Situation, answer: Json) -> str:
    trimmed = {**answer, "items": [trim(item) for item in answer["items"]]}
    text = json.dumps({"situation": asdict(played), **trimmed}, separators=(",", ":"))
    return with_small_uids(text) + "\n"


def trim(item: Json) -> Json:
    """The object without what only the API server needs, its pods with nothing but their requests."""
    kept = {**item, "metadata": {k: v for k, v in item["metadata"].items() if k in _KEPT_METADATA}}
    if kept["kind"] == "Workload":
        pod_sets = [{**p, "template": _bare(p["template"])} for p in item["spec"]["podSets"]]
        kept["spec"] = {**item["spec"], "podSets": pod_sets}
    return kept


def with_small_uids(text: str) -> str:
    """The text with each uid replaced by a short number of the same rank: order by uid stays what it was."""
    found = sorted(set(_UID.findall(text)))
    short = {uid: f"uid-{rank:04}" for rank, uid in enumerate(found)}
    return _UID.sub(lambda match: short[match[0]], text)


def _bare(template: Json) -> Json:
    containers = [{"name": c["name"], "resources": c.get("resources", {})} for c in template["spec"]["containers"]]
    return {"spec": {"containers": containers}}


if __name__ == "__main__":
    for kind in FILES:
        began = time.monotonic()
        count = record(kind)
        sys.stdout.write(f"{FILES[kind].name}: {count} situations in {time.monotonic() - began:.0f} s\n")
