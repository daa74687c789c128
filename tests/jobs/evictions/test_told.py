from datetime import timedelta

import pytest

from jobs.evictions.list import with_objects
from jobs.evictions.told import told
from jobs.models import Eviction
from jobs.rules.lost_work import Basis
from jobs.sight import Sight
from tests.stories import Job, minute
from tests.worlds import World

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("interval", "basis", "known"),
    [
        ("", Basis.WHOLE, timedelta(minutes=32)),
        ("1h", Basis.EXPECTED, timedelta(minutes=32)),
        ("10m", Basis.EXPECTED, None),
    ],
)
def test_the_run_of_a_hold_that_nobody_saw_is_told_where_its_loss_tells_it(
    shared: World, interval: str, basis: Basis, known: timedelta | None
) -> None:
    job = Job(gpus=8, created=-100)
    template = job.obj["spec"]["podSets"][0]["template"]
    template["metadata"] = {"annotations": {"hyperpod-portal/checkpoint-interval": interval}}
    job.admit(-90).evict(-60).release(-58)
    shared.see(job.admit(-50), now=minute(0))
    (row,) = told(with_objects(Eviction.objects.all()), Sight(True, frozenset(), frozenset()))
    assert (row.eviction.span, row.eviction.basis, row.ran) == (None, basis, known)
