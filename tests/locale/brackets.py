"""A language that needs no translator: every marked text stands in brackets, so that what stands outside is not
marked. And the reader for it: what a page says to eyes and screen readers, without the brackets and what is in them."""

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser

from django.utils.translation.trans_real import CONTEXT_SEPARATOR

OPEN, CLOSE = "⟦", "⟧"
LISTED = re.compile(r"[a-z]+(,[a-z]+)+")
"""The answers of a `yesno` filter, which shows one of them."""

PROPER = {"Kueue", "Kubernetes", "UTC"}
IDENTIFIER = re.compile(r"\S*[\d_/=]\S*|([A-Z][a-z]+){2,}|\S*-\S*-\S*|\w+\.\w\S*")
"""Words that nobody translates: with digits or signs in them, in camel case, with several dashes or a dot inside."""

VOID = {"meta", "link", "input", "br", "hr", "img"}
SILENT = {"script", "style", "datalist"}
DATA = {"pre", "code", "kbd", "samp", "bdi"}
SPOKEN = {"aria-label", "title", "placeholder", "alt", "label"}


class Brackets:
    """Stands in for a language's translations."""

    def __init__(self, code: str) -> None:
        self.code = code

    def to_language(self) -> str:
        return self.code

    def gettext(self, message: str) -> str:
        text = message.rpartition(CONTEXT_SEPARATOR)[2]
        return ",".join(map(bracketed, text.split(","))) if LISTED.fullmatch(text) else bracketed(text)

    def ngettext(self, one: str, many: str, number: int) -> str:
        return self.gettext(one if number == 1 else many)


def bracketed(text: str) -> str:
    return f"{OPEN}{text}{CLOSE}"


def unmarked(page: str, names: Iterable[str] = ()) -> list[str]:
    """The words of a page, of its texts and of its spoken attributes, that stand outside the brackets, text by text.
    Left out are these names, identifiers, and what the markup says is raw: <pre>, <code>, <bdi>, class mono."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    known = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in sorted(names, key=len, reverse=True)))
    found = [" ".join(_words(known.sub("", _outside(text)) if names else _outside(text))) for text in reader.texts]
    return [text for text in found if text]


def _outside(text: str) -> str:
    depth, kept = 0, []
    for character in text:
        depth += character == OPEN
        if depth == 0:
            kept.append(character)
        depth -= character == CLOSE
    return "".join(kept)


def _words(text: str) -> Iterator[str]:
    for token in text.split():
        word = token.strip("()[]·.,:;→–…")
        if re.search(r"[^\W\d_]", word) and word not in PROPER and not IDENTIFIER.fullmatch(word):
            yield word


def _is_spoken(name: str, value: str) -> bool:
    """Scripts show what some data attributes hold: those with a blank or a capital are taken for text."""
    if name.startswith("data-"):
        return name != "data-copy" and (" " in value or value[:1].isupper())
    return name in SPOKEN


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        self.texts += [value for name, value in found.items() if _is_spoken(name, value)]
        is_foreign = bool(self.open) and "lang" in found
        if tag not in VOID:
            self.open.append((tag, tag in SILENT | DATA or is_foreign or "mono" in found.get("class", "").split()))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not any(is_silent for _tag, is_silent in self.open):
            self.texts.append(data)
