import re
from pathlib import Path

from tests.tiers import SLOW_FOLDERS, SLOW_MARKS

ROOT = Path(__file__).parents[1]
MARKED = re.compile(r"^pytestmark = .*?pytest\.mark\.(\w+)\b", re.MULTILINE)


def test_what_the_fast_tier_does_not_read_is_of_another_tier() -> None:
    files = [file for folder in SLOW_FOLDERS for file in (ROOT / folder).rglob("test_*.py")]
    assert len(files) > 20
    for file in files:
        found = MARKED.search(file.read_text())
        assert found, f"{file} has no mark of its own"
        assert found[1] in SLOW_MARKS.split(" or "), file
