"""Run an emulated HyperPod cluster:

    python -m emulator --port 0 --store var/emulator.json --kubeconfig var/emulator.kubeconfig

It listens on loopback alone and prints `emulator ready: URL` when it answers. SIGTERM and SIGINT save the store and end
it; the next start loads the store again, and the time between is a gap in which nothing happened. The kubeconfig holds
two contexts: `portal` (the current one) reads exactly what the portal needs, `admin` may do everything.

For tests, an empty world whose time stands still:

    python -m emulator --port 0 --kubeconfig FILE --world none --paused

or the same in a thread of the test's own process: `emulator.embedded.running(Options(world="none", paused=True))`.
Controllers then act only when the admin moves the clock:

    POST /emulator/clock/step {"seconds": 30}   live through the next 30 seconds (0: react to what was written)
    POST /emulator/clock/pause, …/resume        hold time, let it run
    GET  /emulator/clock                        {"now", "running", "speed"}
    POST /emulator/compact                      forget the past: older watches and continue tokens answer 410

Workloads with an owner are followed by a stand-in for job controllers; its annotations are in `emulator.jobs`.
Workloads without one are left to whoever created them, as on a real cluster.
"""

import argparse
import asyncio
import logging
import signal
import sys
from datetime import datetime
from pathlib import Path

from emulator.building import EMPTY, TEAMS
from emulator.resources import CURRENT, DEPRECATED
from emulator.server import Emulator, Options


def _options(arguments: list[str]) -> tuple[bool, Options]:
    """Whether it ends with standard input, and how it starts."""
    parser = argparse.ArgumentParser(
        prog="emulator", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    parser.add_argument("--store", type=Path, help="file that keeps the cluster between starts")
    parser.add_argument("--kubeconfig", type=Path, required=True, help="file to write for clients")
    parser.add_argument("--seed", type=int, default=1, help="another seed, another story")
    parser.add_argument("--speed", type=float, default=1.0, help="seconds of the cluster in one second")
    parser.add_argument("--paused", action="store_true", help="begin with the clock held")
    parser.add_argument("--begin", type=_time, help="when a new cluster's time begins (ISO 8601 with a zone)")
    parser.add_argument("--stretch", type=int, default=1, help="the world's jobs are so many times rarer and longer")
    parser.add_argument("--attended", action="store_true", help="end with standard input, as when its parent is killed")
    parser.add_argument("--world", choices=(TEAMS, EMPTY), default=TEAMS, help="what is in the cluster at first")
    parser.add_argument("--kueue-version", choices=(CURRENT, DEPRECATED), default=CURRENT, help="v1beta1: an old Kueue")
    told = vars(parser.parse_args(arguments))
    return told.pop("attended"), Options(**told)


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError("without a zone")
    return time


async def _serve(options: Options, *, attended: bool) -> None:
    emulator = Emulator(options)  # takes seconds, in which a signal ends the process: there is nothing to save yet
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signum, ended.set)
    if attended:
        loop.add_reader(sys.stdin, ended.set)
    await emulator.start()
    sys.stdout.write(f"emulator ready: {emulator.url}\n")
    sys.stdout.flush()
    try:
        await ended.wait()
    finally:
        await emulator.stop()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        attended, options = _options(sys.argv[1:])
        asyncio.run(_serve(options, attended=attended))
    except (OSError, ValueError) as error:
        sys.exit(f"emulator: {error}")
