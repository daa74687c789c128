"""Whether work grows as what it is given, on a machine of any speed."""

import time
from collections.abc import Callable

LINEAR = 4
"""What four times as much costs where work grows as what it is given; sixteen times where it grows as the square."""
_TURNS = 3


def growth(work: Callable[[int], object], size: int) -> float:
    """How many times the processor's time of `size` four times `size` takes. `work` does either from its beginning."""
    work(size)  # what is made once
    turns = [(_seconds(work, size), _seconds(work, 4 * size)) for _ in range(_TURNS)]
    return min(more for _, more in turns) / min(one for one, _ in turns)


def _seconds(work: Callable[[int], object], size: int) -> float:
    began = time.thread_time()
    work(size)
    return time.thread_time() - began
