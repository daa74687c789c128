"""How fast an identity provider may write people and groups by SCIM, and whether anything is lost on the way.

    python -m bench.scim

On PostgreSQL, with two web processes as the compose file has them. Requests come eight at a time, of which several are
for the same group or the same person at the same moment.
"""

import sys

from bench.pages import use_portal
from bench.web import web
from tests.servers import postgresql


def main() -> int:
    with postgresql() as url, web(url) as server:
        use_portal(url, server)
        from bench.figures import Figures
        from bench.scim_run import connect, make_people, tell_changes, tell_groups

        figures = Figures()
        client = connect(server)
        with server.running(processes=2):
            people = make_people(client)
            groups = tell_groups(client, people, figures)
            tell_changes(client, people, groups, figures)
    return bool(figures.beyond)


if __name__ == "__main__":
    sys.exit(main())
