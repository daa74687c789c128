"""What the pages cost with 200 teams and 100,000 stored workloads, on PostgreSQL and on SQLite, and under load.

    python -m bench.pages [postgresql|sqlite]

CPU time is that of the web server's one process, in turn with its empty page: the ratios are of one run. Then, on
PostgreSQL and with two processes as the compose file has it, 200 polls a second of which 19 in 20 are answered by 304,
and 5 pages a second, for a minute.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django

from bench.web import Web, web
from tests.servers import postgresql

SECONDS = 150


def main(kind: str) -> None:
    with DATABASES[kind]() as url, web(url) as server:
        use_portal(url, server)
        from bench.page_run import tell_costs, tell_load

        tell_costs(server)
        if kind == "postgresql":
            tell_load(server, SECONDS)


@contextmanager
def sqlite() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="bench-sqlite-") as folder:
        yield f"sqlite:///{Path(folder, 'portal.sqlite3')}"


DATABASES = {"postgresql": postgresql, "sqlite": sqlite}


def use_portal(url: str, server: Web) -> None:
    """Here the same settings as in the server: its sessions are ours."""
    same = ("PORTAL_MODE", "PORTAL_VAR", "PORTAL_STATIC_ROOT", "PORTAL_SECRET_KEY_FILE")
    os.environ.update({name: server.environment[name] for name in same})
    os.environ.update(PORTAL_LOG_LEVEL="WARNING", PORTAL_DATABASE_URL=url, DJANGO_SETTINGS_MODULE="portal.settings")
    django.setup()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        for each in DATABASES:  # Django knows one database a process
            subprocess.run([sys.executable, "-m", "bench.pages", each], check=True)
