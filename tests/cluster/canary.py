"""A Workload that only a new Cohort can lend to: admitted, it proves that Kueue has handled all kinds up to now."""

from tests.cluster import jobs, objects
from tests.cluster.client import Client
from tests.cluster.objects import GPU


class Canary:
    """Objects of one name in an existing namespace."""

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        self.client, self.namespace, self.name = client, namespace, name

    def send(self) -> None:
        create, name = self.client.create, self.name
        create("resourceflavors", objects.flavor(name))
        create("cohorts", objects.cohort(name, objects.group((name, {GPU: 1}))))
        create("clusterqueues", objects.cluster_queue(name, objects.group((name, {GPU: 0})), cohort=name))
        create("localqueues", objects.local_queue(self.namespace, name, name))
        create("workloads", objects.workload(self.namespace, name, name, objects.pod_set({GPU: 1})))

    def is_through(self) -> bool:
        return jobs.is_true(self.client.read("workloads", self.name, self.namespace), "Admitted")

    def remove(self) -> None:
        for collection in ("workloads", "localqueues"):
            self.client.delete(collection, self.name, self.namespace)
        for collection in ("clusterqueues", "cohorts", "resourceflavors"):
            self.client.delete(collection, self.name)
