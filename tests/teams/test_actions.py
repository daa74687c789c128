from datetime import datetime
from typing import Any

import pytest
from celery import current_app

from accounts.models import IdentityProvider, User
from portal.models import AuditEvent
from teams.actions import apply_setup
from teams.models import Cluster, CostCentre, Membership, NamespaceBinding, PlatformRole, Team, Terminal
from teams.setup_file import read_setup
from teams.setup_values import BadSetup
from tests.stories import START, minute

pytestmark = pytest.mark.django_db

FILE = """
clusters: {gpu-one: {name: GPU one, kubeconfig: config}}
cost_centres: {cc-research: Research}
people: {member: {name: A member}, viewer: {}, finops: {}}
teams:
  research:
    name: Research
    cost_centre: cc-research
    hyperpod: [gpu-one]
    members: {member: admin, viewer: viewer}
  vision: {name: Vision, namespaces: {gpu-one: [ns-vision]}}
platform_roles: {finops: [finops]}
"""


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """The tasks that were sent."""
    found: list[tuple[str, Any]] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **options: found.append((name, args)))
    return found


def apply(text: str, now: datetime = START) -> list[str]:
    return apply_setup(setup=read_setup(text), by="setup-file", now=now)


def bindings() -> list[tuple[str, str, datetime, datetime | None]]:
    rows = NamespaceBinding.objects.order_by("valid_from", "namespace")
    return list(rows.values_list("namespace", "team__slug", "valid_from", "valid_to"))


def members(slug: str) -> dict[str, str]:
    return dict(Membership.objects.filter(team__slug=slug).values_list("user__username", "role"))


def test_everything_the_file_names_is_made() -> None:
    apply(FILE)
    assert Cluster.objects.get().kubeconfig_path == "config"
    team = Team.objects.get(slug="research")
    assert (team.name, team.cost_centre) == ("Research", CostCentre.objects.get())
    assert bindings() == [
        ("hyperpod-ns-research", "research", START, None),
        ("ns-vision", "vision", START, None),
    ]
    assert members("research") == {"member": "admin", "viewer": "viewer"}
    assert list(PlatformRole.objects.values_list("user__username", "role")) == [("finops", "finops")]
    assert User.objects.get(username="member").created_at == START


def test_applying_twice_changes_nothing() -> None:
    changes = apply(FILE)
    assert len(changes) == AuditEvent.objects.filter(event__startswith="setup.").count() == 12
    assert AuditEvent.objects.filter(event="role.gained").count() == 3
    assert apply(FILE, minute(5)) == []
    assert AuditEvent.objects.count() == 15


def test_every_change_is_audited_and_told_in_a_line() -> None:
    changes = apply(FILE)
    assert "created team/research (name: Research, cost_centre: cc-research · Research)" in changes
    assert "namespace_given team/research (cluster: gpu-one, namespace: hyperpod-ns-research)" in changes
    assert "member_added team/research (member: member, role: admin)" in changes
    assert "role_given person/finops (role: finops)" in changes
    event = AuditEvent.objects.get(event="setup.member_added", details__member="member")
    assert (event.actor, event.target, event.at) == ("setup-file", "team/research", START)
    assert event.details == {"member": "member", "role": "admin"}


def test_changed_fields_are_changed_and_named() -> None:
    apply(FILE)
    changes = apply(FILE.replace("name: Research", "name: Basic research"), minute(5))
    assert changes == ["changed team/research (name: Basic research)"]
    assert Team.objects.get(slug="research").name == "Basic research"


def test_a_namespace_that_moves_closes_one_binding_and_opens_the_next() -> None:
    apply(FILE)
    moved = FILE.replace("ns-vision", "ns-other").replace("hyperpod: [gpu-one]", "namespaces: {gpu-one: [ns-vision]}")
    apply(moved, minute(5))
    assert bindings() == [
        ("hyperpod-ns-research", "research", START, minute(5)),
        ("ns-vision", "vision", START, minute(5)),
        ("ns-other", "vision", minute(5), None),
        ("ns-vision", "research", minute(5), None),
    ]


def test_a_namespace_taken_from_a_team_the_file_does_not_name() -> None:
    apply(FILE)
    changes = apply("teams: {third: {namespaces: {gpu-one: [ns-vision]}}}", minute(5))
    assert "namespace_taken team/vision (cluster: gpu-one, namespace: ns-vision)" in changes
    assert [row for row in bindings() if row[0] == "ns-vision"] == [
        ("ns-vision", "vision", START, minute(5)),
        ("ns-vision", "third", minute(5), None),
    ]


def test_a_namespace_that_moves_within_the_instant_it_was_given() -> None:
    apply(FILE)
    apply("teams: {third: {namespaces: {gpu-one: [ns-vision]}}}", START)
    first, second = (row for row in bindings() if row[0] == "ns-vision")
    assert first[2] < first[3] == second[2]


def test_the_members_become_exactly_those_of_the_file() -> None:
    apply(FILE)
    changes = apply(FILE.replace("{member: admin, viewer: viewer}", "{member: viewer, finops: member}"), minute(5))
    assert members("research") == {"member": "viewer", "finops": "member"}
    assert changes == [
        "role_changed team/research (member: member, role: viewer)",
        "member_removed team/research (member: viewer)",
        "member_added team/research (member: finops, role: member)",
    ]


def test_the_platform_roles_become_exactly_those_of_the_file() -> None:
    apply(FILE)
    changes = apply("platform_roles: {auditor: [viewer]}", minute(5))
    assert changes == ["role_taken person/finops (role: finops)", "role_given person/viewer (role: auditor)"]


def test_what_the_file_does_not_name_stays() -> None:
    apply(FILE)
    assert apply("cost_centres: {cc-new: New}", minute(5)) == ["created cost_centre/cc-new (name: New)"]
    assert members("research") == {"member": "admin", "viewer": "viewer"}
    assert PlatformRole.objects.count() == 1
    assert len(bindings()) == 2


def test_a_person_may_hold_several_platform_roles() -> None:
    apply("people: {one: {}}\nplatform_roles: {finops: [one], auditor: [one]}")
    assert set(PlatformRole.objects.values_list("role", flat=True)) == {"finops", "auditor"}


def test_names_that_nobody_knows_refuse_the_whole_file() -> None:
    with pytest.raises(BadSetup) as refusal:
        apply(
            "teams: {research: {cost_centre: cc, hyperpod: [gpu], members: {someone: admin}}}\n"
            "platform_roles: {finops: [nobody]}"
        )
    assert refusal.value.problems == [
        "teams/research/cost_centre: there is no 'cc', in the file or in the portal.",
        "teams/research/namespaces: there is no 'gpu', in the file or in the portal.",
        "teams/research/members: there is no 'someone', in the file or in the portal.",
        "platform_roles: there is no 'nobody', in the file or in the portal.",
    ]
    assert not Team.objects.exists()
    assert not AuditEvent.objects.exists()


def test_names_that_the_portal_knows_need_not_be_in_the_file() -> None:
    apply(FILE)
    apply("teams: {third: {cost_centre: cc-research, hyperpod: [gpu-one], members: {member: member}}}", minute(5))
    assert members("third") == {"member": "member"}


def test_clusters_whose_namespaces_changed_hands_are_healed_on_commit(
    sent: list[tuple[str, Any]], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        apply(FILE)
    assert sent == [("jobs.heal_caches", (Cluster.objects.get().pk,))]
    with django_capture_on_commit_callbacks(execute=True):
        apply(FILE.replace("name: Research", "name: Basic research"), minute(5))
    assert len(sent) == 1


def test_an_identity_provider_by_address_is_read_on_commit(
    sent: list[tuple[str, Any]], django_capture_on_commit_callbacks: Any
) -> None:
    entry = "identity_providers: {corp: {name: Corp, metadata_url: https://corp.example.org/metadata}}"
    with django_capture_on_commit_callbacks(execute=True):
        apply(entry)
    read = ("accounts.read_metadata_of", (IdentityProvider.objects.get().pk,))
    assert sent == [read]
    with django_capture_on_commit_callbacks(execute=True):
        apply(entry, minute(5))
    assert sent == [read], "nothing was changed"
    with django_capture_on_commit_callbacks(execute=True):
        apply(entry.replace("/metadata", "/other"), minute(6))
    assert sent == [read, read]


def test_one_whose_metadata_is_in_the_file_is_not_read(
    sent: list[tuple[str, Any]], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        apply("identity_providers: {corp: {name: Corp}}")
    assert IdentityProvider.objects.exists()
    assert sent == []


def test_how_often_a_teams_jobs_save_their_work(db: None) -> None:
    apply("teams: {third: {checkpoint_minutes: 30}}", minute(1))
    assert Team.objects.get(slug="third").checkpoint_seconds == 1800
    apply("teams: {third: {name: Third}}", minute(2))
    assert Team.objects.get(slug="third").checkpoint_seconds == 1800


REACHED = """
clusters: {gpu: {eks_cluster: one, eks_region: r, terminal: {account: "012345678901", sso_start_url: https://a.b}}}
teams: {research: {hyperpod: [gpu], permission_sets: {gpu: Training}}}
"""


def test_ways_from_a_terminal_become_those_of_the_file() -> None:
    changes = apply(REACHED)
    assert any(line.startswith("created terminal/gpu ") for line in changes)
    assert "created permission_set/research (name: Training)" in changes
    assert apply(REACHED, minute(1)) == []
    assert apply(REACHED.replace("Training", "Other"), minute(2)) == ["changed permission_set/research (name: Other)"]
    gone = apply(REACHED.replace(", permission_sets: {gpu: Training}", ""), minute(3))
    assert gone == ["permission_set_taken team/research (cluster: gpu, name: Other)"]
    assert Terminal.objects.get().eks_cluster == "one"
