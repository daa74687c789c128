from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings
from django.utils import timezone
from django.utils.translation import override

from portal.times import ago_text, duration_patterns, duration_text, time_text, zone_text
from tests.stories import START


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "0 s"),
        (0, "0 s"),
        (1, "1 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h 0 min"),
        (86399, "23 h 59 min"),
        (86400, "1 d 0 h"),
        (100 * 86400, "100 d 0 h"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration_text(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(("seconds", "text"), [(-5, "just now"), (4.9, "just now"), (5, "5 s ago"), (60, "1 min ago")])
def test_nobody_needs_the_first_seconds_counted(seconds: float, text: str) -> None:
    assert ago_text(timedelta(seconds=seconds)) == text


def test_the_script_is_told_how_durations_are_written() -> None:
    assert duration_patterns()["hours"] % {"hours": 1, "minutes": 30} == duration_text(timedelta(minutes=90))
    assert list(duration_patterns()) == ["now", "days", "hours", "minutes", "seconds"]


def test_a_time_is_written_as_the_language_writes_it_in_the_reader_s_zone() -> None:
    assert time_text(START) == "8 Oct 2026 12:00:00"
    with timezone.override("America/Sao_Paulo"), override("pt-br"):
        assert time_text(START) == "8 de out. de 2026, 09:00:00"
        assert time_text(datetime(2027, 1, 1, 1, 2, 3, tzinfo=UTC)) == "31 de dez. de 2026, 22:02:03"


@pytest.mark.parametrize(
    ("zone", "time", "text"),
    [
        ("America/Sao_Paulo", datetime(1, 1, 1, tzinfo=UTC), "1 Jan 1 00:00:00"),
        ("Pacific/Kiritimati", datetime.max.replace(tzinfo=UTC), "31 Dec 9999 23:59:59"),
    ],
)
def test_a_time_that_the_zone_has_not_is_written_in_utc(zone: str, time: datetime, text: str) -> None:
    with timezone.override(zone):
        assert time_text(time) == text
        assert zone_text(time) == "UTC"


@pytest.mark.parametrize("code", [code for code, _name in settings.LANGUAGES])
def test_every_month_has_its_name(code: str) -> None:
    with override(code):
        assert len({time_text(datetime(2026, month, 1, tzinfo=UTC)) for month in range(1, 13)}) == 12


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", "UTC"),
        ("Europe/Lisbon", "WEST"),
        ("America/Sao_Paulo", "Brasília time"),
        ("America/Bahia", "UTC-03"),
        ("Asia/Kathmandu", "UTC+0545"),
    ],
)
def test_zones_are_called_as_people_call_them(zone: str, text: str) -> None:
    with timezone.override(zone):
        assert zone_text(START) == text
