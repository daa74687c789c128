import pytest
from django.db.models import Q

from jobs.ledger.wide_sums import halves, whole
from jobs.models import SpanUsage
from tests.stories import GPU, Job
from tests.worlds import World

pytestmark = pytest.mark.django_db
LARGEST = 2**63 - 1


def summed(**only: Q) -> int:
    high, low = halves("amount", **only)
    return whole(*SpanUsage.objects.values_list("resource").annotate(high=high, low=low).values_list("high", "low")[0])


def test_sums_beyond_64_bits_are_exact(shared: World) -> None:
    shared.see(*(Job(f"job-{n}", gpus=LARGEST).admit(-5) for n in range(3)))
    assert SpanUsage.objects.filter(resource=GPU).count() == 3
    assert summed() == 3 * LARGEST


def test_of_no_row_it_is_0(shared: World) -> None:
    shared.see(Job("job", gpus=2).admit(-5))
    assert summed(filter=Q(amount__lt=0)) == 0
    assert whole(None, None) == 0
