"""The builder, without building: what it wants, where it looks, what it says."""

import re
from pathlib import Path

import pytest

from tests.cluster import build


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A component's module folder of the test's own, and an empty cache."""
    folder = tmp_path / "modules" / "etcd"
    folder.mkdir(parents=True)
    (folder / "go.mod").write_text("module cluster/etcd\n\ngo 1.26.0\n")
    monkeypatch.setattr(build, "MODULES", tmp_path / "modules")
    monkeypatch.setattr(build, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(build, "COMPONENTS", (build.component("etcd"),))
    return folder


def test_another_version_is_kept_in_another_folder(module: Path) -> None:
    before = build.component("etcd").folder
    (module / "go.mod").write_text("module cluster/etcd\n\ngo 1.27.0\n")

    assert build.component("etcd").folder != before


def test_what_is_built_is_not_built_again(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    build.component("etcd").folder.mkdir(parents=True)

    build.build_all()

    assert build.missing() == []


def test_without_go_a_sentence_says_what_is_needed(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(build.CannotBuild, match=r"need Go 1\.26\.0 or newer.*there is no `go`"):
        build.build_all()


def test_too_old_a_go_is_named(module: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go = tmp_path / "bin" / "go"
    go.parent.mkdir()
    go.write_text("#!/bin/sh\necho go1.19.8\n")
    go.chmod(0o755)
    monkeypatch.setenv("PATH", str(go.parent), prepend=":")

    with pytest.raises(build.CannotBuild, match=r"need Go 1\.26\.0 or newer.*this is go1\.19\.8"):
        build.build_all()


def test_kubernetes_says_the_version_of_its_module() -> None:
    kubernetes = build.component("kubernetes")
    wanted = re.search(r"k8s.io/kubernetes (v\S+)", (kubernetes.module / "go.mod").read_text())

    assert wanted is not None
    assert f"k8s.io/component-base/version.gitVersion={wanted[1]}" in kubernetes.version_flags
