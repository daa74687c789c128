"""Research reads; zebra is the other team, whose every name holds its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from jobs.redaction import Redaction, redaction_for
from scheduling import names
from teams.models import Team
from tests.factories import MembershipFactory, TeamFactory
from tests.growth import LINEAR, growth
from tests.people import People
from tests.stories import Job, cluster_queue, cohort, local_queue
from tests.worlds import World

pytestmark = pytest.mark.django_db

VEIL = "[another team]"
OUR_UID = "11111111-1111-4111-8111-111111111111"
THEIR_UID = "22222222-2222-4222-8222-222222222222"
UNKNOWN_UID = "33333333-3333-4333-8333-333333333333"


@pytest.fixture
def zoo(shared: World) -> World:
    zebra: Team = TeamFactory(slug="zebra", name="Zebra Crossing")
    shared.queues(
        cohort("zebra-herd", parent="shared"),
        cluster_queue("zebra-cq", 4, cohort="zebra-herd"),
        local_queue("hyperpod-ns-zebra", "zebra-cq", name="zebra-lq"),
    )
    shared.bind(zebra, "hyperpod-ns-zebra")
    ours, theirs = Job("ours", uid=OUR_UID), Job("zebra-llm", "hyperpod-ns-zebra", queue="zebra-cq", uid=THEIR_UID)
    shared.see(ours.admit(1), theirs.admit(1))
    return shared


def read(user: User, world: World, text: str) -> str:
    return redaction_for(user, world.cluster, [text]).apply(text)


TOLD_OF_OTHERS = {
    "a queue": ("ClusterQueue zebra-cq is inactive", f"ClusterQueue {VEIL} is inactive"),
    "a LocalQueue": ("LocalQueue zebra-lq doesn't exist", f"LocalQueue {VEIL} doesn't exist"),
    "a namespace": ("in namespace hyperpod-ns-zebra.", f"in namespace {VEIL}."),
    "a cohort": ("cohort zebra-herd is full", f"cohort {VEIL} is full"),
    "a workload": ("after pytorchjob-zebra-llm, it goes on", f"after {VEIL}, it goes on"),
    "a job": ("(zebra-llm)", f"({VEIL})"),
    "a uid": (f"UID: {THEIR_UID}", f"UID: {VEIL}"),
    "a uid that nobody knows": (f"(UID: {UNKNOWN_UID})", f"(UID: {VEIL})"),
    "a team": ("by team zebra", f"by team {VEIL}"),
    "a team's full name": ("by team Zebra Crossing, yesterday", f"by team {VEIL}, yesterday"),
    "a workload with its namespace": (
        "Preempted workload hyperpod-ns-zebra/pytorchjob-zebra-llm",
        f"Preempted workload {VEIL}",
    ),
    "a workload that was never seen, with its namespace": (
        "Preempted workload hyperpod-ns-zebra/rayjob-secret",
        f"Preempted workload {VEIL}",
    ),
    "a preemption": (
        f"Preempted to accommodate a workload (UID: {THEIR_UID}, JobUID: {UNKNOWN_UID}) due to reclamation within the "
        "cohort; preemptor path: /shared/zebra-herd/zebra-cq; preemptee path: /shared/research-queue",
        f"Preempted to accommodate a workload (UID: {VEIL}, JobUID: {VEIL}) due to reclamation within the "
        f"cohort; preemptor path: {VEIL}; preemptee path: /shared/research-queue",
    ),
    "a path that nobody knows": ("preemptor path: /shared/new-queue", f"preemptor path: {VEIL}"),
    "an unknown path": ("preemptor path: UNKNOWN;", f"preemptor path: {VEIL};"),
    "a name in capitals": ("Zebra", VEIL),
    "a pod": ("pod pytorchjob-zebra-llm-worker-0 is gone", f"pod {VEIL} is gone"),
    "a host name": ("zebra-lq.hyperpod-ns-zebra.svc", VEIL),
}


def test_what_is_of_other_teams_is_veiled(zoo: World, people: People) -> None:
    for user in (people.member, people.viewer, people.team_admin):
        seen = {what: read(user, zoo, text) for what, (text, _) in TOLD_OF_OTHERS.items()}
        assert seen == {what: veiled for what, (_, veiled) in TOLD_OF_OTHERS.items()}


def test_platform_roles_read_all_of_it(zoo: World, people: People) -> None:
    texts = [text for text, _ in TOLD_OF_OTHERS.values()]
    for user in (people.platform_admin, people.finops, people.auditor):
        redaction = redaction_for(user, zoo.cluster, texts)
        assert [redaction.apply(text) for text in texts] == texts


def test_a_cluster_that_shows_names_across_teams(zoo: World, people: People) -> None:
    zoo.cluster.names_across_teams = True
    texts = [text for text, _ in TOLD_OF_OTHERS.values()]
    redaction = redaction_for(people.member, zoo.cluster, texts)
    assert [redaction.apply(text) for text in texts] == texts


NOBODYS = [
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor "
    "ml.p5.48xlarge, 4 more needed. Pending the preemption of 1 workload(s)",
    "ClusterQueue research-queue is inactive",
    "workload hyperpod-ns-research/pytorchjob-ours, job ours of research",
    f"UID: {OUR_UID}",
    f"JobUID: job-{OUR_UID}",
    "preemptee path: /shared/research-queue",
    "LocalQueue main-queue in hyperpod-ns-research",
    "ours-worker-0 in kueue.x-k8s.io/queue-name",
    "",
]


def test_what_is_the_readers_own_or_nobodys_stays(zoo: World, people: People) -> None:
    assert [read(people.member, zoo, text) for text in NOBODYS] == NOBODYS


def test_both_own_teams_are_read(zoo: World, people: People) -> None:
    text = "vision-queue and research-queue and zebra-cq"
    assert read(people.member, zoo, text) == f"{VEIL} and research-queue and {VEIL}"
    assert read(people.team_admin, zoo, text) == f"vision-queue and research-queue and {VEIL}"


def test_a_new_member_of_the_other_team_reads_its_names(zoo: World, people: People) -> None:
    MembershipFactory(user=people.member, team=Team.objects.get(slug="zebra"))
    assert read(people.member, zoo, "zebra-cq, hyperpod-ns-zebra/pytorchjob-zebra-llm") == (
        "zebra-cq, hyperpod-ns-zebra/pytorchjob-zebra-llm"
    )


def test_somebody_without_a_team_reads_no_name(zoo: World, people: People) -> None:
    assert read(people.stranger, zoo, "research-queue, zebra-cq") == f"{VEIL}, {VEIL}"


def test_names_that_were_others_stay_hidden_after_their_end(zoo: World, people: People) -> None:
    zoo.queues_gone("zebra-cq")
    zoo.lose(Job("zebra-llm", "hyperpod-ns-zebra", uid=THEIR_UID), now=zoo.now, after=zoo.now)
    assert read(people.member, zoo, f"zebra-cq {THEIR_UID} zebra-llm") == f"{VEIL} {VEIL} {VEIL}"


def test_a_name_that_is_ours_and_theirs_is_ours(zoo: World, people: People) -> None:
    zoo.see(Job("same", uid="uid-same-ours"), Job("same", "hyperpod-ns-zebra", uid="uid-same-theirs"))
    assert read(people.member, zoo, "job same, LocalQueue main-queue") == "job same, LocalQueue main-queue"


def test_a_namespace_of_no_team_is_somebody_elses(zoo: World, people: People) -> None:
    zoo.see(Job("odd", "lonely-zebra-place"))
    assert read(people.member, zoo, "lonely-zebra-place/pytorchjob-odd, in lonely-zebra-place") == f"{VEIL}, in {VEIL}"


def test_the_veil_is_in_the_readers_language(zoo: World, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.redaction.gettext", lambda text: f"translated {text}")
    assert read(people.member, zoo, "zebra-cq") == f"translated {VEIL}"


def test_a_long_text_is_read_in_one_go(zoo: World, people: People) -> None:
    text = f"zebra-cq {names.NVIDIA_GPU} " * 5000
    assert "zebra" not in read(people.member, zoo, text)


ABOUT_OUR_PODS = [
    "0/28 nodes are available: 27 node(s) didn't match Pod's node affinity/selector.",
    'Back-off pulling image "pytorch/pytorch:2.9"',
    'Readiness probe failed: Get "http://10.0.0.3:8080/healthz"',
]


def test_what_others_than_kueue_write_of_our_pods_stays_but_for_known_names(zoo: World, people: People) -> None:
    redaction = redaction_for(people.member, zoo.cluster, ABOUT_OUR_PODS)
    assert [redaction.apply(text, by_kueue=False) for text in ABOUT_OUR_PODS] == ABOUT_OUR_PODS
    text = f"Preempted by hyperpod-ns-zebra/rayjob-secret, pod {UNKNOWN_UID} of zebra-llm-0"
    told = redaction_for(people.member, zoo.cluster, [text]).apply(text, by_kueue=False)
    assert told == f"Preempted by {VEIL}, pod {VEIL} of {VEIL}"


WITHIN_WORDS = [
    "x-zebra-llm", "zebra-llm_1", "pre_hyperpod-ns-zebra", "zebra_queue", "ns-zebra", "a_b-zebra-cq", "x.y_zebra-lq",
    "/var/log/pods/hyperpod-ns-zebra_zebra-llm-0_1", "ours-0_hyperpod-ns-zebra", "X-Zebra", "ours-0.hyperpod-ns-zebra",
]  # fmt: skip


@pytest.mark.parametrize("by_kueue", [True, False])
def test_names_within_words(zoo: World, people: People, by_kueue: bool) -> None:
    redaction = redaction_for(people.member, zoo.cluster, WITHIN_WORDS)
    told = [redaction.apply(text, by_kueue=by_kueue).lstrip("/") for text in WITHIN_WORDS]
    assert told == [VEIL] * len(WITHIN_WORDS)


def test_jobs_are_found_within_words_by_name_alone(zoo: World, people: People) -> None:
    zoo.see(
        Job("annotate-w3kf2", "hyperpod-ns-zebra", uid="uid-annotate"), Job("llm-3.1", "hyperpod-ns-zebra", uid="u-3")
    )
    for text in (
        "x-annotate-w3kf2",
        "annotate-w3kf2_1",
        "a_x-annotate-w3kf2",
        "llm-3.1",
        "x-llm-3.1",
        "llm-3.1-worker-0",
    ):
        redaction = redaction_for(people.member, zoo.cluster, [text])
        assert redaction.apply(text, by_kueue=False) == VEIL, text


def test_our_own_names_within_words_stay(zoo: World, people: People) -> None:
    texts = [
        "ours-zebra-0",
        "x-ours",
        "ours_1",
        "pre_hyperpod-ns-research",
        "my-zebra-thing",
        "x-research-queue",
        "a_b-c_d",
    ]
    redaction = redaction_for(people.member, zoo.cluster, texts)
    assert [redaction.apply(text, by_kueue=False) for text in texts] == texts


WORDS = st.text("abc019", min_size=1, max_size=5)
JOINTS = st.sampled_from(["-", "_", "/", ".", " ", ": "])


@given(st.lists(WORDS, max_size=3), st.sampled_from("_/"), st.lists(st.tuples(JOINTS, WORDS), max_size=4))
def test_a_known_name_is_veiled_whatever_it_is_joined_to(
    before: list[str], between: str, after: list[tuple[str, str]]
) -> None:
    redaction = Redaction(False, frozenset({"ours"}), frozenset({"zebra-llm"}))
    begins = between.join([*before, "zebra-llm"]) + "".join(map("".join, after))
    ends = between.join(["ours", *before, "x-y-zebra-llm"])
    assert "zebra-llm" not in redaction.apply(f"{begins} {ends}", by_kueue=False)


def test_a_word_of_four_times_the_parts_takes_no_more_than_its_share(zoo: World, people: People) -> None:
    def veil(parts: int) -> None:
        assert read(people.member, zoo, "a-" * parts + "zebra") == VEIL

    assert growth(veil, 12_500) < 2 * LINEAR


def test_words_of_our_own_objects_stay(zoo: World, people: People) -> None:
    text = f"restarting pod ours-0_hyperpod-ns-research({UNKNOWN_UID}), not {THEIR_UID}"
    redaction = redaction_for(people.member, zoo.cluster, [text], own=[UNKNOWN_UID.upper()])
    assert redaction.apply(text) == text.replace(THEIR_UID, VEIL)


def test_two_questions_to_the_database(
    zoo: World, people: People, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    read(people.member, zoo, "once")
    with django_assert_num_queries(2):
        read(people.member, zoo, "a text of zebra-cq")
