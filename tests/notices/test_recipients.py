"""Whose notice it is."""

import pytest

from accounts.models import IdentityProvider, IdpGroup, IdpMembership, User
from notices.inbox import ReaderBackend, inbox_of
from notices.kinds import How, Kind
from notices.models import Choice, Notice, Receipt, Unfollowed
from notices.outbox import notice, post
from notices.recipients import address
from teams.models import GroupMapping, Team
from teams.permissions import GlobalRole, TeamRole
from tests.people import People
from tests.stories import START, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


def tell(
    world: World,
    people: People,
    kind: Kind = Kind.EVICTED,
    submitted_by: str = "",
    once: str = "1",
    of_team: bool = True,
) -> Notice:
    team = people.research.pk if of_team else None
    row = notice(kind, world.cluster, "uid-train", once=once, at=START, team_id=team, submitted_by=submitted_by)
    post([row])
    address(minute(1))
    return row


def recipients(row: Notice) -> set[str]:
    return set(Receipt.objects.filter(notice=row).values_list("user__username", flat=True))


def test_a_job_that_names_nobody_is_told_to_its_team(shared: World, people: People) -> None:
    assert recipients(tell(shared, people)) == {"member", "viewer", "team-admin"}


def test_a_job_that_names_a_member_is_told_to_that_one(shared: World, people: People) -> None:
    people.member.email = "Member@Example.org"
    people.member.save()
    assert recipients(tell(shared, people, submitted_by="viewer")) == {"viewer"}
    assert recipients(tell(shared, people, submitted_by="member@example.ORG", once="2")) == {"member"}


@pytest.mark.parametrize("name", ["neighbour", "platform-admin", "nobody-at-all", "mem"])
def test_a_name_of_no_member_counts_as_none(shared: World, people: People, name: str) -> None:
    assert recipients(tell(shared, people, submitted_by=name)) == {"member", "viewer", "team-admin"}


def test_who_does_not_follow_the_team_hears_only_of_their_own_jobs(shared: World, people: People) -> None:
    Unfollowed.objects.create(user=people.viewer, team=people.research)
    assert "viewer" not in recipients(tell(shared, people))
    assert recipients(tell(shared, people, submitted_by="viewer", once="2")) == {"viewer"}


def in_group(user: User, role: str, team: Team | None = None, *, enabled: bool = True) -> IdpMembership:
    """The identity provider says that the person is in a group, which gives them this role."""
    provider, _ = IdentityProvider.objects.get_or_create(
        slug="corp", defaults={"name": "Corp", "signs_response": True, "enabled": enabled}
    )
    group = IdpGroup.objects.create(provider=provider, value=f"g-{role}")
    GroupMapping.objects.create(group=group, team=team, role=role)
    return IdpMembership.objects.create(group=group, user=user)


def test_who_is_of_the_team_by_a_group_is_told_too(shared: World, people: People) -> None:
    membership = in_group(people.stranger, TeamRole.MEMBER, people.research)
    row = tell(shared, people)
    assert recipients(row) == {"member", "viewer", "team-admin", "stranger"}
    assert recipients(tell(shared, people, submitted_by="stranger", once="2")) == {"stranger"}
    assert unread(people.stranger) == inbox_of(people.stranger).count() == 2
    membership.delete()
    assert unread(people.stranger) == inbox_of(people.stranger).count() == 0
    assert recipients(tell(shared, people, once="3")) == {"member", "viewer", "team-admin"}


def test_who_looks_after_the_platform_by_a_group_is_told_too(shared: World, people: People) -> None:
    in_group(people.stranger, GlobalRole.PLATFORM_ADMIN)
    in_group(people.viewer, GlobalRole.AUDITOR)
    assert recipients(tell(shared, people, Kind.SYNC_STALLED, of_team=False)) == {"platform-admin", "stranger"}
    assert unread(people.stranger) == inbox_of(people.stranger).count() == 1


def test_a_group_of_a_provider_that_is_switched_off_gives_nothing(shared: World, people: People) -> None:
    in_group(people.stranger, TeamRole.MEMBER, people.research, enabled=False)
    assert recipients(tell(shared, people)) == {"member", "viewer", "team-admin"}


def unread(user: User) -> int:
    found = ReaderBackend().get_user(user.pk)
    return found.unread_notices  # type: ignore[union-attr,no-any-return]


def test_archived_people_hear_nothing(shared: World, people: People) -> None:
    people.viewer.archived_at = START
    people.viewer.save()
    assert recipients(tell(shared, people)) == {"member", "team-admin"}
    assert recipients(tell(shared, people, submitted_by="viewer", once="2")) == {"member", "team-admin"}


def test_what_needs_a_platform_admin_goes_to_those_and_a_stuck_job_to_both(shared: World, people: People) -> None:
    assert recipients(tell(shared, people, Kind.SYNC_STALLED, of_team=False)) == {"platform-admin"}
    assert recipients(tell(shared, people, Kind.STUCK)) == {"platform-admin", "member", "viewer", "team-admin"}


def test_never_is_never_and_the_usual_way_stands_without_a_choice(shared: World, people: People) -> None:
    Choice.objects.create(user=people.member, kind=Kind.EVICTED, how=How.NEVER)
    Choice.objects.create(user=people.viewer, kind=Kind.EVICTED, how=How.DIGEST)
    row = tell(shared, people)
    found = dict(Receipt.objects.filter(notice=row).values_list("user__username", "how"))
    assert found == {"viewer": How.DIGEST, "team-admin": How.AT_ONCE}
    assert recipients(tell(shared, people, Kind.REQUEUED)) == set()


def test_told_twice_it_stands_in_the_inbox_once(shared: World, people: People) -> None:
    row = tell(shared, people)
    before = Receipt.objects.count()
    assert tell(shared, people).pk == row.pk
    Notice.objects.update(addressed_at=None)  # as if a worker had died before it was noted
    address(minute(2))
    assert (Receipt.objects.count(), Notice.objects.count()) == (before, 1)


def test_a_thousand_at_once_reach_everybody_with_few_queries(
    shared: World, people: People, django_assert_max_num_queries: object
) -> None:
    rows = [
        notice(Kind.EVICTED, shared.cluster, f"uid-{n}", once="1", at=START, team_id=people.research.pk)
        for n in range(1000)
    ]
    post(rows)
    with django_assert_max_num_queries(120):  # type: ignore[operator]
        assert address(minute(1)) == 1000
    assert Receipt.objects.count() == 3000
