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
_LETTERS: Final = "bcdfghjkmnpqrstvwxz23456789"


@dataclass(frozen=True, slots=True)
class Arrival:
    """One job: its size and what becomes of it. Seconds."""

    at: datetime
    profile: Profile
    name: str
    pods: int
    cpus: int
    run_seconds: int
    fails: bool


def arrivals_after(seed: int, moment: datetime) -> Iterator[Arrival]:
    """Every arrival after the moment, in order, for ever."""
    minute = (moment - _EPOCH) // _MINUTE
    while True:
        for arrival in _in_minute(seed, minute):
            if arrival.at > moment:
                yield arrival
        minute += 1


def _in_minute(seed: int, minute: int) -> list[Arrival]:
    random = Random(f"{seed}:{minute}")  # noqa: S311
    start = _EPOCH + minute * _MINUTE
    found = []
    for profile in PROFILES:
        passed = random.expovariate(profile.per_hour / 60)
        while passed < 1:
            found.append(_arrival(profile, start + passed * _MINUTE, random))
            passed += random.expovariate(profile.per_hour / 60)
    return sorted(found, key=lambda arrival: arrival.at)


def _arrival(profile: Profile, at: datetime, random: Random) -> Arrival:
    shortest, longest = profile.minutes
    return Arrival(
        at.replace(microsecond=0),
        profile,
        f"{profile.stem}-{''.join(random.choices(_LETTERS, k=5))}",
        random.choice(profile.pods),
        random.choice(profile.cpus),
        round(60 * random.triangular(shortest, longest, shortest)),
        random.random() < profile.fails,
    )
