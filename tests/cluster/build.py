"""Builds the control plane that the cluster tests run on, from Go modules alone.

    python -m tests.cluster.build

Each component is a Go module of its own in `modules/`, so that none bends another's versions. What is built lies in a
cache folder named by the content of its module's files: another version is built anew, anything else is found there.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MODULES = Path(__file__).parent / "modules"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hyperpod-portal" / "bin"


class CannotBuild(RuntimeError):
    """Go is missing, too old, or failed; the text says which."""


@dataclass(frozen=True)
class Component:
    """`commands`: binary to Go package. `manifests`: what it is run with, from the Go module `source`."""

    name: str
    commands: Mapping[str, str]
    version_flags: tuple[str, ...] = ()
    source: str = ""
    manifests: tuple[str, ...] = ()

    @property
    def module(self) -> Path:
        return MODULES / self.name

    @property
    def folder(self) -> Path:
        """Where its binaries and manifests are kept."""
        digest = hashlib.sha256(repr(self).encode())
        for file in sorted(self.module.iterdir()):
            digest.update(file.read_bytes())
        return CACHE / f"{self.name}-{digest.hexdigest()[:12]}"

    @property
    def is_built(self) -> bool:
        return self.folder.is_dir()


COMPONENTS = (
    Component("etcd", {"etcd": "go.etcd.io/etcd/server/v3"}),
    Component(
        "kubernetes",
        {
            "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
            "kubectl": "k8s.io/kubernetes/cmd/kubectl",
            "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
            "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
        },
        (
            "k8s.io/component-base/version.gitVersion=v1.36.3",
            "k8s.io/component-base/version.gitMajor=1",
            "k8s.io/component-base/version.gitMinor=36",
        ),
    ),
    Component(
        "kueue",
        {"kueue": "sigs.k8s.io/kueue/cmd/kueue"},
        # relative, so that each Kueue reads the certificate in its own working folder
        ("sigs.k8s.io/kueue/pkg/visibility.certDir=tls",),
        "sigs.k8s.io/kueue",
        ("config/components/crd/bases", "config/components/webhook/manifests.yaml", "config/components/visibility"),
    ),
    Component(
        "kwok",
        {"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
        source="sigs.k8s.io/kwok",
        manifests=("kustomize/stage/node", "kustomize/stage/pod"),
    ),
    Component("helm", {"helm": "helm.sh/helm/v3/cmd/helm"}),
)


def component(name: str) -> Component:
    """The component of that name."""
    return next(c for c in COMPONENTS if c.name == name)


def missing() -> list[str]:
    """Names of the components that are not built."""
    return [c.name for c in COMPONENTS if not c.is_built]


def build_all() -> None:
    """Build what is missing. Raises CannotBuild."""
    wanted = [c for c in COMPONENTS if not c.is_built]
    if wanted:
        _require_go(max(_wanted_go(c) for c in wanted))
    for each in wanted:
        _say(f"building {each.name}; this takes minutes the first time")
        began = time.monotonic()
        _build(each)
        _say(f"built {each.name} in {time.monotonic() - began:.0f} s")


def _build(wanted: Component) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix=f"{wanted.name}-", suffix=".partial") as partial:
        target = Path(partial)
        flags = " ".join(["-s -w", *(f"-X {flag}" for flag in wanted.version_flags)])
        for binary, package in wanted.commands.items():
            _go(wanted, "build", "-mod=readonly", "-ldflags", flags, "-o", str(target / binary), package)
        if wanted.source:
            _copy_manifests(Path(_go(wanted, "list", "-m", "-f", "{{.Dir}}", wanted.source)), wanted.manifests, target)
        target.chmod(0o755)
        target.rename(wanted.folder)
        target.mkdir()  # for the temporary folder's own end


def _copy_manifests(source: Path, manifests: tuple[str, ...], target: Path) -> None:
    for name in manifests:
        place = target / Path(name).name
        if (source / name).is_dir():
            # copyfile: Go keeps its modules read-only, and the copies must be removable
            shutil.copytree(source / name, place, copy_function=shutil.copyfile)
        else:
            shutil.copyfile(source / name, place)
    for folder in (f for f in target.rglob("*") if f.is_dir()):
        folder.chmod(0o755)


def _go(wanted: Component, *arguments: str) -> str:
    environment = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}
    ended = subprocess.run(
        ["go", *arguments], cwd=wanted.module, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    if ended.returncode:
        raise CannotBuild(f"go {arguments[0]} failed for {wanted.name}; what it printed stands above")
    return ended.stdout.strip()


def _wanted_go(wanted: Component) -> tuple[int, ...]:
    line = re.search(r"^go (\S+)$", (wanted.module / "go.mod").read_text(), re.MULTILINE)
    return _version(line[1] if line else "")


def _require_go(at_least: tuple[int, ...]) -> None:
    needed = ".".join(str(part) for part in at_least)
    if not shutil.which("go"):
        raise CannotBuild(
            f"The cluster tests need Go {needed} or newer to build their control plane; there is no `go`."
        )
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    found = subprocess.check_output(["go", "env", "GOVERSION"], env=environment, cwd="/", text=True).strip()
    if _version(found) < at_least:
        raise CannotBuild(f"The cluster tests need Go {needed} or newer to build their control plane; this is {found}.")


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    try:
        build_all()
    except CannotBuild as reason:
        sys.exit(str(reason))
