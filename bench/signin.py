"""What a sign-in by SAML costs: fifty at once, five at a time, and one of somebody in 2,000 groups.

    python -m bench.signin

On PostgreSQL, with two web processes as the compose file has them. The identity provider is a signer of the tests'; its
own work is done before what is measured. Times are the server's, from its log.
"""

import sys

from bench.pages import use_portal
from bench.web import web
from tests.servers import postgresql


def main() -> int:
    with postgresql() as url, web(url) as server:
        use_portal(url, server)
        from bench.figures import Figures
        from bench.signin_run import connect, tell_few_at_a_time, tell_many_at_once, tell_many_groups

        figures = Figures()
        idp = connect(server)
        with server.running(processes=2):
            tell_many_at_once(idp, figures)
            tell_few_at_a_time(server, idp, figures)
            tell_many_groups(server, idp, figures)
    return bool(figures.beyond)


if __name__ == "__main__":
    sys.exit(main())
