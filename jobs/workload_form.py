"""What the form above a list offers to choose from, and which of it is in force."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext

from jobs.addresses import NONE, Age, ListAddress
from jobs.workload_filter import WorkloadFilter
from jobs.workload_list import Options, Reach


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


def choices_of(wanted: WorkloadFilter, options: Options, reach: Reach) -> list[Choice]:
    """Of clusters and teams only where there are several."""
    states = [(state.value, str(state.label)) for state in wanted.group_states]
    found = {
        "state": (gettext("State"), states),
        "kind": (gettext("Kind"), named(options.kinds)),
        "priority": (gettext("Priority class"), [(NONE, gettext("none")), *named(options.priority_classes)]),
        "queue": (gettext("Queue"), named(options.queues)),
        "created": (gettext("Created"), [(age.value, str(age.label)) for age in Age]),
    }
    if len(reach.clusters) > 1 or wanted.cluster:
        found["cluster"] = (gettext("Cluster"), [(cluster.slug, cluster.name) for cluster in reach.clusters])
    if reach.is_everything:
        found["team"] = (gettext("Team"), [(NONE, gettext("no team")), *reach.teams])
        found["stuck"] = (gettext("Stuck"), [("1", gettext("eviction does not end"))])
    return [choice(wanted, name, label, known) for name, (label, known) in found.items()]


def choice(wanted: ListAddress, name: str, label: str, known: list[tuple[str, str]]) -> Choice:
    """What is chosen can be chosen, also where no workload of late has it."""
    value = getattr(wanted, name)
    text = "1" if value is True else value or ""
    if text and text not in dict(known):
        known = [*known, (text, text)]
    return Choice(name, label, known, text, wanted.link(**{name: type(value)()}))


def named(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, name) for name in names]
