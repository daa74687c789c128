"""Rows that tests need before the cluster is read. Few defaults; workloads come through the ledger (`worlds`)."""

from typing import ClassVar

import factory
from factory.django import DjangoModelFactory

from accounts.models import User
from portal.models import SourceState
from teams.models import Cluster, CostCentre, Membership, NamespaceBinding, PlatformRole, Team
from teams.permissions import TeamRole
from tests.stories import START


class UserFactory(DjangoModelFactory):
    class Meta:
        model = User

    username = factory.Sequence(lambda n: f"person-{n}")
    name = factory.LazyAttribute(lambda user: f"Name of {user.username}")
    created_at = START


class ClusterFactory(DjangoModelFactory):
    class Meta:
        model = Cluster
        django_get_or_create: ClassVar = ["slug"]

    slug = "gpu-one"
    name = "GPU one"
    access = Cluster.Access.KUBECONFIG
    kubeconfig_path = "there/is/no/kubeconfig"


class CostCentreFactory(DjangoModelFactory):
    class Meta:
        model = CostCentre
        django_get_or_create: ClassVar = ["code"]

    code = "cc-research"
    name = "Research costs"


class TeamFactory(DjangoModelFactory):
    class Meta:
        model = Team

    slug = factory.Sequence(lambda n: f"team-{n}")
    name = factory.LazyAttribute(lambda team: team.slug.title())


class MembershipFactory(DjangoModelFactory):
    class Meta:
        model = Membership

    user = factory.SubFactory(UserFactory)
    team = factory.SubFactory(TeamFactory)
    role = TeamRole.MEMBER


class PlatformRoleFactory(DjangoModelFactory):
    class Meta:
        model = PlatformRole

    user = factory.SubFactory(UserFactory)


class NamespaceBindingFactory(DjangoModelFactory):
    class Meta:
        model = NamespaceBinding

    cluster = factory.SubFactory(ClusterFactory)
    team = factory.SubFactory(TeamFactory)
    namespace = factory.LazyAttribute(lambda binding: f"hyperpod-ns-{binding.team.slug}")
    valid_from = START


class SourceStateFactory(DjangoModelFactory):
    class Meta:
        model = SourceState

    source = "workloads"
    cluster = "gpu-one"
    last_good_at = START
