"""Tests that may be looked at as often as one likes: betting against «nothing has changed».

Who bets on fair odds grows an expected wealth of 1, whenever he stops. So a wealth of 1 / alpha is reached with a
probability of at most alpha, over all looks together (Ville 1939; Waudby-Smith and Ramdas 2024, «Estimating means of
bounded random variables by betting», J. R. Stat. Soc. B 86). Two games are played here, with values in [0, 1]:

- against «the mean is at least so much», with the values themselves (`falling`). What is to be expected of each value,
  given all before it, must be at least that much: values need not be independent, but whole days that swing together
  around a mean that is high enough can raise a false alarm;
- against «these values are as exchangeable as those of the reference», with conformal ranks (`unusual`; Vovk et al.
  2021, «Retrain or not retrain: conformal test martingales for change-point detection», PMLR 152). The reference's own
  chance is part of the game, however small it is.

A change may come late, so a part of the stake, 1 / (look (look + 1)), is first bet in each look. All functions work on
many streams at once: (streams, ...).
"""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

BETS = (0.08, 0.25, 0.5, 0.85)
"""Shares of the largest bet that cannot lose everything; each has an equal part of the stake."""
BINS = 101
"""Values are told apart by hundredths."""
MOST = 1e200
"""A wealth is cut here: it has long been enough, and less wealth keeps every promise."""


def binned(values: Sequence[float]) -> Numbers:
    """Values in [0, 1] by hundredths, 0 to 100."""
    return np.rint(np.asarray(values, dtype=np.float64) * (BINS - 1)).astype(np.int64)


def counted(numbers: Numbers) -> Numbers:
    """How often each of the `BINS` occurs."""
    return np.bincount(numbers, minlength=BINS).astype(np.int64)


def ranks(seen: Numbers, values: Numbers, ties: Array) -> Array:
    """The conformal rank of each value among all before it and itself, uniform in [0, 1] where all are exchangeable.

    `seen`: (streams, bins) counts of what came before; `values`: (streams, n) bins in their order; `ties`: (streams,
    n) uniform random numbers, which break ties.
    """
    below = np.cumsum(seen, axis=1) - seen
    earlier = np.tri(values.shape[1], k=-1, dtype=bool)
    smaller = np.take_along_axis(below, values, axis=1)
    smaller = smaller + ((values[:, None, :] < values[:, :, None]) & earlier).sum(axis=2)
    equal = np.take_along_axis(seen, values, axis=1)
    equal = equal + ((values[:, None, :] == values[:, :, None]) & earlier).sum(axis=2)
    before = seen.sum(axis=1)[:, None] + np.arange(values.shape[1])[None, :]
    found: Array = (smaller + ties * (equal + 1)) / (before + 1)
    return found


def unusual(found: Array) -> Array:
    """What every bet on ranks that lie too low, or too high, returns per unit: (streams, bets, n)."""
    sides = np.array([*BETS, *(-bet for bet in BETS)])
    returns: Array = 1 + sides[None, :, None] * (2 * found[:, None, :] - 1)
    return returns


def falling(values: Array, floor: float) -> Array:
    """What every bet on a mean below `floor` (in (0, 1)) returns per unit: (streams, bets, n)."""
    bets = np.array(BETS) / (1 - floor)
    returns: Array = 1 + bets[None, :, None] * (floor - values[:, None, :])
    return returns


def wagered(stakes: Array, look: int, returns: Array) -> tuple[Array, Array]:
    """The stakes (streams, bets) after a look (1, 2, …), and the highest wealth in it (streams,).

    What is not bet yet after `look` looks is 1 / (look + 1).
    """
    fresh = 1 / (look * (look + 1)) / stakes.shape[1]
    paths = (stakes + fresh)[:, :, None] * np.cumprod(returns, axis=2)
    wealth = 1 / (look + 1) + paths.sum(axis=1)
    return np.minimum(paths[:, :, -1], MOST), np.minimum(wealth.max(axis=1), MOST)


@dataclass(slots=True)
class Mean:
    """A mean of values in [0, 1] with an interval that holds at all looks together (Waudby-Smith and Ramdas 2024,
    theorem 2: the predictable plug-in empirical Bernstein sequence), for a mean that stays what it is.
    """

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    weights: float = 0.0
    weighted: float = 0.0
    spread: float = 0.0

    MISS = 0.05
    LARGEST = 0.5

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Self:
        """From its `numbers`."""
        count, *sums = numbers
        return cls(int(count), *sums)

    def add(self, values: Sequence[float]) -> Self:
        for value in values:
            mean = (0.5 + self.total) / (self.count + 1)
            variance = (0.25 + self.squares) / (self.count + 1)
            self.count += 1
            weight = math.sqrt(2 * math.log(2 / self.MISS) / (variance * self.count * math.log(1 + self.count)))
            weight = min(weight, self.LARGEST)
            self.weights += weight
            self.weighted += weight * value
            self.spread += (value - mean) ** 2 * (-math.log(1 - weight) - weight)
            self.total += value
            self.squares += (value - (0.5 + self.total) / (self.count + 1)) ** 2
        return self

    @property
    def interval(self) -> tuple[float, float, float]:
        """(mean, lower, upper); 95 %."""
        if not self.count:
            return 0.5, 0.0, 1.0
        middle = self.weighted / self.weights
        width = (math.log(2 / self.MISS) + self.spread) / self.weights
        return self.total / self.count, max(0.0, middle - width), min(1.0, middle + width)

    @property
    def numbers(self) -> list[float]:
        """What it is made of again."""
        return list(astuple(self))
