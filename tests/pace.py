"""How slow this machine is now, for tests that say how long something may take."""

import time
from statistics import median

USUAL_S = 0.015
"""The loop below, on the two cores where the limits were set."""


def slowness() -> float:
    """A limit is multiplied by it: 1 where the limits were set, squared on a slower machine, whose memory lags behind
    even more than its arithmetic.
    """
    return max(1.0, median(_seconds() for _ in range(5)) / USUAL_S) ** 2


def _seconds() -> float:
    began, total = time.perf_counter(), 0
    for number in range(250_000):
        total += number
    assert total == 250_000 * 249_999 // 2
    return time.perf_counter() - began
