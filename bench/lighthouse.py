"""Lighthouse's marks for the team page and the overview, as for a phone on a slow line.

    python -m bench.lighthouse

The portal runs as in the demo, with the emulated cluster. Lighthouse comes from npm into bench/node_modules, apart from
what the portal ships; it drives the machine's Chromium.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.services.portal import RunningPortal, wait_until

FOLDER = Path(__file__).resolve().parent
PAGES = {"team page": ("data-scientist", "teams/research/"), "overview": ("platform-admin", "platform/")}
LEAST = {"performance": 95, "accessibility": 100, "best-practices": 100}

_PROCESSES = ("emulator", "watcher", "worker", "web")
_SECONDS = 300


def main() -> int:
    chromium = shutil.which("chromium")
    if not chromium:
        print("lighthouse: skipped: chromium is not installed.")
        return 0
    subprocess.run(["npm", "ci", "--silent", "--prefix", str(FOLDER)], check=True)
    with tempfile.TemporaryDirectory(prefix="bench-lighthouse-", ignore_cleanup_errors=True) as folder:
        portal = RunningPortal(Path(folder), f"sqlite:///{folder}/portal.sqlite3", "filesystem://localhost")
        try:
            portal.prepare()
            for name in _PROCESSES:
                portal.start(name)
            met = [tell(name, marks(portal, chromium, *page)) for name, page in PAGES.items()]
        finally:
            portal.stop_all()
    return 0 if all(met) else 1


def marks(portal: RunningPortal, chromium: str, username: str, path: str) -> dict[str, int]:
    """Of a hundred, by category."""
    session = portal.signed_in(username)
    wait_until(lambda: "own, " in portal.get(path, session).text, path, 90)
    cookie = json.dumps({"Cookie": f"sessionid={session.cookies['sessionid']}"})
    options = ("--quiet", "--output=json", f"--only-categories={','.join(LEAST)}", f"--extra-headers={cookie}")
    flags = "--chrome-flags=--headless=new --no-sandbox --disable-gpu --disable-quic"
    done = subprocess.run(
        ["node", "node_modules/lighthouse/cli/index.js", f"http://127.0.0.1:{portal.web_port}/{path}", *options, flags],
        cwd=FOLDER,
        env={**os.environ, "CHROME_PATH": chromium},
        check=True,
        capture_output=True,
        timeout=_SECONDS,
    )
    report = json.loads(done.stdout)
    assert report["finalDisplayedUrl"].endswith(path), report["finalDisplayedUrl"]
    for part in (each for name in LEAST for each in report["categories"][name]["auditRefs"] if each["weight"]):
        audit = report["audits"][part["id"]]
        if audit["score"] is not None and audit["score"] < 0.9:
            print(f"  {path}: {audit['title']} {audit.get('displayValue', '')}")
    return {name: round(report["categories"][name]["score"] * 100) for name in LEAST}


def tell(page: str, found: dict[str, int]) -> bool:
    told = ", ".join(f"{name} {mark} (must reach {LEAST[name]})" for name, mark in found.items())
    print(f"lighthouse, {page}: {told}", flush=True)
    return all(mark >= LEAST[name] for name, mark in found.items())


if __name__ == "__main__":
    sys.exit(main())
