"""False alarms of `tucano monitor`, and how many answers a fall of the mean reward needs, simulated.

    python -m benchmarks.monitor_alarms                  # 10,000 years of daily looks, then the falls
    python -m benchmarks.monitor_alarms --years 200      # a small look at the same

Every year is 365 looks with the functions that the monitor itself uses (tucano/statistics/sequential.py): the floor,
and as many exchangeable quantities as it watches, each held against the values of 65 test answers. Quantities differ in
kind: uniform, few values, a share of requests, rewards with a mass at 0. Those of one answer are independent here, so
that their chances of an alarm nearly add up. Nothing changes; a year with an alarm of any quantity is a false alarm.
Exit code 1 where more than 2 % of the years have one.

Then the mean reward falls by .05, at once and for good, on a given day: how many answers until the alarm?
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from tucano.presentation.tables import pipe_table
from tucano.statistics.sequential import BETS, BINS, Array, Numbers, falling, ranks, unusual, wagered

ALARM_RATE = 0.02
"""As `monitor.alarm_rate`."""
STREAMS = 14
"""Quantities of the monitor: the floor, seven others, six tasks. A test holds the number."""
LIMIT = STREAMS * 2 / ALARM_RATE
"""The wealth that is an alarm of the first champion (`State.limit`)."""
TEST_ANSWERS = 65
FLOOR = 0.5
CHUNK = 100

Draw = Callable[[np.random.Generator, tuple[int, ...]], Array]


def _rewards(mean: float) -> Draw:
    """Rewards of a standard deviation of about .27, with every tenth answer worthless."""
    share = mean / 0.9

    def draw(random: np.random.Generator, shape: tuple[int, ...]) -> Array:
        found: Array = random.beta(4 * share, 4 * (1 - share), shape) * (random.random(shape) >= 0.1)
        return found

    return draw


def _shares(chance: float) -> Draw:
    return lambda random, shape: (random.random(shape) < chance).astype(np.float64)


KINDS: list[Draw] = [
    _rewards(0.55),
    lambda random, shape: random.random(shape),
    lambda random, shape: random.integers(0, 5, shape) / 4,
    _shares(0.4),
    _shares(0.01),
    lambda random, shape: random.beta(30, 60, shape),
]


@dataclass
class Games:
    """The tests of many streams, side by side. `floor`: the value that means are held against; None: ranks."""

    streams: int
    floor: float | None
    looks: int = 0

    def __post_init__(self) -> None:
        self.seen: Numbers = np.zeros((self.streams, BINS), dtype=np.int64)
        self.stakes: Array = np.zeros((self.streams, len(BETS) * (1 if self.floor is not None else 2)))

    def remember(self, values: Array) -> None:
        rows = np.arange(self.streams)[:, None]
        np.add.at(self.seen, (rows, np.rint(values * (BINS - 1)).astype(np.int64)), 1)

    def look(self, values: Array, random: np.random.Generator) -> Array:
        """The highest wealth of each stream in this look."""
        self.looks += 1
        if self.floor is not None:
            returns = falling(values, self.floor)
        else:
            numbers = np.rint(values * (BINS - 1)).astype(np.int64)
            returns = unusual(ranks(self.seen, numbers, random.random(values.shape)))
            self.remember(values)
        self.stakes, highest = wagered(self.stakes, self.looks, returns)
        return highest


def false_alarms(years: int, looks: int, daily: int, seed: int) -> int:
    """Years in which any quantity raises an alarm although nothing changes."""
    random = np.random.default_rng(seed)
    found = 0
    for begin in range(0, years, CHUNK):
        count = min(CHUNK, years - begin)
        alarmed = np.zeros(count, dtype=bool)
        for number in range(STREAMS):
            alarmed |= _alarmed(KINDS[number % len(KINDS)], count, (looks, daily), number == 0, random)
        found += int(alarmed.sum())
    return found


def _alarmed(
    draw: Draw, count: int, days: tuple[int, int], is_floor: bool, random: np.random.Generator
) -> np.typing.NDArray[np.bool_]:
    """Which of `count` years of one quantity have an alarm. At the floor the mean is just the floor, the worst case."""
    games = Games(count, FLOOR if is_floor else None)
    games.remember(draw(random, (count, TEST_ANSWERS)))
    alarmed = np.zeros(count, dtype=bool)
    drawn = _rewards(FLOOR) if is_floor else draw
    for _ in range(days[0]):
        alarmed |= games.look(drawn(random, (count, days[1])), random) >= LIMIT
    return alarmed


def answers_needed(before: float, after: float, day: int, daily: int, floor: bool, times: int, seed: int) -> Array:
    """Answers from the fall (on `day`, 1 is the first) until the look that raises the alarm; inf without one in 40
    days.
    """
    random = np.random.default_rng(seed)
    games = Games(times, FLOOR if floor else None)
    games.remember(_rewards(before)(random, (times, TEST_ANSWERS)))
    for _ in range(day - 1):
        games.look(_rewards(before)(random, (times, daily)), random)
    needed = np.full(times, np.inf)
    for number in range(1, 41):
        highest = games.look(_rewards(after)(random, (times, daily)), random)
        needed = np.minimum(needed, np.where(highest >= LIMIT, number * daily, np.inf))
    return needed


def falls(daily: int, times: int) -> Iterator[tuple[str, ...]]:
    """Rows: what falls, when, and the answers that half, nine of ten and 99 of 100 need."""
    yield ("the mean reward falls", "on day", "half need", "90 %", "99 %", "never, %")
    for day in (1, 11, 31, 181, 365):
        for name, floor, before, after in (
            ("from .50 to .45, the floor", True, 0.50, 0.45),
            ("from .65 to .60, ranks", False, 0.65, 0.60),
        ):
            needed = answers_needed(before, after, day, daily, floor, times, day)
            at = [np.quantile(needed, share, method="higher") for share in (0.5, 0.9, 0.99)]
            yield (
                name,
                str(day),
                *(f"{value:.0f}" if np.isfinite(value) else "-" for value in at),
                f"{100 * np.isinf(needed).mean():.1f}",
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--years", type=int, default=10_000)
    parser.add_argument("--daily", type=int, default=10, help="answers a day of the years without a change")
    parser.add_argument("--times", type=int, default=200, help="repetitions of each fall")
    arguments = parser.parse_args()
    print("\n".join(pipe_table(list(falls(200, arguments.times)))), flush=True)
    found = false_alarms(arguments.years, 365, arguments.daily, seed=2026)
    interval = binomtest(found, arguments.years).proportion_ci()
    print(
        f"\n{found} of {arguments.years} years with a false alarm: {100 * found / arguments.years:.2f} %"
        f" (95 % interval {100 * interval.low:.2f} to {100 * interval.high:.2f} %)"
    )
    sys.exit(int(found > ALARM_RATE * arguments.years))


if __name__ == "__main__":
    main()
