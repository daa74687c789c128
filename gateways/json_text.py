"""JSON of API servers as the portal can keep it."""

import re
from typing import Any, Final

import orjson

_ESCAPED: Final = b"\\u0000"
_NULL: Final = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")


def read_json(text: bytes) -> Any:
    """With U+FFFD for each null character: whoever may write an annotation may write one, PostgreSQL takes none, and
    the whole list or watch would fail at it. Raises orjson.JSONDecodeError."""
    return orjson.loads(_NULL.sub(rb"\1\\ufffd", text) if _ESCAPED in text else text)
