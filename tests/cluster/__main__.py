"""A real Kueue to look at: etcd, kube-apiserver and Kueue on loopback, with teams and jobs, until Ctrl-C.

    python -m tests.cluster [--moving] [--kubeconfig FILE] [--fair-sharing] [--workers]

The kubeconfig written is the portal's, which may read what deploy/kubernetes grants; another one, for kubectl, may do
everything. Both are printed once the world stands.
"""

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.cluster.build import CannotBuild, build_all, component
from tests.cluster.kubeconfig import write_private
from tests.cluster.plane import ControlPlane
from tests.cluster.processes import PlaneFailed
from tests.cluster.world import World, now

STEP_SECONDS = 1.0


def main(arguments: list[str]) -> str | int:
    """An exit status, or the sentence to end with."""
    options = _options(arguments)
    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, lambda *_: sys.exit(0))
    try:
        build_all()
        with tempfile.TemporaryDirectory(prefix="cluster-", ignore_cleanup_errors=True) as folder:
            return run(ControlPlane(Path(folder), fair_sharing=options.fair_sharing, workers=options.workers), options)
    except KeyboardInterrupt:
        return 0
    except (CannotBuild, PlaneFailed) as reason:
        return str(reason)


def run(plane: ControlPlane, options: argparse.Namespace) -> str | int:
    with plane:
        world = World(plane.admin, now())
        world.set_up()
        write_private(options.kubeconfig, plane.portal_kubeconfig.read_text())
        kubectl = component("kubernetes").folder / "kubectl"
        say(f"A real Kueue is ready: {plane.url}")
        say(f"  for the portal  {options.kubeconfig}")
        say(f"  for you         {kubectl} --kubeconfig {plane.kubeconfig} get clusterqueues")
        say("Ctrl-C ends it.")
        while not plane.processes.ended():
            time.sleep(STEP_SECONDS)
            if options.moving:
                world.move(now())
        return f"{', '.join(plane.processes.ended())} ended by itself; see the logs in {plane.folder}"


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.cluster", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--moving", action="store_true", help="jobs arrive, run, end, and give way to others")
    parser.add_argument("--kubeconfig", type=Path, default=Path("var/kueue.kubeconfig"), help="file to write")
    parser.add_argument("--fair-sharing", action="store_true", help="Kueue with fair sharing")
    parser.add_argument("--workers", action="store_true", help="Jobs get pods, too: job controller, scheduler, kwok")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
