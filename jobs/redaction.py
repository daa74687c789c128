"""The one place where raw text of the cluster is shown to people who may not know other teams' names.

A veil tells that the name below it exists: see docs/adr/0008-what-veiled-text-can-still-tell.md."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.models import F
from django.utils.translation import gettext

from accounts.models import User
from jobs.models import Workload
from teams.access import sees_names_of_all
from teams.models import Cluster, Team
from teams.permissions import Permission
from teams.queues import CurrentQueues, current_queues
from teams.roles import roles_of

_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9._]*[A-Za-z0-9])?"
_PATH = re.compile(rf"(?<=path: )/?{_NAME}(?:/{_NAME})*")
_TOKEN = re.compile(rf"{_NAME}(?:/{_NAME})*")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NEVER = re.compile(r"(?!)")
_LONGEST = 253  # of names in Kubernetes
_GAP = "\0"  # stands for the veil until all is replaced, so that the veil's own words are not looked at


@dataclass(frozen=True, slots=True)
class Redaction:
    """What of a text one reader may see. `hidden` are names known to be others'; of cohort paths, uids and
    NAMESPACE/NAME only what is in `shown` passes. Both in lower case. `phrases` finds team names of several words."""

    is_open: bool
    shown: frozenset[str]
    hidden: frozenset[str]
    phrases: re.Pattern[str] = _NEVER

    def apply(self, text: str, *, by_kueue: bool = True) -> str:
        """The text with what belongs to other teams replaced by “[another team]”.

        Kueue writes NAMESPACE/NAME of whomever it speaks of; in what others write of the reader's own pods a slash
        stands in images, paths and counts (“0/16 nodes”), so there only names that are known hide it."""
        if self.is_open:
            return text
        text = _PATH.sub(lambda path: path[0] if self._is_own_path(path[0]) else _GAP, text)
        text = self.phrases.sub(lambda phrase: phrase[0] if phrase[0].lower() in self.shown else _GAP, text)
        text = _TOKEN.sub(lambda token: _GAP if self._is_hidden(token[0].lower(), by_kueue) else token[0], text)
        return text.replace(_GAP, gettext("[another team]"))

    def _is_own_path(self, path: str) -> bool:
        return all(part in self.shown for part in path.lower().strip("/").split("/"))

    def _is_hidden(self, token: str, by_kueue: bool) -> bool:
        if token in self.shown:
            return False
        namespace, slash, _ = token.partition("/")
        if by_kueue and slash and "." not in namespace and namespace not in self.shown:
            return True
        return _UUID.search(token) is not None or any(self._is_others(label) for label in _labels(token))

    def _is_others(self, label: str) -> bool:
        for name in _named_within(label):
            if name in self.shown or name in self.hidden:
                return name not in self.shown
        return False


def _labels(token: str) -> set[str]:
    """The parts of a token that may be names: some names hold dots, in other tokens dots and low lines part names."""
    return {label for between in ("/", "[/.]", "[/._]") for label in re.split(between, token)}


def _named_within(label: str) -> Iterator[str]:
    """The label, what it may be called after (pods carry their job's name) and what it may be a prefix to, the longest
    first. Beginnings come before endings: what begins with one's own name is one's own. Middles are not looked at."""
    if len(label) <= _LONGEST:
        yield label
    beginning = label[: _LONGEST + 1].rpartition("-")[0]
    while beginning:
        yield beginning
        beginning = beginning.rpartition("-")[0]
    ending = label[-_LONGEST - 1 :].partition("-")[2]
    while ending:
        yield ending
        ending = ending.partition("-")[2]


def redaction_for(user: User, cluster: Cluster, texts: Iterable[str], own: Iterable[str] = ()) -> Redaction:
    """What the reader may see of these texts of one cluster. `own` are words of the reader's own objects that the
    ledger does not hold: pods, their uids."""
    if sees_names_of_all(user, cluster):
        return Redaction(True, frozenset(), frozenset())
    queues = current_queues(cluster)
    teams = _team_names(cluster, set(roles_of(user).team_ids(Permission.SEE_TEAM)))
    own_queues = set(queues.cluster_queues_of(teams.own_namespaces))
    shown = teams.own_namespaces | own_queues | _cohorts_above(queues, own_queues)
    shown |= _local_queues(queues, teams.own_namespaces) | _flavors(queues)
    shown |= {name.lower() for name in (*teams.own, *own)}
    hidden = {name.lower() for name in (*queues.names_ever, *teams.all)}
    candidates = _candidates(texts)
    mine, others = _workload_names(cluster, teams.own_namespaces, candidates, candidates - shown - hidden)
    shown, hidden = shown | mine, hidden | others
    return Redaction(False, frozenset(shown), frozenset(hidden - shown), _phrases(hidden | shown))


@dataclass(frozen=True, slots=True)
class _TeamNames:
    """Slugs and names of the reader's teams; namespaces they own now in one cluster; all of it of all teams, with the
    namespaces that ever were somebody's."""

    own: set[str]
    own_namespaces: set[str]
    all: set[str]


def _team_names(cluster: Cluster, own_teams: set[int]) -> _TeamNames:
    binding = "namespace_bindings__"
    rows = Team.objects.values_list(
        "pk", "slug", "name", f"{binding}cluster", f"{binding}namespace", f"{binding}valid_to"
    )
    found = _TeamNames(set(), set(), set())
    for team, slug, name, bound_in, namespace, valid_to in rows:
        found.all.update((slug, name))
        if team in own_teams:
            found.own.update((slug, name))
        if bound_in == cluster.pk:
            found.all.add(namespace)
            if team in own_teams and valid_to is None:
                found.own_namespaces.add(namespace)
    return found


def _candidates(texts: Iterable[str]) -> set[str]:
    """Whatever in the texts may name a workload, its job or its namespace."""
    tokens = {token.lower() for text in texts for token in _TOKEN.findall(text)}
    return {name for token in tokens for label in _labels(token) for name in _named_within(label)}


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


def _flavors(queues: CurrentQueues) -> set[str]:
    """Flavors and resources are nobody's, whatever a team is called."""
    groups = [group for queue in queues.cluster_queues.values() for group in queue.groups]
    return {name for group in groups for flavor in group.flavors for name in (flavor.name, *flavor.resources)}


def _workload_names(
    cluster: Cluster, own: set[str], candidates: set[str], unknown: set[str]
) -> tuple[set[str], set[str]]:
    """Which of the candidates name the reader's workloads, and which those of others. Namespaces are looked for only
    among the `unknown`: one may hold as many rows as there are."""
    here = Workload.objects.filter(cluster=cluster)
    columns = {"name": candidates, "owner_name": candidates, "uid": candidates, "job_uid": candidates}
    columns["namespace"] = unknown
    found = [here.filter(**{f"{c}__in": wanted}).values_list("namespace", F(c)) for c, wanted in columns.items()]
    mine: set[str] = set()
    others: set[str] = set()
    for namespace, name in found[0].union(*found[1:]):
        (mine if namespace in own else others).add(name)
    return mine, others


def _phrases(names: Iterable[str]) -> re.Pattern[str]:
    phrases = sorted((name for name in names if _TOKEN.fullmatch(name) is None and name), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, phrases)), re.IGNORECASE) if phrases else _NEVER
