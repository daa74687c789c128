"""What a notice says to one reader, in the language that is active: made when it is read or sent, never stored.

Other teams are named only where the reader may know them, by the same sentences as on the page of the eviction.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext, ngettext

from accounts.models import User
from jobs.evictions.list import with_objects
from jobs.evictions.story import sentences
from jobs.evictions.told import Told, told
from jobs.models import Eviction
from jobs.rules.interruptions import Cause
from jobs.rules.lost_work import Basis
from jobs.sight import sight_of
from jobs.words.amounts import amount_text, gpu_hours_text
from jobs.words.evictions import reason_label, unknown_cause, why_evicted
from notices.kinds import Kind
from notices.models import Notice
from scheduling import names
from scheduling.evictions import EvictionReason
from teams.models import Team


@dataclass(frozen=True, slots=True)
class Words:
    """`path` is where the portal shows it."""

    title: str
    lines: tuple[str, ...]
    path: str


def words_of(notices: Iterable[Notice], reader: User) -> dict[UUID, Words]:
    """By the notices' ids; read them with their clusters and teams."""
    listed = list(notices)
    evictions = _evictions(listed, reader)
    return {notice.pk: _words(notice, evictions.get(notice.details.get("eviction"))) for notice in listed}


def _evictions(notices: list[Notice], reader: User) -> dict[Any, Told]:
    keys = [notice.details["eviction"] for notice in notices if "eviction" in notice.details]
    if not keys:
        return {}
    clusters = {notice.cluster_id: notice.cluster for notice in notices}
    found = told(with_objects(Eviction.objects.filter(pk__in=keys)), sight_of(reader, clusters.values()))
    return {each.eviction.pk: each for each in found}


def _words(notice: Notice, row: Told | None) -> Words:
    if row is not None:
        return _of_eviction(notice, row)
    if "told" in notice.details and notice.team is not None:
        return _of_told(notice, notice.team, **notice.details["told"])
    title = _TITLES[Kind(notice.kind)]() % {"title": notice.title, "cluster": notice.cluster.name}
    return Words(title, _lines(notice), _path(notice))


def _of_eviction(notice: Notice, row: Told) -> Words:
    lines = sentences(row)
    if row.eviction.basis != Basis.NOTHING:
        note = f" ({row.loss_note})" if row.loss_note else ""
        lines.append(gettext("Lost: %(loss)s.") % {"loss": f"{row.loss}{note}"})
    path = reverse("eviction", args=[notice.cluster.slug, notice.subject, row.eviction.pk])
    return Words(_evicted_title(notice, row.label), tuple(lines), path)


def _of_told(notice: Notice, team: Team, reason: str, cause: str, preemption: str) -> Words:
    """Of a job that nobody saw: what is known of it, and what is not."""
    return Words(
        _evicted_title(notice, reason_label(preemption or reason)),
        (
            why_evicted(EvictionReason(reason, cause), preemption) or unknown_cause(),
            gettext("The job came and went before the portal saw it: Kueue's events alone tell of it."),
            gettext(
                "What it held and lost, and what took its place, is not known; there may have been more evictions."
            ),
        ),
        reverse("team-lost", args=[team.slug]),
    )


def _evicted_title(notice: Notice, reason: str) -> str:
    return gettext("%(job)s was evicted: %(reason)s") % {"job": notice.title, "reason": reason}


_TITLES: Mapping[Kind, Any] = {
    Kind.EVICTED: lambda: gettext("%(title)s was evicted"),
    Kind.REQUEUED: lambda: gettext("%(title)s waits again"),
    Kind.READMITTED: lambda: gettext("%(title)s runs again"),
    Kind.INTERRUPTED: lambda: gettext("%(title)s was interrupted"),
    Kind.FAILED: lambda: gettext("%(title)s failed"),
    Kind.FINISHED: lambda: gettext("%(title)s finished"),
    Kind.STUCK: lambda: gettext("%(title)s was evicted and does not give its GPUs back"),
    Kind.WAITS_LONG: lambda: gettext("%(title)s still waits"),
    Kind.TEAM_LOSS: lambda: gettext("%(title)s lost much of its work this week"),
    Kind.LOOPING: lambda: gettext("%(title)s is evicted again and again"),
    Kind.SYNC_STALLED: lambda: gettext("%(cluster)s cannot be read"),
    Kind.NODES_BELOW_QUOTAS: lambda: gettext("%(title)s: quotas promise more than the healthy nodes have"),
    Kind.QUEUE_STOPPED: lambda: gettext("The queue %(title)s is stopped"),
}


def _lines(notice: Notice) -> tuple[str, ...]:
    lines = {
        Kind.REQUEUED: gettext("It gave its GPUs back and stands in line."),
        Kind.READMITTED: gettext("It was evicted before and has its GPUs again."),
        Kind.STUCK: gettext("Its pods hold GPUs that others wait for. Look at whether they can be stopped."),
        Kind.LOOPING: gettext("It takes its quota back and is evicted again: each time work is lost."),
        Kind.SYNC_STALLED: gettext("Pages show what was last read, and evictions are told late."),
        Kind.QUEUE_STOPPED: gettext("Nothing is admitted from it until it is started again."),
    }
    if notice.kind == Kind.INTERRUPTED:
        return _of_interruption(notice.details)
    if notice.kind == Kind.WAITS_LONG:
        return (gettext("For more than %(hours)d h, as you asked to be told.") % notice.details,)
    if notice.kind == Kind.TEAM_LOSS:
        words = {"loss": gpu_hours_text(notice.details["lost"]), "limit": notice.details["limit"]}
        return (
            gettext("Evictions cost it %(loss)s in %(cluster)s; you asked to be told from %(limit)d on.")
            % {**words, "cluster": notice.cluster.name},
        )
    if notice.kind == Kind.NODES_BELOW_QUOTAS:
        missing = amount_text(notice.details["missing"], names.NVIDIA_GPU)
        return (gettext("%(missing)s are guaranteed that do not exist.") % {"missing": missing},)
    line = lines.get(Kind(notice.kind))
    return (line,) if line else ()


def _of_interruption(details: Mapping[str, Any]) -> tuple[str, ...]:
    code = details["exit_code"]
    why = [details["reason"], "" if code is None else gettext("exit code %(code)s") % {"code": code}]
    cause = str(Cause(details["cause"]).label)
    nodes = ", ".join([*details["nodes"], *(["…"] if details["more_nodes"] else [])])
    return (
        f"{cause} ({', '.join(filter(None, why))})." if any(why) else f"{cause}.",
        ngettext("%(pods)d pod was hit, on: %(nodes)s", "%(pods)d pods were hit, on: %(nodes)s", details["pods"])
        % {"pods": details["pods"], "nodes": nodes},
        gettext("It kept its quota, and new pods came instead.")
        if details["replaced"]
        else gettext("It kept its quota, but no new pod has come instead so far."),
    )


def _path(notice: Notice) -> str:
    if notice.kind == Kind.TEAM_LOSS:
        return reverse("team-evictions", args=[notice.subject])
    if "namespace" in notice.details:
        place = "#h-interruptions" if notice.kind == Kind.INTERRUPTED else ""
        return reverse("workload", args=[notice.cluster.slug, notice.subject]) + place
    return reverse("cluster", args=[notice.cluster.slug])
