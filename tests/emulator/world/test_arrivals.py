from collections import Counter
from datetime import timedelta
from itertools import islice, takewhile

import pytest

from emulator.world.arrivals import Arrival, arrivals_after
from emulator.world.profiles import PROFILES
from tests.emulator.scene import START


def within(hours: float, seed: int = 1, since: float = 0) -> list[Arrival]:
    begin = START + timedelta(hours=since)
    end = begin + timedelta(hours=hours)
    return list(takewhile(lambda arrival: arrival.at <= end, arrivals_after(seed, begin)))


def test_a_seed_tells_one_story_wherever_one_begins_to_read() -> None:
    whole = within(3)
    assert whole == within(3)
    assert [a for a in whole if a.at > START + timedelta(hours=1)] == within(2, since=1)


def test_another_seed_tells_another() -> None:
    assert [a.at for a in within(1)] != [a.at for a in within(1, seed=2)]


def test_they_come_in_order_and_after_the_moment() -> None:
    times = [arrival.at for arrival in islice(arrivals_after(1, START), 500)]
    assert times == sorted(times)
    assert times[0] > START


def test_names_are_names_of_their_own() -> None:
    names = [arrival.name for arrival in within(24)]
    assert len(set(names)) == len(names)


def test_each_kind_comes_about_as_often_as_it_should() -> None:
    hours = 72
    counted = Counter(arrival.profile for arrival in within(hours))
    for profile in PROFILES:
        wanted = profile.per_hour * hours
        assert counted[profile] == pytest.approx(wanted, abs=4 * wanted**0.5), profile.stem


def test_sizes_and_lengths_are_those_of_the_kind() -> None:
    for arrival in within(24):
        assert arrival.pods in arrival.profile.pods
        assert arrival.cpus in arrival.profile.cpus
        shortest, longest = arrival.profile.minutes
        assert 60 * shortest <= arrival.run_seconds <= 60 * longest


def test_stretched_they_are_rarer_and_longer() -> None:
    end = START + timedelta(days=20)
    found = list(takewhile(lambda arrival: arrival.at <= end, arrivals_after(1, START, 20)))
    wanted = sum(profile.per_hour for profile in PROFILES) * 24
    assert len(found) == pytest.approx(wanted, abs=4 * wanted**0.5)
    for arrival in found:
        shortest, longest = arrival.profile.minutes
        assert 20 * 60 * shortest <= arrival.run_seconds <= 20 * 60 * longest
