"""What a notice of each kind says, and where it leads."""

from typing import Any

import pytest
from django.utils.translation import override

from jobs.telling.words import Words, words_of
from notices.kinds import Kind
from notices.models import Notice
from notices.outbox import notice
from scheduling import names
from tests.people import People
from tests.stories import START
from tests.worlds import World

pytestmark = pytest.mark.django_db

CLUSTER = "/platform/clusters/gpu-one/"
JOB = "/clusters/gpu-one/workloads/uid-1/"
PLACE = {"namespace": "hyperpod-ns-research"}
GONE = {"reason": names.PREEMPTED, "cause": "", "preemption": names.IN_COHORT_RECLAMATION}


def of(
    world: World, people: People, kind: Kind, subject: str = "uid-1", title: str = "train", **details: Any
) -> Notice:
    team = people.research
    return notice(kind, world.cluster, subject, once="", at=START, team_id=team.pk, title=title, details=details)


def written(people: People, about: Notice) -> Words:
    return words_of([about], people.member)[about.pk]


@pytest.mark.parametrize(
    ("kind", "details", "title", "line", "path"),
    [
        (Kind.REQUEUED, PLACE, "train waits again", "It gave its GPUs back and stands in line.", JOB),
        (Kind.READMITTED, PLACE, "train runs again", "It was evicted before and has its GPUs again.", JOB),
        (Kind.FAILED, PLACE, "train failed", None, JOB),
        (Kind.FINISHED, PLACE, "train finished", None, JOB),
        (Kind.STUCK, PLACE, "train was evicted and does not give its GPUs back", "Its pods hold GPUs", JOB),
        (Kind.WAITS_LONG, {**PLACE, "hours": 2}, "train still waits", "For more than 2 h, as you asked", JOB),
        (Kind.LOOPING, PLACE, "train is evicted again and again", "each time work is lost", JOB),
        (
            Kind.TEAM_LOSS, {"lost": 27_000, "limit": 5}, "train lost much of its work this week",
            "Evictions cost it 7.5 GPU-h in GPU one; you asked to be told from 5 on.", "/teams/uid-1/evictions/",
        ),
        (Kind.SYNC_STALLED, {}, "GPU one cannot be read", "Pages show what was last read", CLUSTER),
        (
            Kind.NODES_BELOW_QUOTAS, {"missing": 16}, "train: quotas promise more than the healthy nodes have",
            "16 GPUs are guaranteed that do not exist.", CLUSTER,
        ),
        (Kind.QUEUE_STOPPED, {}, "The queue train is stopped", "Nothing is admitted from it", CLUSTER),
    ],
)  # fmt: skip
def test_words_of_each_kind(
    shared: World, people: People, kind: Kind, details: dict[str, Any], title: str, line: str | None, path: str
) -> None:
    words = written(people, of(shared, people, kind, **details))
    assert (words.title, words.path) == (title, path)
    assert [line in each for each in words.lines] == [True] if line else words.lines == ()


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_speaks_the_reader_s_language(shared: World, people: People, kind: Kind) -> None:
    details = {
        **PLACE, "hours": 2, "lost": 3600, "limit": 1, "missing": 1, "cause": "node", "reason": "", "exit_code": None,
        "pods": 1, "nodes": ["node-1"], "more_nodes": False, "replaced": True,
    }  # fmt: skip
    about = of(shared, people, kind, **details)
    english = written(people, about)
    with override("pt-br"):
        portuguese = written(people, about)
    assert english.title != portuguese.title
    assert not set(english.lines) & set(portuguese.lines)
    assert english.path == portuguese.path


def test_a_job_that_nobody_saw_says_what_is_known_and_what_is_not(shared: World, people: People) -> None:
    words = written(people, of(shared, people, Kind.EVICTED, title="job-quick-0a1b2", **PLACE, told=GONE))
    assert words.title == "job-quick-0a1b2 was evicted: Lender took it back"
    assert words.lines == (
        "It ran on borrowed quota, and the lender took it back.",
        "The job came and went before the portal saw it: Kueue's events alone tell of it.",
        "What it held and lost, and what took its place, is not known; there may have been more evictions.",
    )
    assert words.path == "/teams/research/lost/"


def test_a_cause_that_this_release_does_not_know_is_called_as_it_is(shared: World, people: People) -> None:
    told = {"reason": "AbductedByAliens", "cause": "", "preemption": ""}
    words = written(people, of(shared, people, Kind.EVICTED, **PLACE, told=told))
    assert words.title == "train was evicted: AbductedByAliens"
    assert words.lines[0] == "The cluster names a cause that the portal does not know."
