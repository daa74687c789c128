from datetime import datetime, timedelta

import pytest

from emulator.standstill import Standstills, loaded
from tests.emulator.scene import START


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


@pytest.fixture
def standstills() -> Standstills:
    return Standstills([(at(10), at(100)), (at(110), at(120))])


@pytest.mark.parametrize(
    ("start", "minutes", "end"),
    [
        (0, 5, 5),
        (0, 10, 10),
        (0, 15, 105),
        (0, 20, 110),
        (0, 25, 125),
        (100, 5, 105),
        (130, 5, 135),
    ],
)
def test_pauses_put_off_what_was_due_after_them(standstills: Standstills, start: int, minutes: int, end: int) -> None:
    assert standstills.later(at(start), minutes * 60) == at(end)


def test_a_pause_that_ends_before_it_begins_is_none(standstills: Standstills) -> None:
    standstills.add(at(200), at(150))
    assert standstills.later(at(190), 3600) == at(250)


def test_they_are_remembered(standstills: Standstills) -> None:
    standstills.add(at(200), at(210))
    again = loaded(standstills.dump())
    assert again.later(at(190), 20 * 60) == at(220)
    assert again.dump() == standstills.dump()
