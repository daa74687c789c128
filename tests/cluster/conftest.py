"""Planes for the tests of this folder. Each test uses names of its own, since the planes are shared."""

import pytest

from tests.cluster.fixtures import shared_plane
from tests.cluster.plane import ControlPlane


@pytest.fixture
def plane(request: pytest.FixtureRequest) -> ControlPlane:
    """Kueue as installed: without fair sharing."""
    return shared_plane(request.config)


@pytest.fixture
def fair_plane(request: pytest.FixtureRequest) -> ControlPlane:
    """Kueue with fair sharing, as HyperPod's cluster policy has it by default."""
    return shared_plane(request.config, fair_sharing=True)


@pytest.fixture
def working_plane(request: pytest.FixtureRequest) -> ControlPlane:
    """With the Job controller, the scheduler and kwok, so that Jobs get pods that run."""
    return shared_plane(request.config, workers=True)
