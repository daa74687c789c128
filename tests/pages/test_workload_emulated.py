"""The page of a job and its live parts, all read from one emulated cluster over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import timezone

from emulator.embedded import Running, running
from emulator.kubeconfig import write_kubeconfig
from emulator.server import Options
from gateways.http import connect
from gateways.kueue import Kueue
from jobs.models import Workload
from tests.emulator import manifests
from tests.emulator.client import KUEUE, Client
from tests.pages.reading import visit, words
from tests.people import People
from tests.worlds import World

pytestmark = pytest.mark.django_db
TEAM = "hyperpod-ns-research"
SECRET = "s3cr3t-v4lue"


@pytest.fixture(scope="module")
def emulator() -> Iterator[Running]:
    with running(Options(world="none", paused=True)) as started:
        yield started


@pytest.fixture(scope="module")
def admin(emulator: Running) -> Client:
    """With one queue of 4 CPUs, in which `runs` runs and `waits` waits."""
    client = Client(emulator.url, emulator.tokens.admin)
    client.create("/api/v1/namespaces", manifests.namespace(TEAM))
    client.create("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}, "spec": {}})
    client.create(f"{KUEUE}/resourceflavors", manifests.flavor())
    client.create(f"{KUEUE}/clusterqueues", manifests.cluster_queue("research-queue", 4))
    client.create(f"{KUEUE}/namespaces/{TEAM}/localqueues", manifests.local_queue("main-queue", "research-queue"))
    for name in ("runs", "waits"):
        job = manifests.job(name, "main-queue", 3, start=1, run=600)
        container = job["spec"]["podSets"][0]["template"]["spec"]["containers"][0]
        container |= {"env": [{"name": "KEY", "value": SECRET}], "args": ["--api-key", SECRET]}
        client.create(f"{KUEUE}/namespaces/{TEAM}/workloads", job)
        client.step(5)
    return client


@pytest.fixture
def jobs(shared: World, emulator: Running, admin: Client, tmp_path: Path) -> dict[str, Workload]:
    """As a look at the cluster put them into the ledger."""
    kubeconfig = tmp_path / "kubeconfig"
    write_kubeconfig(kubeconfig, emulator.url, emulator.tokens)
    shared.cluster.kubeconfig_path = str(kubeconfig)
    shared.cluster.save()
    kueue = Kueue(connect(shared.cluster.connection))
    shared.see(*(kueue.get_workload(TEAM, name) for name in ("runs", "waits")), now=timezone.now())
    shared.is_read()
    return {row.name: row for row in Workload.objects.all()}


def told(people: People, job: Workload, part: str = "") -> str:
    return words(visit(people.member, job.get_absolute_url() + part))


def test_one_that_runs(jobs: dict[str, Workload], people: People) -> None:
    assert "It runs." in told(people, jobs["runs"])
    pods = told(people, jobs["runs"], "pods/")
    assert "Running 1 of 1 0 – node-1" in pods
    events = told(people, jobs["runs"], "events/")
    assert "Quota reserved in ClusterQueue research-queue" in events
    assert "about the Workload" in events
    assert "about the Job" in events


def test_one_that_waits(jobs: dict[str, Workload], people: People) -> None:
    assert "Not enough is free in default: 2 CPU cores more needed." in told(people, jobs["waits"])
    assert "No pod of this job is there" in told(people, jobs["waits"], "pods/")
    assert "Warning Pending couldn't assign flavors to pod set main" in told(people, jobs["waits"], "events/")


def test_the_manifest_is_the_servers_without_the_secret(jobs: dict[str, Workload], people: People) -> None:
    for job in jobs.values():
        text = told(people, job, "manifest/")
        assert f"uid: {job.uid}" in text
        assert "- name: KEY value: •••" in text
        assert SECRET not in text


def test_one_whose_object_is_gone(jobs: dict[str, Workload], people: People) -> None:
    Workload.objects.filter(pk=jobs["runs"].pk).update(name="never-there")
    assert "The cluster has it no more" in told(people, jobs["runs"], "manifest/")
