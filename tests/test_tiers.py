import re
from pathlib import Path

from tests.tiers import SLOW_FOLDERS, SLOW_MARKS, TESTS, marked

MARKED = re.compile(r"^pytestmark = .*?pytest\.mark\.(\w+)\b", re.MULTILINE)
MARKS = SLOW_MARKS.split(" or ")
A_MARK = re.compile(rf"(\w*)\W?\bmark\.({'|'.join(MARKS)})\b")


def test_what_the_fast_tier_does_not_read_is_of_another_tier() -> None:
    files = [file for folder in SLOW_FOLDERS for file in (TESTS.parent / folder).rglob("test_*.py")]
    assert len(files) > 20
    for file in files:
        found = MARKED.search(file.read_text())
        assert found, f"{file} has no mark of its own"
        assert found[1] in MARKS, file


def test_marks_are_named_where_tiers_look_for_them() -> None:
    """One that a helper names, or in another way, reaches tests that no tier would read."""
    named = {file: A_MARK.findall(file.read_text()) for file in TESTS.rglob("*.py")}
    assert {mark for marks in named.values() for _, mark in marks} == set(MARKS)
    assert {whose for marks in named.values() for whose, _ in marks} == {"pytest"}
    assert {file for file, marks in named.items() if marks and not is_collected(file)} == set()


def is_collected(file: Path) -> bool:
    return file.name.startswith("test_") or file.name == "conftest.py"


def test_what_a_folder_marks_is_read_with_it() -> None:
    *read, option, mark = marked("cluster")
    assert str(TESTS / "contract") in read
    assert str(TESTS / "cluster/test_plane.py") in read
    assert (option, mark) == ("-m", "cluster")
