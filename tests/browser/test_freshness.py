"""How soon a change in the cluster is on an open page."""

import pytest

from tests.browser.cluster import EmulatedCluster
from tests.browser.conftest import Visit
from tests.browser.open_page import check_freshness

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_change_is_on_the_open_page_within_three_seconds(visit: Visit, still: EmulatedCluster) -> None:
    check_freshness(visit("data-scientist"), still.submit)
