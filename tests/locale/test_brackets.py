"""The reader that finds unmarked text, and what it finds in the templates themselves, rendered or not."""

import re
from pathlib import Path

import pytest
from django.utils.translation import gettext, ngettext, override, pgettext, trans_real

from tests.locale.brackets import Brackets, unmarked
from tests.locale.messages import ROOT

TAG = re.compile(r"{% *blocktrans.*?{% *endblocktrans[^%]*%}|{%.*?%}|{{.*?}}|{#.*?#}", re.DOTALL)


@pytest.fixture
def brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(trans_real._translations, "pt-br", Brackets("pt-br"))


@pytest.mark.usefixtures("brackets")
def test_marked_text_stands_in_brackets() -> None:
    with override("pt-br"):
        assert gettext("own") == "⟦own⟧"
        assert pgettext("of a job", "own") == "⟦own⟧"
        assert [ngettext("%(n)s job", "%(n)s jobs", n) % {"n": n} for n in (1, 2)] == ["⟦1 job⟧", "⟦2 jobs⟧"]
        assert gettext("yes,no,unknown").split(",")[1] == "⟦no⟧"


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("<p>⟦Free: ⟦2 GPUs⟧.⟧ · 12</p>", []),
        ("<p>⟦Free⟧ now</p>", ["now"]),
        ('<svg role="img" aria-label="Bar"><text>own</text></svg>', ["Bar", "own"]),
        ('<input placeholder="Search" class="wide">', ["Search"]),
        ('<p data-one="Show 1 change" data-row="row" data-copy="get a">⟦x⟧</p>', ["Show change"]),
        ("<script>let x;</script><pre>raw</pre><td class='n mono'>raw</td><bdi>raw</bdi><p>said</p>", ["said"]),
        ('<html lang="en"><button lang="pt-br">Português</button>open</html>', ["open"]),
        ("<p>12 × 3 → 36 %</p>", []),
        ("<p>Kueue v0.19.2, ml.p5.48xlarge, H100. PyTorchJob a-long-name: set-up</p>", ["set-up"]),
    ],
)
def test_what_stands_outside_is_found(page: str, found: list[str]) -> None:
    assert unmarked(page) == found


@pytest.mark.parametrize("path", sorted((ROOT / "templates").rglob("*.html")), ids=lambda path: path.name)
def test_templates_mark_all_their_text(path: Path) -> None:
    assert unmarked(TAG.sub("", path.read_text())) == []


def test_names_are_no_text_but_words_around_them_are() -> None:
    assert unmarked("<p>Research has research-queue</p>", ["Research", "research", "research-queue"]) == ["has"]
