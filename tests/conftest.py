"""Fixtures of the whole suite: people, and a cluster with two queues."""

import secrets
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import translation
from hypothesis import settings as properties

from tests.factories import ClusterFactory
from tests.people import People, settle
from tests.remembered import Remembered
from tests.worlds import World, two_queues

properties.register_profile("unhurried", deadline=None)  # a busy machine is no failure
properties.load_profile("unhurried")

_settle = Remembered(settle)
_two_queues = Remembered(two_queues)


@pytest.fixture(scope="session", autouse=True)
def _static_root() -> None:
    """whitenoise looks for it; a start in earnest makes it with `collectstatic`."""
    Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)


@pytest.fixture(autouse=True)
def _default_language() -> None:
    """A request leaves its language active in the thread."""
    translation.deactivate()


@pytest.fixture
def people(db: None) -> People:
    return _settle()


@pytest.fixture
def world(db: None) -> World:
    """An empty cluster."""
    return World(ClusterFactory())


@pytest.fixture
def shared(world: World, people: People) -> World:
    """Research with 12 GPUs and vision with 8 in one cohort."""
    _two_queues(world, people.research, people.vision)
    world.cluster.specs_version = secrets.randbits(62)  # nothing that was read in an earlier test is of this one
    world.cluster.save(update_fields=["specs_version"])
    return world
