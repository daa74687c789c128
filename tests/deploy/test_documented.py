"""Every variable is documented, and every documented one is read."""

import re
import subprocess
from pathlib import Path

import yaml

from tests.compose import PORTAL, compose, image_environment, service
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


def test_the_commands_that_make_the_secrets_make_those_of_the_compose_file(tmp_path: Path) -> None:
    told = (ROOT / "docs/operations.md").read_text()
    (block,) = [each for each in re.findall(r"(?:^    .*\n)+", told, re.MULTILINE) if "mkdir -m 700 secrets" in each]
    subprocess.run(["sh", "-euc", block], cwd=tmp_path, check=True)
    files = {path.name: path.read_text().strip() for path in (tmp_path / "secrets").iterdir()}
    assert {f"./secrets/{name}" for name in files} == {each["file"] for each in compose()["secrets"].values()}
    assert len(files["secret_key"]) >= 50
    assert all((tmp_path / "secrets" / name).stat().st_mode & 0o777 == 0o644 for name in files)
    assert files["database_password"] in files["database_url"]
    assert (tmp_path / ".env").read_text() == "PORTAL_HOSTS=portal.example.com\n"
    assert ".env" in (ROOT / ".gitignore").read_text().splitlines()
