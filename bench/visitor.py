"""One reader who asks for the same page at a steady pace, in a process of their own. For `bench.evictions`."""

import time

import requests

VISITS = 5
"""A second."""


def visit(url: str, headers: dict[str, str], seconds: float) -> list[float]:
    """Seconds from when each visit was due to the whole page."""
    waits, begun = [], time.monotonic()
    with requests.Session() as session:
        session.trust_env = False
        for number in range(int(seconds * VISITS)):
            due = begun + number / VISITS
            time.sleep(max(0, due - time.monotonic()))
            answer = session.get(url, headers=headers, timeout=60, allow_redirects=False)
            assert answer.status_code == 200, answer.status_code
            waits.append(time.monotonic() - due)
    return waits
