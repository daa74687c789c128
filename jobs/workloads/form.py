"""What the form above a list offers to choose from, and which of it is in force."""

from django.utils.translation import gettext

from jobs.lists.addresses import NONE, Age
from jobs.lists.choices import Choice, choice, named
from jobs.lists.reach import Reach
from jobs.workloads.filter import WorkloadFilter
from jobs.workloads.list import Options


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
