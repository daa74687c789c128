"""When which job arrives. Every minute has its own dice, so that the story of a seed does not depend on when it is
read, from where on, or in which portions."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from emulator.world.profiles import PROFILES, Profile

_MINUTE: Final = timedelta(minutes=1)
_EPOCH: Final = datetime(2020, 1, 1, tzinfo=UTC)
_PATIENCE_SECONDS: Final = 100 * 60
_LETTERS: Final = "bcdfghjkmnpqrstvwxz23456789"


@dataclass(frozen=True, slots=True)
class Arrival:
    """One job: its size and what becomes of it. Seconds. `patience`: how long it waits for its first admission."""

    at: datetime
    profile: Profile
    name: str
    pods: int
    cpus: int
    run_seconds: int
    patience: int
    fails: bool


def arrivals_after(seed: int, moment: datetime, stretch: int = 1) -> Iterator[Arrival]:
    """Every arrival after the moment, in order, for ever; that many times rarer, and as many times longer."""
    minute = (moment - _EPOCH) // _MINUTE
    while True:
        for arrival in _in_minute(seed, minute, stretch):
            if arrival.at > moment:
                yield arrival
        minute += 1


def _in_minute(seed: int, minute: int, stretch: int) -> list[Arrival]:
    random = Random(f"{seed}:{minute}")  # noqa: S311
    start = _EPOCH + minute * _MINUTE
    found = []
    for profile in PROFILES:
        per_minute = profile.per_hour / 60 / stretch
        passed = random.expovariate(per_minute)
        while passed < 1:
            found.append(_arrival(profile, start + passed * _MINUTE, random, stretch))
            passed += random.expovariate(per_minute)
    return sorted(found, key=lambda arrival: arrival.at)


def _arrival(profile: Profile, at: datetime, random: Random, stretch: int) -> Arrival:
    shortest, longest = profile.minutes
    return Arrival(
        at.replace(microsecond=0),
        profile,
        f"{profile.stem}-{''.join(random.choices(_LETTERS, k=5))}",
        random.choice(profile.pods),
        random.choice(profile.cpus),
        round(60 * stretch * random.triangular(shortest, longest, shortest)),
        _PATIENCE_SECONDS * stretch,
        random.random() < profile.fails,
    )
