"""Every text is there in every language, as the sources hold it now. What fails here, `make messages` brings up to
date; what it leaves empty is to be translated."""

import re
from collections.abc import Callable

import pytest
from babel.messages.catalog import Message

from tests.locale.messages import current, languages, mo_text, po_file, po_text, written

PLACEHOLDER = re.compile(r"%%|%\(\w+\)[^a-zA-Z]*[a-zA-Z]|%[a-zA-Z]")
END = re.compile(r"[.:?!…]?\s*$")

pytestmark = pytest.mark.parametrize("language", languages())


def texts(language: str) -> list[Message]:
    return [message for message in written(language) if message.id]


def forms(message: Message) -> list[tuple[str, str]]:
    """(source, translation) of each form: where there is a plural, the first form stands for the singular."""
    if isinstance(message.string, str):
        return [(message.id, message.string)]
    one, many = message.id
    return [(many if number else one, string) for number, string in enumerate(message.string)]


def unlike(language: str, trait: Callable[[str], object]) -> list[tuple[str, str]]:
    """The forms whose trait is not the source's."""
    pairs = [pair for message in texts(language) for pair in forms(message)]
    return [(source, string) for source, string in pairs if trait(source) != trait(string)]


def test_the_file_holds_what_the_sources_hold(language: str) -> None:
    assert po_file(language).read_bytes() == po_text(current(language)), "run `make messages`"


def test_the_compiled_file_is_made_of_it(language: str) -> None:
    assert po_file(language).with_suffix(".mo").read_bytes() == mo_text(current(language)), "run `make messages`"


def test_nothing_is_left_to_translate(language: str) -> None:
    assert [source for message in texts(language) for source, string in forms(message) if not string.strip()] == []


def test_nothing_is_doubtful(language: str) -> None:
    assert [message.id for message in texts(language) if message.fuzzy] == []


def test_placeholders_are_the_source_s(language: str) -> None:
    assert unlike(language, lambda text: sorted(PLACEHOLDER.findall(text))) == []


def test_texts_begin_and_end_as_the_source_does(language: str) -> None:
    assert unlike(language, lambda text: (text[:1].isspace(), END.findall(text))) == []
