"""How often the verdict's two claims are made where nothing is true, how often its intervals hold the truth, and what
it can see.

    python -m benchmarks.verdict_simulation [--repetitions 10000] [--write docs/statistics-simulation.md]

It runs the very functions that make the verdict, on 65 prompts. Each claim is tested under its own null: of the adapter
claim, that the typical (pseudo-median) gain of these adapters is 0, whatever their seeds' own effects; of the
configuration claim, that the mean over all prompts and seeds is 0. Rewards are in [0, 1], so spreads are chosen as they
were seen: .15 between prompts, .1 between single cells. Exit code 1 when a rate that is promised leaves 3.5 to 6.5 %,
or an interval's coverage 93 to 97 %.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tucano.statistics.inference import hodges_lehmann, mean_t, signed_rank, two_way_t

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]
SEED = 20261121
PROMPTS = 65
GAINS = (0.02, 0.04, 0.06, 0.08)
PROMPT_SD, CELL_SD = 0.15, 0.1
SEED_SPREAD = 0.05
"""Spread of the seeds' own effects, which the adapter claim holds fixed; they add up to 0."""
SIZE, COVERAGE = (0.035, 0.065), (0.93, 0.97)


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(0, PROMPT_SD, shape)


def skewed(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """A tail of large losses (2 - Gamma(2), skewness -1.4), mean 0; its pseudo-median is positive."""
    return PROMPT_SD / sqrt(2) * (2 - rng.gamma(2, 1, shape))


def very_skewed(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """The same with an exponential tail, skewness -2."""
    return PROMPT_SD * (1 - rng.exponential(1, shape))


def zeros(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Seven of ten prompts do not change at all."""
    return normal(rng, shape) * (rng.random(shape) < 0.3)


HEADER = """# The verdict, simulated

Written by `python -m benchmarks.verdict_simulation --write docs/statistics-simulation.md` ({repetitions} repetitions
of every null, a fifth of it for every power; one standard error of a 5 % rate is .2 points). What it means:
[statistics](statistics.md).

"""

SHAPES: dict[str, Draw] = {"normal": normal, "skewed": skewed, "very skewed": very_skewed, "many zeros": zeros}
TYPICAL = {
    "normal": 0.0,
    "skewed": PROMPT_SD / sqrt(2) * (2 - float(stats.gamma(4).median()) / 2),
    "very skewed": PROMPT_SD * (1 - float(stats.gamma(2).median()) / 2),
    "many zeros": 0.0,
}
"""Pseudo-medians, the medians of (X + Y) / 2: the sum of two Gamma(k) is a Gamma(2k)."""


@dataclass(frozen=True)
class Row:
    """One line of the table: rates over the repetitions. `promised`: whether the limits apply to it."""

    claim: str
    case: str
    seeds: int
    rejected: float
    covered: float
    covered_mean: float | None
    promised: bool

    @property
    def holds(self) -> bool:
        return SIZE[0] <= self.rejected <= SIZE[1] and COVERAGE[0] <= self.covered <= COVERAGE[1]


def adapter(
    case: str, seeds: int, repetitions: int, seed_sd: float = 0.0, centre: float | None = None, gain: float = 0.0
) -> Row:
    """The adapter claim: exact signed-rank test on the means over seeds, whose own effects stay the same in all
    repetitions.

    `seed_sd` above 0 draws them anew instead, which is another claim's null. `centre` is taken off every difference, so
    that the null holds: the shape's pseudo-median when None. Only normal prompts have noise of single cells: it would
    move the others' pseudo-median.
    """
    rng = np.random.default_rng([SEED, seeds, round(1000 * seed_sd), round(1000 * gain)])
    offset = TYPICAL[case] if centre is None else centre
    fixed = rng.normal(0, SEED_SPREAD, seeds)
    fixed -= fixed.mean()
    noise = CELL_SD if case == "normal" else 0.0
    rejected = covered = covered_mean = 0
    for _ in range(repetitions):
        effects = rng.normal(0, seed_sd, seeds) if seed_sd else fixed
        table = SHAPES[case](rng, (PROMPTS, 1)) + effects + noise * rng.normal(size=(PROMPTS, seeds))
        differences = table.mean(axis=1) - offset + gain
        rejected += signed_rank(differences) < 0.05
        covered += _holds(differences, TYPICAL[case] - offset + gain)
        mean = mean_t(differences)
        covered_mean += mean.low <= gain - offset <= mean.high
    name = "adapter" if not seed_sd else f"adapter test, read as if for new seeds of SD {seed_sd:g}"
    shape = case if centre is None else f"{case}, mean 0 but pseudo-median {TYPICAL[case] - offset:+.3f}"
    rates = (rejected / repetitions, covered / repetitions, covered_mean / repetitions)
    return Row(name, shape, seeds, *rates, promised=centre is None and not seed_sd and case != "very skewed")


def _holds(differences: Floats, typical: float) -> bool:
    """Whether the interval holds a value; an end that the exact test itself rejects does not belong to it (many
    zeros).
    """
    _, low, high = hodges_lehmann(differences)
    if low < typical < high:
        return True
    moved = differences - typical
    return low <= typical <= high and 2 * min(signed_rank(moved), signed_rank(moved, "less")) > 0.05


def configuration(case: str, seeds: int, repetitions: int, seed_sd: float, gain: float = 0.0) -> Row:
    """The configuration claim: the two-way t test; the seeds' effects are drawn anew in every repetition."""
    rng = np.random.default_rng([SEED, seeds, round(1000 * seed_sd), round(1000 * gain)])
    rejected = covered = 0
    for _ in range(repetitions):
        prompts = SHAPES[case](rng, (PROMPTS, 1))
        table = prompts + rng.normal(0, seed_sd, (1, seeds)) + rng.normal(0, CELL_SD, (PROMPTS, seeds)) + gain
        result = two_way_t(table)
        assert result is not None
        rejected += result.p < 0.05
        covered += result.low <= gain <= result.high
    rates = (rejected / repetitions, covered / repetitions)
    return Row(f"configuration, seed SD {seed_sd:g}", case, seeds, *rates, None, promised=case == "normal")


Task = tuple[Callable[..., Row], dict[str, Any]]


def nulls(repetitions: int) -> list[Task]:
    plan: list[Task] = [
        (adapter, {"case": case, "seeds": seeds})
        for case in SHAPES
        for seeds in ((3,) if case == "very skewed" else (1, 3, 5))
    ]
    plan += [
        (configuration, {"case": case, "seeds": seeds, "seed_sd": sd})
        for case in ("normal", "skewed", "many zeros")
        for seeds in (3, 5)
        for sd in ((0.0, 0.01, 0.02, 0.05) if case == "normal" else (0.0, 0.05))
    ]
    plan += [(adapter, {"case": case, "seeds": 3, "centre": 0.0}) for case in ("skewed", "very skewed")]
    plan += [(adapter, {"case": "normal", "seeds": seeds, "seed_sd": sd}) for seeds in (1, 3) for sd in (0.02, 0.05)]
    return [(claim, {**options, "repetitions": repetitions}) for claim, options in plan]


def powers(repetitions: int) -> list[Task]:
    plan: list[Task] = [(adapter, {"seeds": seeds, "gain": gain}) for seeds in (1, 3, 5) for gain in GAINS]
    plan += [
        (configuration, {"seeds": seeds, "seed_sd": sd, "gain": gain})
        for seeds in (3, 5)
        for sd in (0.0, 0.02, 0.05)
        for gain in GAINS
    ]
    return [(claim, {**options, "case": "normal", "repetitions": repetitions}) for claim, options in plan]


def run(task: Task) -> Row:
    claim, options = task
    return claim(**options)


def table(head: str, rows: Iterable[Iterable[str]]) -> str:
    columns = head.count("|") - 1
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, "|" + "---|" * columns, *lines])


def null_table(rows: list[Row]) -> str:
    def cells(row: Row) -> tuple[str, ...]:
        mean = "" if row.covered_mean is None else f"{100 * row.covered_mean:.1f}"
        mark = ("holds" if row.holds else "**fails**") if row.promised else "not promised"
        return (
            row.claim,
            row.case,
            str(row.seeds),
            f"{100 * row.rejected:.1f}",
            f"{100 * row.covered:.1f}",
            mean,
            mark,
        )

    return table(
        "| claim | differences | seeds | rejected, % | interval holds, % | t interval of the mean holds, % | |",
        map(cells, rows),
    )


def power_table(rows: list[Row]) -> str:
    grouped: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        grouped.setdefault((row.claim, row.seeds), []).append(row)
    head = f"| claim | seeds | {' | '.join(f'gain {gain:+.2f}' for gain in GAINS)} |"
    return table(
        head,
        (
            (claim, str(seeds), *(f"{100 * row.rejected:.0f}" for row in found))
            for (claim, seeds), found in grouped.items()
        ),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--repetitions", type=int, default=10_000, help="of every null; a fifth of it for every power (default: 10000)"
    )
    parser.add_argument("--write", type=Path, help="also write the tables to this Markdown file")
    arguments = parser.parse_args()
    began = time.monotonic()
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(run, nulls(arguments.repetitions)))
        seen = list(pool.map(run, powers(max(1, arguments.repetitions // 5))))
    text = f"## Where nothing is true\n\n{null_table(found)}\n\n## Power, %\n\n{power_table(seen)}\n"
    print(f"{text}\n{arguments.repetitions} repetitions in {time.monotonic() - began:.0f} s")
    if arguments.write:
        arguments.write.write_text(HEADER.format(repetitions=arguments.repetitions) + text, encoding="utf-8")
    return int(any(row.promised and not row.holds for row in found))


if __name__ == "__main__":
    sys.exit(main())
