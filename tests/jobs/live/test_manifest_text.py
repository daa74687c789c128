from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from jobs.live.manifest_text import yaml_text

scalars = st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]))
manifests = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc-./", min_size=1), inner, max_size=3),
)


@given(manifests)
def test_what_is_printed_reads_as_the_same(manifest: Any) -> None:
    assert yaml.safe_load(yaml_text(manifest)) == manifest


def test_in_the_order_of_the_server_with_long_texts_in_blocks() -> None:
    text = yaml_text({"kind": "Workload", "apiVersion": "v1", "command": ["sh", "one\ntwo\n"], "on": "yes"})
    assert text == "kind: Workload\napiVersion: v1\ncommand:\n- sh\n- |\n  one\n  two\n'on': 'yes'\n"


def test_nothing_is_printed_by_reference() -> None:
    same = {"name": "main"}
    assert "&" not in yaml_text([same, same])


@pytest.mark.parametrize("turn", ["\u202e", "\u2066", "\u200f"])
def test_what_turns_the_direction_is_spelled_out(turn: str) -> None:
    for manifest in ({"image": f"train{turn}gpj"}, {f"k{turn}": "v"}, {"args": [f"two\nlines{turn}"]}):
        text = yaml_text(manifest)
        assert turn not in text
        assert f"\\u{ord(turn):04X}" in text
        assert yaml.safe_load(text) == manifest
