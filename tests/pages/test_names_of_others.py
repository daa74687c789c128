"""Another team's names never reach a member, in any page; platform roles read them."""

import pytest
from django.urls import reverse

from jobs.models import Eviction, Workload
from jobs.templatetags.evictions import eviction_url
from teams.models import Cluster
from tests.pages.conftest import THEIR_UID, UNKNOWN_UID
from tests.pages.reading import visit, words
from tests.people import People
from tests.stories import Job
from tests.worlds import World

pytestmark = pytest.mark.django_db


def pages(people: People, jobs: dict[str, Job]) -> dict[str, str]:
    ours = [jobs[name] for name in ("waits", "evicted", "runs")]
    return {
        "home": reverse("home"),
        "team": people.research.get_absolute_url(),
        "evictions": reverse("team-evictions", args=["research"]),
        "evictions by others": reverse("team-evictions", args=["research"]) + "?sums=preemptor",
        "lost": reverse("team-lost", args=["research"]),
        **{f"eviction {each.pk}": eviction_url(each) for each in Eviction.objects.all()},
        "overview": reverse("overview"),
        "their team": "/teams/zebra/",
        "their job": Workload.objects.get(uid=jobs["theirs"].uid).get_absolute_url(),
        **{f"job {job.uid}": Workload.objects.get(uid=job.uid).get_absolute_url() for job in ours},
        "nothing": "/no/such/page/",
    }


@pytest.mark.parametrize("role", ["member", "viewer", "team_admin"])
@pytest.mark.parametrize("language", ["en", "pt-br"])
def test_no_name_of_another_team_reaches_a_member(
    people: People, jobs: dict[str, Job], role: str, language: str
) -> None:
    user = getattr(people, role)
    for page, url in pages(people, jobs).items():
        text = visit(user, url, language).text.lower()
        for name in ("zebra", THEIR_UID, UNKNOWN_UID):
            assert name not in text.replace("/teams/zebra/", "").replace(f"workloads/{THEIR_UID}/", ""), page


def test_ours_are_read_with_the_others_veiled(people: People, jobs: dict[str, Job]) -> None:
    team = words(visit(people.member, people.research.get_absolute_url()))
    assert "ClusterQueue [another team] of [another team] borrows" in team
    assert "preemptee path: /shared/research-queue" in team
    job = words(visit(people.member, Workload.objects.get(uid=jobs["runs"].uid).get_absolute_url()))
    assert "Preempted workload [another team]" in job


@pytest.mark.parametrize("role", ["platform_admin", "auditor"])
def test_platform_roles_read_the_names_and_the_raw_text(people: People, jobs: dict[str, Job], role: str) -> None:
    user = getattr(people, role)
    assert "Zebra Crossing no limit 4 of 4 own" in words(visit(user, reverse("overview")))
    team = words(visit(user, people.research.get_absolute_url()))
    assert "hyperpod-ns-zebra/pytorchjob-zebra-llm" in team
    assert f"UID: {THEIR_UID}" in team
    job = words(visit(user, Workload.objects.get(uid=jobs["runs"].uid).get_absolute_url()))
    assert "Preempted workload hyperpod-ns-zebra/zebra-job-7" in job


def test_finops_reads_names_and_amounts_but_no_raw_text(people: People, jobs: dict[str, Job]) -> None:
    assert "Zebra Crossing no limit 4 of 4 own" in words(visit(people.finops, reverse("overview")))
    team = words(visit(people.finops, "/teams/zebra/"))
    assert "zebra-llm" in team
    assert "4 of 4 own" in team
    for url in (people.research.get_absolute_url(), Workload.objects.get(uid=jobs["waits"].uid).get_absolute_url()):
        text = words(visit(people.finops, url))
        assert "insufficient unused quota" not in text
        assert "Raw condition" not in text
        assert "as the cluster tells them" not in text
        assert "Not enough is free in H100 (ml.p5.48xlarge): 4 GPUs more needed." in text


def test_where_names_are_switched_on_members_read_them(people: People, jobs: dict[str, Job]) -> None:
    Cluster.objects.update(names_across_teams=True)
    team = words(visit(people.member, people.research.get_absolute_url()))
    assert "hyperpod-ns-zebra/pytorchjob-zebra-llm" in team
    assert visit(people.member, "/teams/zebra/").status_code == 404


def test_positions_count_others_without_naming_them(zoo: World, people: People, jobs: dict[str, Job]) -> None:
    text = words(visit(people.member, people.research.get_absolute_url()))
    assert "1 of 3" not in text
    assert "2 of 3" in text
    assert "3 of 3" in text


def test_names_in_a_job_are_text_and_not_markup(zoo: World, people: People) -> None:
    job = Job("odd").waits("<script>alert(1)</script> & co")
    job.obj["metadata"]["ownerReferences"][0] |= {"name": "<b>bold</b>", "kind": "<i>Kind</i>"}
    zoo.see(job)
    for url in (people.research.get_absolute_url(), Workload.objects.get(uid=job.uid).get_absolute_url()):
        text = visit(people.member, url).text
        for tag in ("<script>alert", "<b>bold", "<i>Kind"):
            assert tag not in text
