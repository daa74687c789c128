from datetime import UTC, datetime

from emulator.kueue.conditions import find, with_condition

NOON = datetime(2026, 3, 2, 12, 0, 0, 900000, tzinfo=UTC)
LATER = datetime(2026, 3, 2, 13, 0, tzinfo=UTC)


def test_a_new_condition_begins_now() -> None:
    assert with_condition([], "Admitted", True, "Admitted", "said", NOON, 2) == [
        {
            "type": "Admitted",
            "status": "True",
            "reason": "Admitted",
            "message": "said",
            "observedGeneration": 2,
            "lastTransitionTime": "2026-03-02T12:00:00Z",
        }
    ]


def test_only_a_flip_moves_the_time() -> None:
    first = with_condition([], "Admitted", False, "A", "one", NOON)
    same = with_condition(first, "Admitted", False, "B", "two", LATER)
    flipped = with_condition(same, "Admitted", True, "B", "two", LATER)
    assert (same[0]["reason"], same[0]["message"]) == ("B", "two")
    assert [c[0]["lastTransitionTime"][11:13] for c in (first, same, flipped)] == ["12", "12", "13"]


def test_others_keep_their_place_and_the_given_list_is_not_changed() -> None:
    given = with_condition(with_condition([], "A", True, "R", "", NOON), "B", True, "R", "", NOON)
    changed = with_condition(given, "A", False, "R", "", LATER)
    assert [c["type"] for c in changed] == ["A", "B"]
    assert given[0]["status"] == "True"


def test_finding() -> None:
    conditions = with_condition([], "A", True, "R", "", NOON)
    assert find(conditions, "A") == conditions[0]
    assert find(conditions, "B") is None
