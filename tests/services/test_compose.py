"""The compose file's commands against Debian's PostgreSQL and Redis, from an empty database to a page that answers.

The tests build on each other, in this order.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs.sync.sources import SOURCES
from tests.servers import Server, postgresql
from tests.services.composed import HOST, TOKEN, ComposedPortal
from tests.services.portal import wait_until

pytestmark = pytest.mark.services
BEARER = f"Bearer {TOKEN}"


@pytest.fixture(scope="module")
def composed(tmp_path_factory: pytest.TempPathFactory, redis: Server) -> Iterator[ComposedPortal]:
    folder: Path = tmp_path_factory.mktemp("composed")
    with postgresql() as database:
        portal = ComposedPortal(folder, database, redis.url)
        portal.prepare()
        try:
            yield portal
        finally:
            portal.stop_all()


def readiness(portal: ComposedPortal) -> dict[str, Any]:
    found: dict[str, Any] = portal.ask("readyz").json()
    return found


def test_web_lives_but_is_not_ready_before_the_migration(composed: ComposedPortal) -> None:
    composed.start("web")
    wait_until(lambda: readiness(composed)["broker"] == "ok", "the broker")
    assert composed.status("readyz") == 503
    assert not composed.is_healthy("web")


def test_migration_makes_it_ready(composed: ComposedPortal) -> None:
    done = composed.run_service("migrate")
    assert done.returncode == 0, done.stderr
    ready = {"database": "ok", "broker": "ok", "clusters": {}}
    wait_until(lambda: readiness(composed) == ready, "readiness")
    wait_until(lambda: composed.is_healthy("web"), "health")


def test_all_sources_are_read_and_a_page_answers(composed: ComposedPortal) -> None:
    done = composed.run(["python", "manage.py", "import_setup", str(Path("deploy/demo.yaml").resolve())])
    assert done.returncode == 0, done.stderr
    (slug,) = readiness(composed)["clusters"]
    wait_until(lambda: composed.status("readyz") == 200, "readiness")
    for name in ("emulator", "worker", "beat", "watcher"):
        composed.start(name)

    def all_fresh() -> bool:
        sources = readiness(composed)["clusters"][slug]
        return set(sources) == set(SOURCES) and not any(source["stale"] for source in sources.values())

    wait_until(all_fresh, "all sources to be read")
    page = composed.get("teams/research/", composed.signed_in("data-scientist"))
    assert page.ok
    assert "Facts from the cluster, read" in page.text
    assert composed.status(re.search(r'href="/(static/portal\.[0-9a-f]+\.css)"', page.text)[1]) == 200  # type: ignore[index]


def test_the_workers_health_check(composed: ComposedPortal) -> None:
    wait_until(lambda: composed.is_healthy("worker"), "health")  # engines ask more than once, too


def test_requests_of_all_processes_are_added_up(composed: ComposedPortal) -> None:
    assert composed.environment.get("PORTAL_WEB_PROCESSES") is None  # two by default
    assert composed.status("metrics") == 404  # a proxy is expected before it: loopback alone is no proof
    before = count(composed)
    for _ in range(24):
        assert composed.status("sign-in/") == 200
    assert count(composed) == before + 24
    text = composed.ask("metrics", Authorization=BEARER).text
    assert 'portal_sync_rows{cluster="' in text
    assert "esearch" not in text


def count(portal: ComposedPortal) -> float:
    text = portal.ask("metrics", Authorization=BEARER).text
    found = re.search(r'^portal_request_seconds_count\{status="200",view="sign-in"\} (\S+)$', text, re.MULTILINE)
    return float(found[1]) if found else 0


def test_requests_outlive_the_process_that_counted_them(composed: ComposedPortal) -> None:
    before = count(composed)
    composed.status("sign-in/")
    assert composed.count_files() == 2
    composed.renew_web_processes()
    assert count(composed) == before + 1
    assert composed.count_files() == 2  # successors go on with them


def test_without_the_broker_it_lives_and_is_not_ready(composed: ComposedPortal, redis: Server) -> None:
    redis.stop()
    try:
        wait_until(lambda: composed.status("readyz") == 503, "the broker's absence to be told")
        assert readiness(composed)["database"] == "ok"
        assert readiness(composed)["broker"] == "unreachable"
        assert composed.status("healthz") == 200
        assert not composed.is_healthy("web")
    finally:
        redis.start()
    wait_until(lambda: composed.status("readyz") == 200, "readiness")


def test_lines_of_requests_and_tasks(composed: ComposedPortal) -> None:
    web = composed.lines("web")
    assert re.search(r"event=request method=GET view=team status=200 ms=\d+ user=\d+", web)
    assert "research" not in web
    assert "Traceback" not in web
    wait_until(lambda: "name=jobs.pull_one" in composed.lines("worker"), "a task's line")
    done = r"event=task name=jobs\.pull_all seconds=[\d.]+ outcome=success"
    wait_until(lambda: bool(re.search(done, composed.lines("worker"))), "a task's success")


def test_nothing_is_written_where_the_image_is_read_only(composed: ComposedPortal) -> None:
    assert not composed.written()


def test_probes_in_production(composed: ComposedPortal) -> None:
    composed.stop("web")
    assert composed.count_files() == 0
    del composed.environment["PORTAL_MODE"]
    composed.start("web")
    wait_until(lambda: composed.status("readyz") == 200, "readiness")
    wait_until(lambda: composed.is_healthy("web"), "health")
    assert composed.status("metrics") == 404
    assert composed.status("metrics", Authorization=BEARER) == 200
    assert composed.status("sign-in/", Host=HOST) == 301
    https = {"Host": HOST, "X-Forwarded-Proto": "https"}
    for name in ("portal.css", "vendor/tabler.min.css"):  # as the page for what broke has them
        assert composed.status(f"static/{name}", **https) == 200
    page = composed.ask("sign-in/", **https)
    assert page.status_code == 200
    assert "No identity provider is connected" in page.text
    assert composed.status("sign-in/", **{"X-Forwarded-Proto": "https"}) == 400
