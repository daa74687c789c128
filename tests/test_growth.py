import re

from tests.growth import LINEAR, growth


def test_what_begins_anew_at_every_letter_grows_as_the_square() -> None:
    assert growth(lambda length: re.search("a+b", "a" * length), 1_000) > 3 * LINEAR


def test_what_reads_once_grows_as_what_it_is_given() -> None:
    assert growth(lambda length: re.findall("a", "a" * length), 20_000) < 2 * LINEAR
