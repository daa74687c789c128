"""`python -m scheduling usage FILE|-`: the figures of a dump as JSON, for a dump that somebody sends.

    kubectl get resourceflavors,cohorts,clusterqueues,localqueues,workloads,workloadpriorityclasses -A -o json \\
        | python -m scheduling usage -

Exit 2 with a sentence on stderr when the dump cannot be read. Objects that cannot be read are counted and named on
stderr; everything else is still computed. A figure that cannot be known is null.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scheduling.accounting import reserved_by_queue
from scheduling.cohort import QueueFigures, QueueStanding, figures
from scheduling.dump import Dump, UnreadableDump, parse_dump
from scheduling.quantities import format_quantity
from scheduling.queue_order import queue_orders

_QUANTITIES = ("nominal", "reservation", "usage", "borrowed", "lent_low", "lent_high", "available")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        dump = parse_dump(_read(options.file))
    except (UnreadableDump, OSError) as error:
        sys.stderr.write(f"cannot read {options.file}: {error}\n")
        return 2
    if dump.malformed:
        sys.stderr.write("\n  ".join([f"{len(dump.malformed)} object(s) left out:", *dump.malformed]) + "\n")
    sys.stdout.write(json.dumps(usage(dump), indent=2) + "\n")
    return 0


def usage(dump: Dump) -> dict[str, Any]:
    """Per ClusterQueue its figures by flavor and resource, its weighted share and the order of its queue."""
    reservation, admitted = reserved_by_queue(dump.workloads)
    result = figures(dump.cluster_queues, dump.cohorts, reservation, admitted)
    orders = queue_orders(dump.cluster_queues, dump.local_queues, dump.workloads)
    return {
        "clusterqueues": {
            name: {
                "flavors": _flavors(standing),
                "weighted_share": standing.weighted_share,
                "order": [workload.key for workload in orders[name]],
            }
            for name, standing in sorted(result.queues.items())
        }
    }


def _flavors(standing: QueueStanding) -> dict[str, dict[str, dict[str, str | None]]]:
    flavors: dict[str, dict[str, dict[str, str | None]]] = {}
    for (flavor, resource), line in sorted(standing.figures.items()):
        flavors.setdefault(flavor, {})[resource] = _quantities(line, resource)
    return flavors


def _quantities(line: QueueFigures, resource: str) -> dict[str, str | None]:
    amounts = {name: getattr(line, name) for name in _QUANTITIES}
    return {name: None if a is None else format_quantity(a, resource) for name, a in amounts.items()}


def _read(file: str) -> bytes:
    return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m scheduling", description="Kueue's arithmetic on a dump.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    usage_command = commands.add_parser("usage", help="the figures of every ClusterQueue")
    usage_command.add_argument("file", metavar="FILE", help="a List in JSON, as kubectl prints it; - for stdin")
    return parser


if __name__ == "__main__":
    sys.exit(main())
