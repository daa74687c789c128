"""Every variable is documented, and every documented one is read."""

import re
from pathlib import Path

import yaml

from tests.compose import PORTAL, image_environment, service
from tests.deploy.chart import ROOT, container

READERS = ("portal/settings.py", "deploy/gunicorn.conf.py")


def documented() -> set[str]:
    table = [line for line in (ROOT / "docs/settings.md").read_text().splitlines() if line.startswith("| `PORTAL_")]
    return {name for line in table for name in re.findall(r"`(PORTAL_[A-Z_]+)`", line.split("|")[1])}


def read() -> set[str]:
    return {name for file in READERS for name in re.findall(r'"(PORTAL_[A-Z_]+)"', (ROOT / file).read_text())}


def test_every_variable_that_is_read_is_documented() -> None:
    assert read() == documented()


def test_what_image_compose_file_and_chart_set_is_documented() -> None:
    found = set(image_environment())
    for process in PORTAL:
        found |= {*service(process)["environment"], *(each["name"] for each in container(process)["env"])}
    ours = {name.removesuffix("_FILE") for name in found if name.startswith("PORTAL_")}
    assert len(ours) >= 8
    assert ours <= documented()


def test_only_secrets_may_come_from_files() -> None:
    secrets = set(
        re.findall(
            r'env_(?:secret|url|database|keys)\(\s*"(PORTAL_[A-Z_]+)"', (ROOT / "portal/settings.py").read_text()
        )
    )
    said = re.findall(r"`(PORTAL_[A-Z_]+)` \(or `_FILE`\)", (ROOT / "docs/settings.md").read_text())
    assert set(said) == secrets


def test_every_value_of_the_chart_that_a_template_uses_exists() -> None:
    values = yaml.safe_load((ROOT / "deploy/chart/values.yaml").read_text())
    used = set()
    for template in Path(ROOT / "deploy/chart/templates").iterdir():
        used |= set(re.findall(r"\.Values\.(\w+)", template.read_text()))
    processes = {"web", "worker", "watcher", "beat", "migrate"}  # looked up by name
    assert used | processes == set(values)
