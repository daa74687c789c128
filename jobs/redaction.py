"""The one place where raw text of the cluster is shown to people who may not know other teams' names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q
from django.utils.translation import gettext

from accounts.models import User
from jobs.models import Workload
from teams.access import sees_names_of_all
from teams.models import Cluster, NamespaceBinding, SpecVersion, Team, namespaces_of
from teams.queues import CurrentQueues, current_queues

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9._]*[A-Za-z0-9])?"
_PATH = re.compile(rf"(?<=path: )/?{_NAME}(?:/{_NAME})*")
_TOKEN = re.compile(rf"{_UUID}|{_NAME}")
_UUID_ONLY = re.compile(_UUID)


@dataclass(frozen=True, slots=True)
class Redaction:
    """What of a text one reader may see. `hidden` are names known to be others'; of cohort paths and uids only what is
    in `shown` passes."""

    is_open: bool
    shown: frozenset[str]
    hidden: frozenset[str]

    def apply(self, text: str) -> str:
        """The text with what belongs to other teams replaced by “[another team]”."""
        if self.is_open:
            return text
        veil = gettext("[another team]")
        text = _PATH.sub(lambda path: path[0] if self._is_own_path(path[0]) else veil, text)
        return _TOKEN.sub(lambda token: veil if self._is_hidden(token[0]) else token[0], text)

    def _is_own_path(self, path: str) -> bool:
        return all(part in self.shown for part in path.strip("/").split("/"))

    def _is_hidden(self, token: str) -> bool:
        if token in self.shown:
            return False
        return token in self.hidden or _UUID_ONLY.fullmatch(token) is not None


def redaction_for(user: User, cluster: Cluster, texts: Iterable[str]) -> Redaction:
    """What the reader may see of these texts of one cluster."""
    if sees_names_of_all(user, cluster):
        return Redaction(True, frozenset(), frozenset())
    tokens = {token for text in texts for token in _TOKEN.findall(text)}
    teams = Team.objects.visible_to(user)
    own = namespaces_of(teams, cluster)
    queues = current_queues(cluster)
    own_queues = set(queues.cluster_queues_of(own))
    shown = own | own_queues | _cohorts_above(queues, own_queues) | _local_queues(queues, own)
    shown |= set(teams.values_list("slug", flat=True))
    mine, others = _workload_names(cluster, own, tokens)
    hidden = _names_of_others(cluster, queues, own, own_queues) | others
    return Redaction(False, frozenset(shown | mine), frozenset(hidden - shown - mine))


def _cohorts_above(queues: CurrentQueues, own_queues: set[str]) -> set[str]:
    """The cohorts the reader's queues stand in; a cycle ends the walk."""
    above: set[str] = set()
    for name in own_queues:
        queue = queues.cluster_queues.get(name)
        cohort = queue.cohort if queue else None
        while cohort and cohort not in above:
            above.add(cohort)
            parent = queues.cohorts.get(cohort)
            cohort = parent.parent if parent else None
    return above


def _local_queues(queues: CurrentQueues, namespaces: set[str]) -> set[str]:
    keys = (key.split("/", 1) for key in queues.cluster_queue_of)
    return {name for namespace, name in keys if namespace in namespaces}


def _workload_names(cluster: Cluster, own: set[str], tokens: set[str]) -> tuple[set[str], set[str]]:
    """Which of the tokens name the reader's workloads, and which those of others."""
    named = Q(uid__in=tokens) | Q(job_uid__in=tokens) | Q(name__in=tokens) | Q(owner_name__in=tokens)
    mine: set[str] = set()
    others: set[str] = set()
    found = Workload.objects.filter(named, cluster=cluster)
    for namespace, *names in found.values_list("namespace", "uid", "job_uid", "name", "owner_name"):
        (mine if namespace in own else others).update(tokens.intersection(names))
    return mine, others


def _names_of_others(cluster: Cluster, queues: CurrentQueues, own: set[str], own_queues: set[str]) -> set[str]:
    versions = SpecVersion.objects.filter(
        cluster=cluster,
        kind__in=[SpecVersion.Kind.CLUSTER_QUEUE, SpecVersion.Kind.LOCAL_QUEUE, SpecVersion.Kind.COHORT],
    )
    names: set[str] = set()
    for name in set(versions.values_list("name", flat=True)):
        names.update(name.split("/"))
    names.update(NamespaceBinding.objects.filter(cluster=cluster).values_list("namespace", flat=True))
    for slug, name in Team.objects.values_list("slug", "name"):
        names.update((slug, name))
    return names
