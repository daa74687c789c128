"""`scheduling` against a live Kueue: random situations, none of them among the recorded ones."""

import pytest

from tests.cluster.plane import ControlPlane
from tests.cluster.play import play_all
from tests.cluster.record import SITUATIONS
from tests.cluster.situations import situation
from tests.scheduling.answers import Answer

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

LIVE = [situation(seed) for seed in range(SITUATIONS, SITUATIONS + 40)]


def disagreements(plane: ControlPlane) -> list[str]:
    played = play_all(plane.admin, [s for s in LIVE if s.fair_sharing == plane.fair_sharing])
    return [sentence for answer in played for sentence in Answer(answer).disagreements()]


def test_figures_are_those_of_a_classical_kueue(plane: ControlPlane) -> None:
    assert disagreements(plane) == []


def test_figures_are_those_of_a_kueue_with_fair_sharing(fair_plane: ControlPlane) -> None:
    assert disagreements(fair_plane) == []
