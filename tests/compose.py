"""What the compose file and the Dockerfile say, for tests."""

import re
import shlex
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
PORTAL = ("migrate", "web", "worker", "beat", "watcher")


@cache
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return found


def service(name: str) -> dict[str, Any]:
    found: dict[str, Any] = compose()["services"][name]
    return found


def health_command(name: str) -> list[str]:
    """The service's health check as arguments; a shell's `$$` is the compose file's way to write `$`."""
    kind, *words = service(name)["healthcheck"]["test"]
    return ["sh", "-c", words[0].replace("$$", "$")] if kind == "CMD-SHELL" else words


def image_environment() -> dict[str, str]:
    """ENV of the image that runs, the last of the Dockerfile's stages."""
    last = re.split(r"^FROM ", _instructions(), flags=re.MULTILINE)[-1]
    words = [word for line in re.findall(r"^ENV (.*)$", last, re.MULTILINE) for word in shlex.split(line)]
    return dict(word.split("=", 1) for word in words)


def _instructions() -> str:
    return (ROOT / "Dockerfile").read_text().replace("\\\n", " ")


def instruction(name: str) -> list[str]:
    """What follows each instruction of that name, in order."""
    return re.findall(rf"^{name} +(.*)$", _instructions(), re.MULTILINE)


def image_paths() -> list[str]:
    """What .dockerignore lets into the image."""
    return [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]


def lay_out_image(folder: Path) -> None:
    """The image's /app: what .dockerignore lets in, and the front end's packages that `make setup` left."""
    for name in [*image_paths(), "var/vendor"]:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copyfile(source, target)
