"""Killed processes, a restarted broker and an absent API server: one interval is lost, the pages say so, all heals."""

import time

import psycopg
import pytest

from portal.sync_runs import STALE_AFTER
from tests.servers import Server
from tests.services.portal import RunningPortal, wait_until

pytestmark = pytest.mark.services


def runs(portal: RunningPortal) -> int:
    return int(query(portal, "SELECT count(*) FROM portal_syncrun WHERE status <> 'failed'"))


def query(portal: RunningPortal, sql: str, *values: object) -> object:
    with psycopg.connect(portal.environment["PORTAL_DATABASE_URL"], autocommit=True) as connection:
        row = connection.execute(sql, values).fetchone()
        return row[0] if row else None


def age_facts(portal: RunningPortal) -> None:
    """As if the last good read were longer ago than facts may be."""
    with psycopg.connect(portal.environment["PORTAL_DATABASE_URL"], autocommit=True) as connection:
        connection.execute("UPDATE portal_sourcestate SET last_good_at = last_good_at - %s", [STALE_AFTER * 2])


def team_page(portal: RunningPortal) -> str:
    return portal.get("teams/research/", portal.signed_in("data-scientist")).text


def open_gaps(portal: RunningPortal) -> object:
    return query(portal, "SELECT count(*) FROM portal_gap WHERE source = 'workloads' AND \"end\" IS NULL")


def last_read(portal: RunningPortal) -> object:
    """When the Workloads were."""
    return query(portal, "SELECT last_good_at FROM portal_sourcestate WHERE source = 'workloads'")


def start_worker(portal: RunningPortal) -> None:
    """Until it has pulled, whatever others before it did."""
    before = runs(portal)
    portal.start("worker")
    wait_until(lambda: runs(portal) > before, "the worker's first pull")


def test_killed_worker_costs_one_interval(portal: RunningPortal) -> None:
    start_worker(portal)
    portal.kill("worker")
    before = runs(portal)
    portal.start("worker")
    try:
        wait_until(lambda: runs(portal) > before, "a pull after the worker's death")
        assert "These facts are old" not in team_page(portal)
    finally:
        portal.stop("worker")


def test_restarted_redis_is_survived(portal: RunningPortal, redis: Server) -> None:
    start_worker(portal)
    redis.stop()
    time.sleep(2)
    redis.start()
    before = runs(portal)
    try:
        wait_until(lambda: runs(portal) > before, "a pull after the broker's restart")
        assert portal.is_running("worker")
    finally:
        portal.stop("worker")


def test_absent_api_server_is_told_and_healed(portal: RunningPortal) -> None:
    before = last_read(portal)
    portal.start("watcher")
    wait_until(lambda: last_read(portal) != before, "the watcher's first list")
    portal.stop("emulator")
    try:
        wait_until(
            lambda: bool(
                query(portal, "SELECT failing_since IS NOT NULL FROM portal_sourcestate WHERE source = %s", "workloads")
            ),
            "the failure to be noticed",
        )
        age_facts(portal)
        page = team_page(portal)
        assert "These facts are old" in page
        assert "research" in page.lower()
        wait_until(lambda: open_gaps(portal) == 1, "the gap to be told")
    finally:
        portal.start("emulator")
    try:
        wait_until(lambda: "These facts are old" not in team_page(portal), "the watch to go on")
        # A watch that goes on where it stopped leaves no gap, a new list closes it.
        assert open_gaps(portal) == 0
    finally:
        portal.stop("watcher")


def test_second_watcher_takes_over(portal: RunningPortal) -> None:
    portal.start("watcher")
    wait_until(lambda: bool(query(portal, "SELECT count(*) FROM portal_lease WHERE source = 'watch'")), "the lease")
    holder = query(portal, "SELECT holder FROM portal_lease WHERE source = 'watch'")
    portal.start("watcher-2")
    try:
        time.sleep(6)
        assert query(portal, "SELECT holder FROM portal_lease WHERE source = 'watch'") == holder
        portal.kill("watcher")
        wait_until(
            lambda: query(portal, "SELECT holder FROM portal_lease WHERE source = 'watch'") != holder,
            "the second watcher to take over",
        )
    finally:
        portal.stop("watcher-2")
