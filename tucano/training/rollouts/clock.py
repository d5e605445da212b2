"""What the seconds of a training step went for, and who waited for whom."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

PARTS = ("drawing", "scoring", "looking")
"""What is timed; the rest of a step is training. Each ends with values on the host, so that a GPU has then finished."""
OPERATIONS = 4
"""For each token and weight of a pass forwards and backwards, in which the base's weights get no gradient."""


class Clock:
    """Starts with the first part that is timed. `peak`: the operations per second that the GPU's maker states, 0 where
    it is not known; `weights`: of the model; `tokens`: that each step trains on.
    """

    def __init__(self, weights: int = 0, peak: float = 0.0) -> None:
        self.weights = weights
        self.peak = peak
        self.tokens = 0.0
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.began: float | None = None

    @contextmanager
    def times(self, part: str) -> Iterator[None]:
        started = time.perf_counter()
        self.began = started if self.began is None else self.began
        try:
            yield
        finally:
            self.spent[part] += time.perf_counter() - started

    def lap(self) -> dict[str, float]:
        """Since the last lap, a step ago: seconds by part, the share in which a GPU waits for the host's scoring, and
        where its peak is known the share of it that training reached (MFU).
        """
        now = time.perf_counter()
        whole = now - (now if self.began is None else self.began)
        training = whole - sum(self.spent.values())
        found = {**{part: self.spent[part] for part in PARTS}, "training": training}
        found["waiting_for_scores"] = self.spent["scoring"] / whole if whole else 0.0
        if self.peak and training > 0:
            found["mfu"] = OPERATIONS * self.weights * self.tokens / training / self.peak
        self.began = now
        self.spent.clear()
        return found
