"""Signed in as one team, nothing that the portal answers holds another team's names: a crawl over all addresses.

In the data every team was told of the others in every way: in conditions, in pods, in events, in manifests.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

import portal.urls  # noqa: F401 (with the demo's addresses, before a test leaves the demo)
from accounts.models import User
from jobs.models import Eviction, ToldEviction, Workload
from notices.models import Notice
from notices.recipients import address
from teams.models import Cluster, Team
from tests.factories import MembershipFactory, UserFactory
from tests.gateways.scripted import ScriptedServer, listing, reply, write_kubeconfig
from tests.pages.conftest import PREEMPTED, THEIR_UID, UNKNOWN_UID
from tests.pages.crawl import Crawl, addresses, answer_of, routes
from tests.people import People
from tests.pods import Pod, see_pods
from tests.stories import Job
from tests.terminals import reach_by_terminal
from tests.worlds import World

pytestmark = [pytest.mark.django_db, pytest.mark.crawl]

VISION_UID = "44444444-4444-4444-8444-444444444444"
NAMED = f"Preempted workload hyperpod-ns-zebra/zebra-job-7, hyperpod-ns-vision/vision-job-7 (UID: {VISION_UID})"
OF_ALL = f"{PREEMPTED}. {NAMED} of team Zebra Crossing, hyperpod-ns-research/research-job-7"
PLATFORM_ONLY = {
    "overview", "all-workloads", "all-workloads-csv", "all-evictions", "all-evictions-csv", "victims", "borrowers",
    "all-unseen-evictions", "lending", "cluster", "gallery", "undelivered", "identity",
    "identity-connect", "identity-provider", "identity-scim", "identity-try", "identity-trial",
}  # fmt: skip
NO_PAGES = {
    "sign-out", "sign-in-as", "set_language", "inbox-read", "notice-acknowledge", "channel-remove", "message-again",
    "token-end", "break-glass", "identity-switch-off", "identity-switch-on", "identity-scim-end",
    "saml-login", "saml-acs", "saml-finish", "saml-logout", "saml-metadata", "scim-root", "scim",
}  # fmt: skip

WORDS = {
    "research": r"(?<![a-z])research(?!-queue)",  # zebra's second LocalQueue feeds research-queue
    "vision": rf"(?<![a-z])vision|{VISION_UID}|neighbour",
    "zebra": rf"zebra|crossing|{THEIR_UID}",
    "nobody": UNKNOWN_UID,
}
"""How another team is recognised, in lower case."""


OF_EVERYBODY = ("a", "job", "train", "queue", "hyperpod-ns-", "4-8", "node")
"""What is in names and uids of all teams."""


@dataclass(frozen=True, slots=True)
class Night:
    """Everybody in place, a cluster that answers, and all addresses with the names of their routes."""

    people: People
    keeper: User
    urls: dict[str, str]

    def reader(self, name: str) -> User:
        return self.keeper if name == "keeper" else getattr(self.people, name)  # type: ignore[no-any-return]


READERS = {
    "member": {"research"},
    "viewer": {"research"},
    "neighbour": {"vision"},
    "keeper": {"zebra"},
    "team_admin": {"research", "vision"},
    "stranger": set(),
}
"""Whose names each may read."""


@pytest.fixture
def night(zoo: World, jobs: dict[str, Job], people: People, tmp_path: Path, settings: Any) -> Iterator[Night]:
    settings.DEMO = False  # its sign-in lists everybody
    keeper = UserFactory(username="zebra-keeper", name="Zebra Keeper")
    MembershipFactory(user=keeper, team=Team.objects.get(slug="zebra"))
    theirs = Job("vision-train", "hyperpod-ns-vision", queue="vision-queue", uid=VISION_UID, created=-60)
    ours = Job("research-train", created=-60, queueName="main-queue").waits(OF_ALL)
    jobs["theirs"].evict(-10, message=OF_ALL)
    zoo.see(jobs["theirs"], theirs.admit(-50).evict(-20, message=OF_ALL).release(-19, OF_ALL), ours)
    see_pods(zoo, *(Pod(each, f"{each.uid}-0", "node-1") for each in (ours, jobs["runs"], theirs, jobs["theirs"])))
    see_pods(zoo, Pod(jobs["theirs"], "zebra-1", "node-zebra"), Pod(jobs["runs"], "runs-1").ends(0, code=1))
    for team in ("zebra", "vision", "research"):
        ToldEviction.objects.create(
            cluster=zoo.cluster, namespace=f"hyperpod-ns-{team}", workload_uid=team, workload_name=f"{team}-job-7",
            reason="Preempted", at=zoo.now,
        )  # fmt: skip
    address(zoo.now)
    server = ScriptedServer()
    zoo.cluster.kubeconfig_path = str(write_kubeconfig(tmp_path / "kubeconfig", server.url))
    zoo.cluster.save()
    reach_by_terminal(zoo.cluster, *Team.objects.values_list("slug", flat=True))
    _script(server, [*jobs.values(), theirs, ours])
    values = {
        "slug": ["research", "vision", "zebra", "nobodys", zoo.cluster.slug],
        "cluster": [zoo.cluster.slug, "nobodys"],
        "name": ["node-1", "node-zebra", "nobodys"],
        "key": [str(key) for key in Eviction.objects.values_list("pk", flat=True)],
        "notice": [str(key) for key in Notice.objects.values_list("pk", flat=True)],
        "message": [UNKNOWN_UID],
        "trial": [UNKNOWN_UID],
        "channel": ["1"],
        "token": ["1"],
        "credential": ["1"],
        "path": ["Users"],
        "uid": [*Workload.objects.values_list("uid", flat=True), UNKNOWN_UID],
    }
    yield Night(people, keeper, addresses(values) | {f"/search/?q={text}": "search" for text in OF_EVERYBODY})
    server.close()


def _script(server: ScriptedServer, jobs: list[Job]) -> None:
    """Pods, events and manifests that tell of everybody."""
    version = {"groupVersion": "kueue.x-k8s.io/v1beta2", "version": "v1beta2"}
    server.on("/apis/kueue.x-k8s.io", reply({"versions": [version]}))
    server.on("/apis/kueue.x-k8s.io/v1beta2", reply({"resources": [{"name": "workloads"}]}))
    for job in jobs:
        place = f"namespaces/{job.namespace}"
        name = job.obj["metadata"]["name"]
        job.condition("PreemptedWorkload", True, -10, "Preempted", OF_ALL)
        server.on(f"/apis/kueue.x-k8s.io/v1beta2/{place}/workloads/{name}", reply(job.json))
        server.on(
            f"/api/v1/{place}/events", listing([_event("PreemptedWorkload", OF_ALL), _event("Preempted", PREEMPTED)])
        )
        server.on(f"/api/v1/{place}/pods", listing([_pod(job)]))


def _event(reason: str, message: str) -> dict[str, Any]:
    about = {"kind": "Workload", "name": "w", "uid": "u"}
    time = {"firstTimestamp": "2026-10-08T11:50:00Z", "lastTimestamp": "2026-10-08T11:58:00Z"}
    return {"metadata": {"name": "e"}, "involvedObject": about, "reason": reason, "message": message, **time}


def _pod(job: Job) -> dict[str, Any]:
    owner = job.obj["metadata"]["ownerReferences"][0]
    meta = {"name": f"{owner['name']}-0", "uid": f"pod-{job.uid}", "creationTimestamp": "2026-10-08T11:50:00Z"}
    return {
        "metadata": {**meta, "ownerReferences": [owner]},
        "spec": {"nodeName": "node", "containers": [{"name": "main", "image": "train"}]},
        "status": {"phase": "Failed", "reason": "Evicted", "message": OF_ALL},
    }


def leaks(text: str, mine: set[str]) -> list[str]:
    """What of other teams is in the text."""
    others = [pattern for team, pattern in WORDS.items() if team not in mine]
    return re.findall("|".join(others), text.lower())


@pytest.mark.parametrize("reader", READERS)
def test_no_answer_and_no_line_of_the_log_holds_names_of_others(
    night: Night, reader: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level("INFO")
    crawl = Crawl(night.reader(reader))
    crawl.visit(night.urls)
    for answer in crawl.answers:
        told = answer.all.lower().replace(answer.url.lower(), "")
        assert leaks(told, READERS[reader]) == [], answer.url
    assert leaks(caplog.text + "".join(capfd.readouterr()), set()) == []
    assert len(caplog.messages) >= len(night.urls)
    if READERS[reader]:
        is_complete(crawl, night.urls)


def is_complete(crawl: Crawl, urls: Mapping[str, str]) -> None:
    """A member found something of their own at every URL that is for members."""
    reached = {urls.get(answer.url) for answer in crawl.answers if answer.status == 200}
    expected = {route.name for route in routes()} - PLATFORM_ONLY - NO_PAGES
    assert expected - reached <= {"home"}, "no value of the crawl leads to an own object there"
    assert reached.isdisjoint(PLATFORM_ONLY)


def test_where_names_are_switched_on_the_same_crawl_reads_them(night: Night) -> None:
    Cluster.objects.update(names_across_teams=True)
    crawl = Crawl(night.people.member)
    crawl.visit(night.urls)
    read = "\n".join(answer.content for answer in crawl.answers)
    for name in ("hyperpod-ns-zebra/zebra-job-7", "hyperpod-ns-vision/vision-job-7", "Zebra Crossing", THEIR_UID):
        assert name in read
    assert "[another team]" not in read
    theirs = re.compile(f"zebra|{THEIR_UID}|{VISION_UID}")
    answers = [answer for answer in crawl.answers if theirs.search(answer.url)]
    assert {answer.status for answer in answers} <= {403, 404, 405}
    forms = {reverse("identity-switch-off", args=["zebra"]), reverse("identity-scim-end", args=["zebra", 1])}
    assert {answer.url for answer in answers if answer.status == 405} <= forms, "of a provider of that name"


ASKED = (
    ("q", "zebra"), ("q", "zebra-llm"), ("q", THEIR_UID), ("team", "zebra"), ("queue", "zebra-lq"),
    ("queue", "zebra-cq"), ("kind", "zebra"), ("sort", "zebra"), ("page", "zebra"),
    ("by", "zebra"), ("reason", "zebra"), ("sums", "zebra"),
)  # fmt: skip


def test_asking_for_what_others_have_is_like_asking_for_what_nobody_has(night: Night) -> None:
    client = Client()
    client.force_login(night.people.member)
    found = {name: url for url, name in night.urls.items() if client.get(url).status_code == 200}
    assert {"team", "team-workloads", "team-workloads-csv", "search", "workload", "workload-events"} <= found.keys()
    for url in found.values():
        for name, word in ASKED:
            nobodys = word.replace("zebra", "quagg").replace("2222", "5555")
            assert _answer_without(client, url, name, word) == _answer_without(client, url, name, nobodys), (url, name)


def _answer_without(client: Client, url: str, name: str, word: str) -> tuple[int, str]:
    """What asking for the word is answered, but for the word itself."""
    answer = answer_of(url, client.get(f"{url}?{urlencode({name: word})}"))
    return answer.status, answer.content.replace(word, "WORD")
