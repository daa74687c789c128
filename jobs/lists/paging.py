"""One page of a list of any length."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """One page of a list; `first` and `last` count from 1, 0 in an empty list."""

    rows: Sequence[Row]
    number: int
    pages: int
    total: int
    first: int

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1 if self.rows else 0


def cut_page(ask: Callable[[int, int], Iterable[Row]], total: int, number: int, per: int) -> Page[Row]:
    """The page that is asked for, or the last one; `ask` gives the rows from one place to before another."""
    pages = max(1, -(-total // per))
    number = min(number, pages)
    start = (number - 1) * per
    rows = list(ask(start, start + per)) if total else []
    return Page(rows, number, pages, total, start + 1 if rows else 0)
