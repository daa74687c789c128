"""What the pages about evictions cost a team that has 50,000 of them, and whether a thousand in a minute slow pages
down or lose a notice.

    python -m bench.evictions [postgresql|sqlite]

CPU time as in `bench.pages`. The thousand come on PostgreSQL, with two web processes and the worker's work beside them.
"""

import os
import subprocess
import sys

from bench.pages import DATABASES, use_portal
from bench.web import web
from tests.sinks import mail_sink

SECONDS = 60


def main(kind: str) -> int:
    with DATABASES[kind]() as url, web(url) as server, mail_sink() as mails:
        os.environ.update(PORTAL_MAIL_URL=mails.url, PORTAL_MAIL_FROM="portal@example.com")
        use_portal(url, server)
        from bench.eviction_run import settle, tell_costs, tell_storm
        from bench.figures import Figures

        figures = Figures()
        world = settle()
        tell_costs(server, figures)
        if kind == "postgresql":
            tell_storm(server, world, mails, SECONDS, figures)
    return bool(figures.beyond)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(sys.argv[1]))
    runs = [subprocess.run([sys.executable, "-m", "bench.evictions", each], check=False) for each in DATABASES]
    sys.exit(any(run.returncode for run in runs))
