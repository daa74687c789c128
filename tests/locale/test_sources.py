"""No package's texts are forgotten."""

from tests.locale.messages import CODE, ROOT

MARKING = "from django.utils.translation import"
APART = {"tests", "bench"}


def test_every_package_that_marks_texts_is_read() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - APART
    marking = {name for name in packages if any(MARKING in path.read_text() for path in (ROOT / name).rglob("*.py"))}
    assert marking <= set(CODE)
