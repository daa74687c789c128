"""Values within JSON columns."""

import gc
import weakref

import pytest

from jobs.ledger.json_keys import in_json
from jobs.models import Workload
from tests.stories import Job
from tests.worlds import World

pytestmark = pytest.mark.django_db


class Look:
    """Whatever a caller works on."""


def read_with(look: Look, *values: object) -> list[object]:
    return list(Workload.objects.values_list(*values, flat=True))


def test_it_reads_like_the_lookup(shared: World) -> None:
    shared.see(Job().admit(1))
    lookup, value = "conditions__Admitted__status", in_json("conditions", "Admitted", "status")
    assert read_with(Look(), value) == list(Workload.objects.values_list(lookup, flat=True)) == [True]
    assert read_with(Look(), in_json("status", "nothing")) == [None]


def test_nothing_of_its_callers_outlives_the_call(shared: World) -> None:
    look = Look()
    gone = weakref.ref(look)
    gc.disable()
    try:
        read_with(look, in_json("conditions", "Admitted", "status"))
        del look
        assert gone() is None
    finally:
        gc.enable()
