"""Web, worker and watcher writing to one SQLite file for 20 s: no error, and nobody waits long for the lock.

    python -m bench.writers [SECONDS]

Three processes on the portal's own code paths: sign-ins through the web stack, pulls of the emulated cluster, and the
watcher while the emulator's world moves at high speed. Every statement that takes SQLite's write lock is timed.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BOUND_SECONDS = 0.25
ROLES = ("web", "worker", "watcher")


def main(seconds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="bench-writers-") as folder:
        kubeconfig = Path(folder, "kubeconfig")
        emulator = subprocess.Popen(
            [sys.executable, "-m", "emulator", "--kubeconfig", str(kubeconfig), "--speed", "60"],
            stdout=subprocess.DEVNULL,
        )
        try:
            while not kubeconfig.exists():
                time.sleep(0.1)
            answers = run_writers(folder, kubeconfig, seconds)
        finally:
            emulator.terminate()
            emulator.wait(20)
    waits = [wait for answer in answers.values() for wait in answer["waits"]]
    for role, answer in answers.items():
        print(f"{role}: {len(answer['waits'])} writes, {answer['rounds']} rounds, {answer['errors']} errors")
    errors = sum(answer["errors"] for answer in answers.values())
    p99 = statistics.quantiles(waits, n=100)[98]
    told = f"{errors} errors (0), p99 {p99 * 1000:.0f} ms"
    print(f"three writers: {told}, ratio {p99 / BOUND_SECONDS:.2f} of 250 ms (1.00)")


def run_writers(folder: str, kubeconfig: Path, seconds: int) -> dict[str, dict[str, list[float] | int]]:
    environment = {
        **os.environ,
        "PORTAL_MODE": "demo",
        "PORTAL_SECRET_KEY": "bench",
        "PORTAL_VAR": folder,
        "PORTAL_LOG_LEVEL": "WARNING",
        "PORTAL_DEMO_KUBECONFIG": str(kubeconfig),
        "DJANGO_SETTINGS_MODULE": "portal.settings",
    }
    for command in ("migrate --verbosity 0", "collectstatic --verbosity 0", "import_setup deploy/demo.yaml"):
        subprocess.run(
            [sys.executable, "manage.py", *command.split()], env=environment, check=True, stdout=subprocess.DEVNULL
        )
    command = [sys.executable, "-m", "bench.writer"]
    running = {
        role: subprocess.Popen([*command, role, str(seconds)], env=environment, stdout=subprocess.PIPE, text=True)
        for role in ROLES
    }
    return {role: json.loads(process.communicate()[0].splitlines()[-1]) for role, process in running.items()}


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
