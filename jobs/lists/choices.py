"""One select of the form above a list."""

from collections.abc import Iterable
from dataclasses import dataclass

from jobs.lists.addresses import ListAddress


@dataclass(frozen=True, slots=True)
class Choice:
    """One select: values with their words, the one chosen, and the address without it."""

    name: str
    label: str
    options: list[tuple[str, str]]
    value: str
    without: str

    @property
    def chosen(self) -> str:
        return next((words for value, words in self.options if value == self.value), self.value)


def choice(wanted: ListAddress, name: str, label: str, known: list[tuple[str, str]]) -> Choice:
    """What is chosen can be chosen, also where no workload of late has it."""
    value = getattr(wanted, name)
    text = "1" if value is True else value or ""
    if text and text not in dict(known):
        known = [*known, (text, text)]
    return Choice(name, label, known, text, wanted.link(**{name: type(value)()}))


def named(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, name) for name in names]
