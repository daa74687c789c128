"""One fixture, `cluster`: the emulator, and where it can be had the real control plane."""

from collections.abc import Iterator

import pytest

from emulator.embedded import running
from emulator.server import Options
from tests.cluster.client import Client
from tests.cluster.fixtures import shared_plane
from tests.contract.clusters import Cluster, Emulated, Real


@pytest.fixture(scope="session")
def emulated() -> Iterator[Emulated]:
    with running(Options(world="none", paused=True)) as emulator:
        tokens = (emulator.tokens.admin, emulator.tokens.portal, "", "wrong")
        yield Emulated(*(Client(emulator.url, token) for token in tokens))


@pytest.fixture(params=["emulator", pytest.param("real", marks=[pytest.mark.cluster, pytest.mark.slow])])
def cluster(request: pytest.FixtureRequest) -> Cluster:
    if request.param == "real":
        return Real(shared_plane(request.config))
    emulated: Emulated = request.getfixturevalue("emulated")
    return emulated
