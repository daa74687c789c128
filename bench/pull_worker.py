"""One pull in a process of its own; prints its seconds and peak memory as JSON. Started by `bench.pull`."""

import json
import resource
import sys
import time

import django


def main(kubeconfig: str, which: str) -> None:
    django.setup()
    from django.core.management import call_command
    from django.db import connection
    from django.utils import timezone

    from gateways.http import connect
    from gateways.kueue import Kueue
    from jobs.models import Workload
    from jobs.sync.listings import Kind
    from jobs.sync.pull import pull_specs, pull_workloads
    from teams.models import Cluster

    if which == "first":
        with connection.cursor() as cursor:
            cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        call_command("migrate", verbosity=0)
        Cluster.objects.create(slug="bench", name="bench", access="kubeconfig", kubeconfig_path=kubeconfig)
    cluster = Cluster.objects.get()
    kueue = Kueue(connect(cluster.connection))
    if which == "first":
        for kind in (Kind.CLUSTER_QUEUE, Kind.LOCAL_QUEUE):
            pull_specs(cluster, kueue, kind, timezone.now)
    begun = time.monotonic()
    counts = pull_workloads(cluster, kueue, timezone.now)
    seconds = time.monotonic() - begun
    assert counts.seen == Workload.objects.live().count()
    assert (counts.written > 0) == (which == "first"), counts.written
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "megabytes": megabytes}))


if __name__ == "__main__":
    main(*sys.argv[1:3])
