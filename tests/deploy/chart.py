"""The chart as Helm renders it: kept in rendered.yaml, so that a machine without Helm can test it too.

    python -m tests.deploy.chart

renders it anew after a change of the chart; the cluster tier says when that was forgotten.
"""

import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.build import component

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy/chart"
VALUES = Path(__file__).with_name("values.yaml")
RENDERED = Path(__file__).with_name("rendered.yaml")
Manifest = dict[str, Any]


def helm(*arguments: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    """The Helm that `tests.cluster.build` built."""
    return subprocess.run(
        [component("helm").folder / "helm", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=check,
    )


def render() -> str:
    options = ("--namespace", "hyperpod-portal", "--kube-version", "1.33.0", "--values", str(VALUES))
    return helm("template", "portal", str(CHART), *options).stdout


@cache
def manifests() -> list[Manifest]:
    return [each for each in yaml.safe_load_all(RENDERED.read_text()) if each]


def manifest(kind: str, name: str) -> Manifest:
    return next(m for m in manifests() if (m["kind"], m["metadata"]["name"]) == (kind, name))


def pod(process: str) -> Manifest:
    """The pod of a process: migrate, web, worker, beat or watcher."""
    kind = "Job" if process == "migrate" else "Deployment"
    found: Manifest = manifest(kind, f"portal-{process}")["spec"]["template"]["spec"]
    return found


def container(process: str) -> Manifest:
    (found,) = pod(process)["containers"]
    return dict(found)


if __name__ == "__main__":
    RENDERED.write_text(render())
