"""Fills a prepared portal's ledger with one team's waiting jobs: `python -m tests.browser.many COUNT`.

The latest comes first. Those from `FIRST_NEEDLE` on, in that order, are called needle.
"""

import os
import sys

import django

FIRST_NEEDLE, NEEDLES = 4460, 20


def main(count: int) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from teams.models import Cluster
    from tests.stories import START, Job, cluster_queue, local_queue
    from tests.worlds import World

    world = World(Cluster.objects.get(slug="gpu-demo"))
    world.queues(cluster_queue(), local_queue("hyperpod-ns-research", "research-queue"))
    for begin in range(0, count, 500):
        world.see(*(Job(_name(n), created=-n).waits("no room", -n) for n in range(begin, min(begin + 500, count))))
    world.is_read(START)


def _name(number: int) -> str:
    kind = "needle" if FIRST_NEEDLE <= number < FIRST_NEEDLE + NEEDLES else "straw"
    return f"{kind}-{number:05}"


if __name__ == "__main__":
    main(int(sys.argv[1]))
