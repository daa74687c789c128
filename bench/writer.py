"""One of the three writers of `bench.writers`: does its work over and over and prints how long each write waited."""

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import django

WRITES = ("BEGIN", "INSERT", "UPDATE", "DELETE")


def main(role: str, seconds: float) -> None:
    django.setup()
    from django.db.backends.signals import connection_created

    waits: list[float] = []
    errors: list[str] = []

    def timed(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if not sql.lstrip().startswith(WRITES):
            return execute(sql, params, many, context)
        begun = time.monotonic()
        try:
            return execute(sql, params, many, context)
        except Exception as error:
            errors.append(repr(error))
            raise
        finally:
            waits.append(time.monotonic() - begun)

    connection_created.connect(lambda connection, **_: connection.execute_wrappers.append(timed), weak=False)
    rounds = {"web": sign_in, "worker": pull, "watcher": watch}[role](time.monotonic() + seconds, errors)
    for error in errors[:5]:
        print(error, file=sys.stderr)
    print(json.dumps({"waits": waits, "errors": len(errors), "rounds": rounds}))


def sign_in(end: float, errors: list[str]) -> int:
    """A sign-in, a page, a sign-out: what makes the web process write."""
    from django.test import Client

    rounds = 0
    while time.monotonic() < end:
        client = Client(HTTP_HOST="127.0.0.1")
        client.post("/sign-in/as/", {"username": "data-scientist"})
        if client.get("/teams/research/").status_code != 200:
            errors.append("the team page did not answer")
        client.post("/sign-out/")
        rounds += 1
        time.sleep(0.05)
    return rounds


def pull(end: float, errors: list[str]) -> int:
    from django.utils import timezone

    from jobs.sync.pull import pull_cluster
    from teams.models import Cluster

    rounds = 0
    while time.monotonic() < end:
        pull_cluster(Cluster.objects.get(), timezone.now)
        rounds += 1
    return rounds


def watch(end: float, errors: list[str]) -> int:
    from django.utils import timezone

    from jobs.sync.watch import ClusterWatch
    from teams.models import Cluster

    watching = ClusterWatch(Cluster.objects.get(), timezone.now)
    watching.start()
    threading.Event().wait(end - time.monotonic())
    if not watching.is_alive:
        errors.append("the watch ended")
    watching.stop()
    return 1


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
