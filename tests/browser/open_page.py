"""How soon what changes in a cluster is on a team page that stands open."""

import statistics
import time
from collections.abc import Callable

from playwright.sync_api import Page

CHANGES = 20
MOST_SECONDS = 3.0
_STILL_FOR_MS = 5000
_SAYS = """(wanted) => document.querySelector("[data-region^=waiting-count-]").textContent.startsWith(`${wanted} `)"""


def check_freshness(page: Page, submit: Callable[[str], None]) -> None:
    """`submit` makes one more job of the page's team wait, under the name it is given; nothing else may change."""
    first = waiting(page)
    page.wait_for_timeout(_STILL_FOR_MS)
    assert waiting(page) == first, "the cluster does not stand still"
    waits = []
    for number in range(1, CHANGES + 1):
        page.wait_for_timeout(number * 97 % 500)  # so that changes fall anywhere between two looks of the page
        submit(f"alpha-{number}")
        began = time.monotonic()
        page.wait_for_function(_SAYS, arg=first + number, polling=20)
        waits.append(time.monotonic() - began)
    p95 = statistics.quantiles(waits, n=20)[-1]
    assert p95 <= MOST_SECONDS, [round(wait, 1) for wait in waits]


def waiting(page: Page) -> int:
    """How many jobs the page says are waiting."""
    return int(page.locator("[data-region^=waiting-count-]").inner_text().split()[0])
