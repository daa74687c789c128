"""Control planes that the tests of one session share: started when first asked for, ended with the session."""

import os
import tempfile
from pathlib import Path

import pytest

from tests.cluster.build import missing
from tests.cluster.plane import ControlPlane

PLANES = pytest.StashKey[dict[str, ControlPlane]]()


def shared_plane(config: pytest.Config, *, fair_sharing: bool = False, workers: bool = False) -> ControlPlane:
    """The session's plane of that kind. Skips the test when it cannot be had, or fails it where every tier must run."""
    require_binaries()
    name = f"fair_sharing={fair_sharing} workers={workers}"
    planes = config.stash.setdefault(PLANES, {})
    if name not in planes:
        folder = tempfile.TemporaryDirectory(prefix="plane-", ignore_cleanup_errors=True)
        plane = ControlPlane(Path(folder.name), fair_sharing=fair_sharing, workers=workers)
        config.add_cleanup(folder.cleanup)
        config.add_cleanup(plane.stop)
        plane.start()
        planes[name] = plane
    return planes[name]


def require_binaries() -> None:
    """Skip without a built control plane; with REQUIRE_TIERS=1 that is a failure."""
    if absent := missing():
        sentence = (
            f"no control plane to test on: {', '.join(absent)} not built. "
            "`python -m tests.cluster.build` builds it, which needs Go and the first time about twenty minutes."
        )
        if os.environ.get("REQUIRE_TIERS") == "1":
            pytest.fail(sentence)
        pytest.skip(sentence)
