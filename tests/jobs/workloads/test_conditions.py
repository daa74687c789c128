import pytest

from jobs.models import Workload
from jobs.redaction import Redaction
from jobs.workloads.conditions import condition_rows
from tests.stories import minute

OPEN = Redaction(True, frozenset(), frozenset())
VEILED = Redaction(False, frozenset(), frozenset({"zebra"}))


def told(status: bool | None, since: float | None, message: str = "") -> dict[str, object]:
    at = None if since is None else minute(since).isoformat()
    return {"status": status, "reason": "Because", "message": message, "since": at}


def test_newest_first_and_those_without_a_time_last() -> None:
    workload = Workload(
        conditions={"Old": told(True, 1), "Timeless": told(None, None), "New": told(False, 2), "Also": told(True, 2)}
    )
    rows = condition_rows(workload, OPEN)
    assert [(row.type, row.status, row.since) for row in rows] == [
        ("Also", True, minute(2)),
        ("New", False, minute(2)),
        ("Old", True, minute(1)),
        ("Timeless", None, None),
    ]


@pytest.mark.parametrize(("redaction", "message"), [(OPEN, "by zebra"), (VEILED, "by [another team]")])
def test_messages_are_redacted(redaction: Redaction, message: str) -> None:
    (row,) = condition_rows(Workload(conditions={"Preempted": told(True, 1, "by zebra")}), redaction)
    assert (row.reason, row.message) == ("Because", message)
