"""People who sign in at the same moment, on PostgreSQL with two web processes."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from accounts.models import IdentityProvider
from tests.accounts.saml.idp import Idp, key_pair, metadata
from tests.accounts.saml.over_http import SignIn
from tests.servers import postgresql
from tests.services.portal import RunningPortal

pytestmark = pytest.mark.services

BROWSERS = 8


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Idp]:
    """One that the running portal knows."""
    folder: Path = tmp_path_factory.mktemp("portal")
    now = datetime.now(UTC)
    key, certificate = key_pair(now)
    text = metadata("https://corp.example.org/idp", [certificate], "https://corp.example.org/sso")
    setup = {"identity_providers": {"corp": {"name": "Corp", "metadata": text, "enabled": True}}}
    (folder / "setup.yaml").write_text(yaml.safe_dump(setup))
    with postgresql() as database:
        running = RunningPortal(folder, database, "filesystem://localhost")
        running.environment["PORTAL_WEB_PROCESSES"] = "2"
        try:
            running.migrate()
            running.manage("import_setup", str(folder / "setup.yaml"))
            running.start("web")
            yield Idp(IdentityProvider(slug="corp"), key, certificate, now, f"http://127.0.0.1:{running.web_port}")
        finally:
            running.stop_all()


@pytest.fixture
def idp(known: Idp) -> Idp:
    """What it says is good for some minutes only, and the portal may have taken as long to start."""
    known.now = datetime.now(UTC)
    return known


def all_at_once(browsers: list[SignIn]) -> None:
    for browser in browsers:
        browser.ask()
    with ThreadPoolExecutor(len(browsers)) as pool:
        list(pool.map(SignIn.arrive, browsers))
    assert all(browser.is_in() for browser in browsers)


def test_one_new_person_in_several_browsers(idp: Idp) -> None:
    for number in range(3):
        all_at_once([SignIn(idp, f"ana-{number}", []) for _ in range(BROWSERS)])


def test_many_people_with_new_groups_in_common(idp: Idp) -> None:
    """In whatever order each set has them, none waits for another that waits for it."""
    for turn in range(3):
        groups = [f"{turn:08}-0000-0000-0000-{number:012}" for number in range(BROWSERS * 200)]
        all_at_once([SignIn(idp, f"bob-{number}", groups[: number * 200]) for number in range(BROWSERS)])
