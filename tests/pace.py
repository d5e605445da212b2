"""How slow this machine is now, for tests that say how long something may take."""

import time
from collections.abc import Callable
from functools import cache
from typing import TypeVar

T = TypeVar("T")

USUAL_S = 0.6
"""The loop below, on the two cores where the limits were set."""
LONGEST = 30.0
"""A machine that stands still for a moment is no reason to wait for hours."""


def slowness() -> float:
    """A limit is multiplied by it: 1 where the limits were set, squared on a slower machine, whose memory lags behind
    even more than its arithmetic. It is measured anew every minute.
    """
    return _slowness_in(time.time() // 60)


@cache
def _slowness_in(minute: float) -> float:
    began, total = time.perf_counter(), 0
    for number in range(10_000_000):
        total += number
    assert total == 10_000_000 * 9_999_999 // 2
    return min(LONGEST, max(1.0, (time.perf_counter() - began) / USUAL_S) ** 2)


def until(what: Callable[[], T], said: Callable[[], object] = lambda: "", seconds: float = 600) -> T:
    """What `what` gives once it gives something; a busy machine may take its time."""
    deadline = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < deadline, said()
        time.sleep(0.05)
    return found
