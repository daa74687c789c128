"""What the form above a list of evictions offers to choose from, and which of it is in force."""

from datetime import datetime

from django.utils.translation import gettext

from jobs.evictions.filter import EvictionFilter, SumBy, sums_of
from jobs.evictions.list import Options
from jobs.lists.addresses import NONE, Age
from jobs.lists.choices import Choice, choice, named
from jobs.lists.months import latest_months
from jobs.lists.reach import Reach
from jobs.words.evictions import reason_label

_MONTHS = 13


def choices_of(wanted: EvictionFilter, options: Options, reach: Reach, now: datetime) -> list[Choice]:
    """Of clusters and teams only where there are several."""
    other = (NONE, gettext("another team, or unknown"))
    months = [(value, f"{name} (UTC)") for value, name in latest_months(now, _MONTHS)]
    found = {
        "time": (gettext("Time"), [*((age.value, str(age.label)) for age in Age), *months]),
        "reason": (gettext("Reason"), [(reason, reason_label(reason)) for reason in options.reasons]),
        "by": (gettext("Taken by"), [*options.teams, other]),
        "priority": (gettext("Priority class"), [(NONE, gettext("none")), *named(options.priority_classes)]),
    }
    if len(reach.clusters) > 1 or wanted.cluster:
        found["cluster"] = (gettext("Cluster"), [(cluster.slug, cluster.name) for cluster in reach.clusters])
    if reach.is_everything:
        found["team"] = (gettext("Team"), [(NONE, gettext("no team")), *reach.teams])
    return [choice(wanted, name, label, known) for name, (label, known) in found.items()]


def sum_links(wanted: EvictionFilter) -> list[tuple[SumBy, str]]:
    """By what losses can be added up, with the address that does."""
    return [(by, wanted.link(sums=by.value)) for by in sums_of(of_all=wanted.of_all)]
