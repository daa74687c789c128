"""How sums of lost work are told."""

import pytest

from jobs.rules.lost_work import Total
from jobs.words.evictions import total_text

HOUR = 3600


@pytest.mark.parametrize(
    ("total", "text"),
    [
        (Total(4 * HOUR, 8 * HOUR, 12 * HOUR), "8.0 GPU-h, between 4.0 and 12.0"),
        (Total(8 * HOUR, 8 * HOUR, 8 * HOUR), "8.0 GPU-h"),
        (Total(8 * HOUR, 8 * HOUR + 1, 8 * HOUR + 2), "8.0 GPU-h"),
        (Total(0, 0, 0, unknown=2), "unknown"),
    ],
)
def test_a_range_is_told_where_it_can_be_read(total: Total, text: str) -> None:
    assert total_text(total) == text
