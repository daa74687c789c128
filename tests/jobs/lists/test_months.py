from datetime import UTC, datetime

import pytest
from django.utils import translation

from jobs.lists.months import latest_months, month_after, month_of


def test_a_month_is_told_by_its_first_moment() -> None:
    assert month_of("2026-02") == datetime(2026, 2, 1, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "2026", "2026-2", "2026-00", "2026-13", "1999-12", "٢٠٢٦-٠٢", "2026-02\n"])
def test_what_names_no_month(text: str) -> None:
    assert month_of(text) is None


def test_the_month_after_december_is_of_the_next_year() -> None:
    assert month_after(datetime(2026, 12, 1, tzinfo=UTC)) == datetime(2027, 1, 1, tzinfo=UTC)


def test_the_latest_months_the_newest_first_by_name() -> None:
    now = datetime(2026, 1, 31, 23, tzinfo=UTC)
    assert latest_months(now, 2) == [("2026-01", "January 2026"), ("2025-12", "December 2025")]
    with translation.override("pt-br"):
        assert latest_months(now, 1) == [("2026-01", "Janeiro de 2026")]
