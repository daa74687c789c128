"""Rows as CSV text that a spreadsheet may open."""

import csv
import io
from collections.abc import Iterable
from datetime import UTC, datetime

Cell = str | int | datetime | None

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe(cell: Cell) -> str | int:
    """A text that a spreadsheet would take for a formula is marked as text."""
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).isoformat()
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def csv_text(rows: Iterable[Iterable[Cell]]) -> str:
    """Of some rows, with times in ISO format and UTC."""
    text = io.StringIO()
    csv.writer(text).writerows(map(safe, row) for row in rows)
    return text.getvalue()
