"""Every tier of tests, one after the other: `python -m tests.tiers [TIER ...]`, which is what `make test` runs.

A tier whose parts are not on this machine is skipped with a sentence; with REQUIRE_TIERS=1 that is a failure.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.cluster import build
from tests.idp import saml_idp, simplesamlphp
from tests.servers import postgresql, postgresql_binary

SLOW_MARKS = "cluster or browser or services or crawl or idp"
PAGES = "tests/pages"
SLOW_FOLDERS = ("tests/browser", "tests/idp", "tests/services", "tests/cluster/sync")
"""Every test in them has one of the slow marks: the fast tier does not even read their files."""
ON_ALL_CORES = ("-n", "auto", "-p", "tests.garbage")
TESTS = Path(__file__).parent
LEDGER_TESTS = ("tests/portal", "tests/accounts", "tests/teams", "tests/notices", "tests/jobs", PAGES)


@dataclass(frozen=True, slots=True)
class Tier:
    """`missing` says in a sentence what is not here, or nothing; `run` returns the exit status."""

    name: str
    missing: Callable[[], str]
    run: Callable[[], int]


def main(wanted: list[str]) -> int:
    outcomes = [run_tier(tier) for tier in TIERS if not wanted or tier.name in wanted]
    return 0 if all(outcomes) else 1


def run_tier(tier: Tier) -> bool:
    required = os.environ.get("REQUIRE_TIERS") == "1"
    absent = tier.missing()
    if absent:
        print(f"== {tier.name}: {'MISSING' if required else 'skipped'}: {absent}", flush=True)
        return not required
    print(f"== {tier.name}", flush=True)
    begun = time.monotonic()
    status = tier.run()
    print(f"== {tier.name}: {'passed' if status == 0 else 'FAILED'} in {time.monotonic() - begun:.0f} s", flush=True)
    return status == 0


def pytest(*arguments: str, **environment: str) -> int:
    """What Python and pytest make of the sources is kept, or every process of every tier would make it anew."""
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    kept = {"PYTHONDONTWRITEBYTECODE": ""}
    return subprocess.run(command, env={**os.environ, **kept, **environment}, check=False).returncode


def marked(mark: str) -> list[str]:
    """What holds the tests of that mark, and the choice of them: to read every file for those few takes long. What a
    conftest.py marks lies in its folder."""
    naming = [file for file in sorted(TESTS.rglob("*.py")) if f"pytest.mark.{mark}" in file.read_text()]
    held = [file.parent if file.name == "conftest.py" else file for file in naming]
    return [*map(str, held), "-m", mark]


def fast() -> int:
    unread = [f"--ignore={folder}" for folder in (PAGES, *SLOW_FOLDERS)]
    return pytest(*ON_ALL_CORES, *unread, "-m", f"not ({SLOW_MARKS})")


def on_postgresql() -> int:
    with postgresql() as url:
        return pytest(*ON_ALL_CORES, *LEDGER_TESTS, "-m", f"not ({SLOW_MARKS})", PORTAL_DATABASE_URL=url)


def build_and_run_cluster() -> int:
    if build.missing():
        subprocess.run([sys.executable, "-m", "tests.cluster.build"], check=True)
    return pytest(*marked("cluster"))


def install_and_run_idp() -> int:
    saml_idp.install()
    return pytest(*marked("idp"))


def missing_cluster() -> str:
    if not build.missing():
        return missing_program("chromium")()
    return "" if shutil.which("go") else "Go is not installed, and the control plane is not built yet."


def missing_idp() -> str:
    if not simplesamlphp.SITE.exists():
        return "SimpleSAMLphp is not installed."
    if not saml_idp.program("npm"):
        return "npm is not installed, which fetches the second identity provider."
    return missing_program("php", "chromium")()


def missing_program(*names: str) -> Callable[[], str]:
    def missing() -> str:
        absent = [name for name in names if not shutil.which(name)]
        return f"not installed: {', '.join(absent)}." if absent else ""

    return missing


TIERS = (
    Tier("fast", lambda: "", fast),
    Tier("pages", lambda: "", lambda: pytest(*ON_ALL_CORES, PAGES, "-m", f"not ({SLOW_MARKS})")),
    Tier("crawl", lambda: "", lambda: pytest(*ON_ALL_CORES, *marked("crawl"))),
    Tier(
        "postgresql",
        lambda: "" if postgresql_binary("initdb") else "PostgreSQL's server is not installed.",
        on_postgresql,
    ),
    Tier("services", missing_program("redis-server"), lambda: pytest(*marked("services"))),
    Tier("browser", missing_program("chromium"), lambda: pytest(*marked("browser"))),
    Tier("idp", missing_idp, install_and_run_idp),
    Tier("cluster", missing_cluster, build_and_run_cluster),
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
