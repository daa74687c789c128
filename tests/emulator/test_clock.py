from datetime import timedelta

import pytest

from emulator.clock import Clock, api_micro_time, api_time
from tests.emulator.scene import START


class Monotonic:
    seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def real() -> Monotonic:
    return Monotonic()


def passed(clock: Clock) -> float:
    return (clock.now() - START).total_seconds()


@pytest.mark.parametrize("speed", [1, 60])
def test_it_runs_with_the_real_time_or_faster(real: Monotonic, speed: int) -> None:
    clock = Clock(START, speed=speed, monotonic=real)
    real.seconds += 10
    assert passed(clock) == 10 * speed


def test_held_it_moves_by_steps_alone(real: Monotonic) -> None:
    clock = Clock(START, paused=True, monotonic=real)
    real.seconds += 10
    assert passed(clock) == 0
    clock.step(2.5)
    assert passed(clock) == 2.5
    assert not clock.running


def test_pausing_and_resuming_lose_nothing(real: Monotonic) -> None:
    clock = Clock(START, speed=2, monotonic=real)
    real.seconds += 10
    clock.pause()
    real.seconds += 1000
    assert passed(clock) == 20
    clock.resume()
    real.seconds += 5
    assert passed(clock) == 30


def test_a_step_while_it_runs_jumps_ahead(real: Monotonic) -> None:
    clock = Clock(START, monotonic=real)
    real.seconds += 1
    clock.step(60)
    real.seconds += 1
    assert passed(clock) == 62


def test_times_on_the_wire() -> None:
    moment = START + timedelta(microseconds=1500)
    assert api_time(moment) == "2026-03-02T09:00:00Z"
    assert api_micro_time(moment) == "2026-03-02T09:00:00.001500Z"
