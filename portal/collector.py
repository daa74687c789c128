"""Python's search for reference cycles. Lists of a cluster bring some hundred thousand objects a page and no cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_GARBAGE = 50_000  # the default of 700 would cost a fifth of a pull


def relax() -> None:
    """Search more rarely. Call once per process."""
    gc.set_threshold(_GARBAGE, 20, 20)


@contextmanager
def paused() -> Iterator[None]:
    """No search meanwhile: even the rarer one takes a tenth of a whole list's time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
