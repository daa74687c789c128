"""Sums of amounts that may pass 64 bits, where SQLite's SUM fails: their upper and lower halves are summed apart."""

from typing import Any, Final

from django.db.models import F, Sum

_LOW_BITS: Final = 32
_LOW_MASK: Final = 2**_LOW_BITS - 1


def halves(name: str, **only: Any) -> tuple[Sum, Sum]:
    """Of the column, to annotate with; `only` narrows both, as Sum's own `filter` does."""
    amount = F(name)
    return Sum(amount.bitrightshift(_LOW_BITS), **only), Sum(amount.bitand(_LOW_MASK), **only)


def whole(high: Any, low: Any) -> int:
    """The sum, of the halves as a database gives them; 0 of no row."""
    return (int(high or 0) << _LOW_BITS) + int(low or 0)
