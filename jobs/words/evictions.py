"""Evictions in plain words, in the reader's language."""

from dataclasses import dataclass
from typing import Final

from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from jobs.models import Eviction, ToldEviction
from jobs.rules.lost_work import Basis, Total
from jobs.sight import Sight
from jobs.words.amounts import gpu_hours_number, gpu_hours_text
from scheduling import names
from scheduling.evictions import EvictionReason


def why_evicted(told: EvictionReason, preemption: str = "") -> str:
    """The cause, without anybody's name; empty for one that this release does not know."""
    causes = {
        names.REQUEUING_LIMIT_EXCEEDED: gettext("It was tried too often without its pods getting ready."),
        names.MAXIMUM_EXECUTION_TIME_EXCEEDED: gettext("It had run for as long as it may."),
        names.ADMISSION_CHECK: gettext("An admission check refused it."),
    }
    reasons = {
        names.IN_CLUSTER_QUEUE: gettext("A job of higher priority in the same queue needed its place."),
        names.IN_COHORT_RECLAMATION: gettext("It ran on borrowed quota, and the lender took it back."),
        names.IN_COHORT_FAIR_SHARING: gettext("Another team had less than its fair share and took over."),
        names.IN_COHORT_RECLAIM_WHILE_BORROWING: gettext("A job of higher priority elsewhere in the cohort took over."),
        names.PODS_READY_TIMEOUT: gettext("Its pods were not ready in time."),
        names.ADMISSION_CHECK: gettext("An admission check withdrew its consent."),
        names.NODE_FAILURES: gettext("Nodes that it ran on failed."),
        names.FLAVOR_MIGRATION: gettext("It moved to a type of node that its queue prefers."),
        names.CLUSTER_QUEUE_STOPPED: gettext("The queue was stopped."),
        names.LOCAL_QUEUE_STOPPED: gettext("The queue was stopped."),
        names.DEACTIVATED: gettext("It was switched off."),
    }
    if told.reason == names.DEACTIVATED and told.cause in causes:
        return causes[told.cause]
    return reasons.get(preemption if told.reason == names.PREEMPTED else told.reason, "")


def unknown_cause() -> str:
    return gettext("The cluster names a cause that the portal does not know.")


_LABELS: Final = {
    names.PREEMPTED: _("Preempted"),
    names.IN_CLUSTER_QUEUE: _("Priority in the queue"),
    names.IN_COHORT_RECLAMATION: _("Lender took it back"),
    names.IN_COHORT_FAIR_SHARING: _("Fair sharing"),
    names.IN_COHORT_RECLAIM_WHILE_BORROWING: _("Priority in the cohort"),
    names.PODS_READY_TIMEOUT: _("Pods not ready"),
    names.ADMISSION_CHECK: _("Admission check"),
    names.NODE_FAILURES: _("Node failed"),
    names.FLAVOR_MIGRATION: _("Moved to other nodes"),
    names.CLUSTER_QUEUE_STOPPED: _("Queue stopped"),
    names.LOCAL_QUEUE_STOPPED: _("Queue stopped"),
    names.DEACTIVATED: _("Switched off"),
}
EXPLAINED: Final = frozenset(_LABELS)
"""Reasons and rules that this release knows."""

_BASES: Final = {Basis.EXACT: _("exact"), Basis.WHOLE: _("whole run"), Basis.EXPECTED: _("at most")}


def reason_label(reason: str) -> str:
    """A word or two for tables and filters; a reason that this release does not know is shown as it is called."""
    return str(_LABELS.get(reason, reason))


def label_of(eviction: Eviction | ToldEviction) -> str:
    return reason_label(eviction.preemption or eviction.reason)


@dataclass(frozen=True, slots=True)
class TakenBy:
    """For whom, as far as this reader may know: `text`, and the workload's page where there is one to link to."""

    text: str
    url: str = ""


def taken_by(eviction: Eviction, sight: Sight) -> TakenBy | None:
    """None where nobody else took the place."""
    if eviction.reason != names.PREEMPTED:
        return None
    if not eviction.preemptor_uid and not eviction.preemptor_queue:
        return TakenBy(gettext("a workload that nobody saw"))
    if not sight.names_preemptor(eviction):
        return TakenBy(_veiled(eviction))
    preemptor, team = eviction.preemptor, eviction.preemptor_team
    if preemptor is not None and team is not None:
        words = {"job": preemptor.title, "team": team.name}
        return TakenBy(gettext("%(job)s of %(team)s") % words, preemptor.get_absolute_url())
    if preemptor is not None:
        return TakenBy(str(preemptor), preemptor.get_absolute_url())
    if team is not None:
        return TakenBy(gettext("a workload of %(team)s that was gone before it was read") % {"team": team.name})
    return TakenBy(gettext("a workload that was gone before it was read"))


def _veiled(eviction: Eviction) -> str:
    """“a workload of another team, priority 1000, by rule …”."""
    parts = [gettext("a workload of another team")]
    if eviction.preemptor_priority is not None:
        parts.append(gettext("priority %(priority)s") % {"priority": number_format(eviction.preemptor_priority)})
    if eviction.preemption:
        parts.append(gettext("by the rule “%(rule)s”") % {"rule": reason_label(eviction.preemption)})
    return ", ".join(parts)


def loss_text(eviction: Eviction) -> str:
    """“7.5 GPU-h”; what is not work, or not known, in words."""
    if eviction.lost_expected is None:
        return gettext("unknown")
    if eviction.basis in (Basis.AVAILABILITY, Basis.SESSION):
        return str(Basis(eviction.basis).label)
    return gpu_hours_text(eviction.lost_expected)


def loss_note(eviction: Eviction) -> str:
    """How well it is known."""
    low, high = eviction.lost_low, eviction.lost_high
    if is_before_first_checkpoint(eviction):
        return gettext("whole run")
    if low is not None and high is not None and low != high:
        return gettext("expected, %(low)s to %(high)s") % {
            "low": gpu_hours_number(low),
            "high": gpu_hours_number(high),
        }
    return str(_BASES.get(Basis(eviction.basis), ""))


def basis_text(eviction: Eviction) -> str:
    """What the loss is made of."""
    if is_before_first_checkpoint(eviction):
        return gettext("the whole run: it was evicted before half its first checkpoint interval had passed")
    return str(Basis(eviction.basis).label)


def is_before_first_checkpoint(eviction: Eviction) -> bool:
    """Whether what is expected of the interval is all that there was."""
    return eviction.basis == Basis.EXPECTED and eviction.lost_expected == eviction.lost_high != eviction.lost_low


def stopping_text(total: Total) -> str:
    """What was held while stopping, as far as it is known: “0.3 GPU-h, and 1 unknown”."""
    if not total.stopping_unknown:
        return gpu_hours_text(total.stopping)
    if not total.stopping:
        return gettext("unknown")
    count = total.stopping_unknown
    text = ngettext("%(text)s, and %(count)d unknown", "%(text)s, and %(count)d unknown", count)
    return text % {"text": gpu_hours_text(total.stopping), "count": count}


def total_text(total: Total) -> str:
    """“8.4 GPU-h”, or with its range “8.4 GPU-h, between 4.0 and 12.0”."""
    if total.unknown and not total.high:
        return gettext("unknown")
    text, (low, high) = gpu_hours_text(total.expected), bounds_of(total)
    if low == high:
        return text
    return gettext("%(text)s, between %(low)s and %(high)s") % {"text": text, "low": low, "high": high}


def bounds_of(total: Total) -> tuple[str, str]:
    """As numbers of GPU-hours; the same where nobody reads a difference."""
    return gpu_hours_number(total.low), gpu_hours_number(total.high)
