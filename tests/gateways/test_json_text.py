import orjson
import pytest

from gateways.json_text import read_json


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (rb'"a\u0000b"', "a\ufffdb"),
        (rb'"\u0000\u0000"', "\ufffd\ufffd"),
        (rb'"\\u0000"', r"\u0000"),
        (rb'"\\\u0000"', "\\\ufffd"),
        (rb'"\\\\u0000 \u0000"', "\\\\u0000 \ufffd"),
        (rb'{"a\u0000": [1]}', {"a\ufffd": [1]}),
    ],
)
def test_null_characters_become_what_a_database_takes_and_nothing_else_changes(written: bytes, read: object) -> None:
    assert read_json(written) == read


def test_what_is_no_json() -> None:
    with pytest.raises(orjson.JSONDecodeError):
        read_json(rb'{"a\u0000"')
