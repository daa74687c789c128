"""From the reader's terminal: what to paste for the clusters of one team."""

from datetime import timedelta

import pytest
import yaml

from teams.models import Cluster, PermissionSet
from tests.pages.reading import visit, words
from tests.pages.test_query_counts import count
from tests.people import People
from tests.terminals import reach_by_terminal
from tests.worlds import World

pytestmark = pytest.mark.django_db

URL, FILE = "/teams/research/terminal/", "/teams/research/kubeconfig/gpu-one/"


def test_everything_to_paste(shared: World, people: People) -> None:
    reach_by_terminal(shared.cluster, "research", "vision")
    text = words(visit(people.member, URL))
    assert "sso_role_name = research-training" in text
    assert "aws eks update-kubeconfig --name hyperpod-one --region us-east-2" in text
    assert "kubectl get workloads --context research-gpu-one -n hyperpod-ns-research" in text
    assert "vision" not in text.replace("supervision", "")


def test_a_kubeconfig_to_download(shared: World, people: People) -> None:
    reach_by_terminal(shared.cluster, "research")
    response = visit(people.member, FILE)
    assert response["Content-Disposition"] == 'attachment; filename="kubeconfig-research-gpu-one.yaml"'
    assert yaml.safe_load(response.text)["clusters"][0]["cluster"]["server"] == "https://one.example.com"


def test_without_the_clusters_address_there_is_none(shared: World, people: People) -> None:
    reach_by_terminal(shared.cluster, "research")
    Cluster.objects.update(api_endpoint="")
    assert "download" not in words(visit(people.member, URL))
    assert visit(people.member, FILE).status_code == 404


def test_without_a_permission_set_it_says_whom_to_ask(shared: World, people: People) -> None:
    reach_by_terminal(shared.cluster, "vision")
    assert "Not set up yet" in words(visit(people.member, URL))
    assert visit(people.member, FILE).status_code == 404


def test_a_namespace_that_was_lost_takes_its_cluster_along(shared: World, people: People) -> None:
    reach_by_terminal(shared.cluster, "research")
    shared.cluster.namespace_bindings.filter(team=people.research).update(valid_to=shared.now + timedelta(minutes=1))
    assert PermissionSet.objects.filter(team=people.research).exists()
    assert "Not set up yet" in words(visit(people.member, URL))


def test_it_costs_few_queries(shared: World, people: People) -> None:
    reach_by_terminal(shared.cluster, "research")
    assert count(people.member, URL) <= 8
