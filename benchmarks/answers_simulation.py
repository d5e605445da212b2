"""How often the primary test finds something where nothing has changed, drawn from answers and not from differences.

    python -m benchmarks.answers_simulation [--repetitions 10000] [--answers runs/artifacts/answers/KEY/answers.jsonl]
                                            [--write docs/statistics-answers.md]

Every arm draws its answers to a prompt from one and the same distribution: 65 prompts in 35 templates, k answers each.
The test is the one of the verdict (`contrast`'s sides and the clustered signed-rank test). «Before» is what it was: the
mean of all seeds' answers against that of one arm's k, prompts taken for independent. With `--answers` the pools are
the stored answers of a run's start. Exit code 1 when a rate that is promised leaves 3.5 to 6.5 % (continuous scores) or
exceeds 6.5 % (discrete ones), a prediction interval for a new seed holds less than 95 %, or the test over prompts and
seeds rejects more than 6.5 %.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import sqrt
from pathlib import Path

import numpy as np

from tucano.comparison.answers import MEASURES, prompt_values, read_answers
from tucano.comparison.contrast import sides
from tucano.statistics.inference import Floats, new_seed, signed_rank, two_way_t

SEED = 20261122
TEMPLATES = {"insights": (15, 6), "sql_qa": (15, 14), "extraction": (20, 8), "push": (15, 7)}
"""Prompts and templates of each task in a default test set."""
CLUSTERS = [f"{task} {place % count}" for task, (prompts, count) in TEMPLATES.items() for place in range(prompts)]
PROMPTS = len(CLUSTERS)
GAIN = 0.05
EFFECT_SD = 0.15
"""Spread of true gains over prompts where templates matter; half of its variance lies between templates."""
PROMISED_CONTINUOUS = (0.035, 0.065)
PROMISED_DISCRETE = 0.065
SPREADS = (0.0, EFFECT_SD)
SEED_SDS = (0.0, 0.02, 0.05)
SMALLEST_COVERAGE = 0.945
LARGEST_OVER_SEEDS = 0.065

Draw = Callable[[np.random.Generator, int], Floats]


def zero_one(chance: float) -> Draw:
    return lambda rng, count: (rng.random((PROMPTS, count)) < chance).astype(np.float64)


def normal(rng: np.random.Generator, count: int) -> Floats:
    return rng.normal(0.5, 0.15, (PROMPTS, count))


def floor(rng: np.random.Generator, count: int) -> Floats:
    """Most near 0, few high."""
    return rng.gamma(0.5, 0.1, (PROMPTS, count))


def ceiling(rng: np.random.Generator, count: int) -> Floats:
    """.9 with 15 % failures at .3."""
    return np.where(rng.random((PROMPTS, count)) < 0.15, 0.3, 0.9) + rng.normal(0, 0.02, (PROMPTS, count))


CONTINUOUS: dict[str, Draw] = {"normal": normal, "floor": floor, "ceiling": ceiling}
DISCRETE: dict[str, Draw] = {f"0/1, {chance:g}": zero_one(chance) for chance in (0.1, 0.5, 0.8)}


def pooled(pools: Sequence[Sequence[float]]) -> Draw:
    """Answers drawn with replacement from what a real model answered to each prompt."""
    return lambda rng, count: np.array([rng.choice(pool, count) for pool in pools])


@dataclass(frozen=True)
class Case:
    """Arms of `seeds` seeds with k `answers` each; true gains have the mean `gain` and this `spread` over prompts."""

    answers_of: str
    seeds: int
    answers: int
    spread: float = 0.0
    gain: float = 0.0


@dataclass(frozen=True)
class Row:
    """Shares of the repetitions in which each one-sided test rejects at 5 %."""

    case: Case
    better: float
    worse: float
    better_before: float
    worse_before: float

    @property
    def holds(self) -> bool:
        low, high = PROMISED_CONTINUOUS if self.case.answers_of in CONTINUOUS else (0.0, PROMISED_DISCRETE)
        return all(low <= rate <= high for rate in (self.better, self.worse))


@dataclass(frozen=True)
class Power:
    """Shares of the repetitions in which a true gain is found: at 5 %, and at whatever limit each test rejects exactly
    5 % of the repetitions where nothing has changed. Only the second compares two tests: one that rejects too often
    finds more, too.
    """

    case: Case
    found: float
    before: float
    found_at_equal: float
    before_at_equal: float


Pools = Mapping[str, Sequence[Sequence[float]]]


def rejections(case: Case, repetitions: int, pools: Pools) -> Row:
    return Row(case, *(float(rate) for rate in (p_values(case, repetitions, pools) < 0.05).mean(axis=0)))


def power_of(case: Case, repetitions: int) -> Power:
    changed = p_values(case, repetitions, {})[:, [0, 2]]
    unchanged = p_values(replace(case, gain=0.0), repetitions, {})[:, [0, 2]]
    limits = np.quantile(unchanged, 0.05, axis=0)
    rates = np.concatenate([(changed < 0.05).mean(axis=0), (changed < limits).mean(axis=0)])
    return Power(case, *(float(rate) for rate in rates))


def p_values(case: Case, repetitions: int, pools: Pools) -> Floats:
    """[repetitions, 4]: of better and of worse, now and before."""
    own = pools.get(case.answers_of)
    draw = pooled(own) if own else (CONTINUOUS | DISCRETE)[case.answers_of]
    rng = np.random.default_rng([SEED, *repr(case).encode()])
    found = np.empty((repetitions, 4))
    for row in found:
        effects = case.gain + case.spread * _effects(rng, templates=True)
        tuned = draw(rng, case.seeds * case.answers) + effects[:, None]
        start = draw(rng, case.seeds * case.answers)
        now = np.subtract(*sides(_members(tuned, case.seeds), _values(start), _IDS))
        before = tuned.mean(axis=1) - start[:, : case.answers].mean(axis=1)
        row[:] = (
            signed_rank(now, clusters=CLUSTERS),
            signed_rank(now, "less", CLUSTERS),
            signed_rank(before),
            signed_rank(before, "less"),
        )
    return found


def _effects(rng: np.random.Generator, templates: bool) -> Floats:
    """True effects of the prompts, of mean 0 and SD 1; half of the variance lies between templates, or none."""
    alone = rng.normal(size=PROMPTS)
    return (rng.normal(size=len(_NAMES))[_PLACES] + alone) / sqrt(2) if templates else alone


_NAMES = list(dict.fromkeys(CLUSTERS))
_PLACES = [_NAMES.index(name) for name in CLUSTERS]
_IDS = [str(place) for place in range(PROMPTS)]


def _values(table: Floats) -> Mapping[str, Sequence[float]]:
    return dict(zip(_IDS, table.tolist(), strict=True))


def _members(table: Floats, seeds: int) -> list[Mapping[str, Sequence[float]]]:
    return [_values(part) for part in np.split(table, seeds, axis=1)]


def over_seeds(seeds: int, seed_sd: float, templates: bool, repetitions: int) -> tuple[float, float]:
    """Shares of the repetitions, where the mean gain over seeds is 0: the prediction interval holds the true mean gain
    of one more seed; the test over prompts and seeds finds a gain at 5 %.
    """
    rng = np.random.default_rng([SEED, seeds, round(1000 * seed_sd), templates])
    held = found = 0
    for _ in range(repetitions):
        table = EFFECT_SD * _effects(rng, templates)[:, None] + rng.normal(0, seed_sd, (1, seeds))
        table = table + rng.normal(0, 0.1, (PROMPTS, seeds))
        interval, mean = new_seed(table, clusters=CLUSTERS), two_way_t(table, clusters=CLUSTERS)
        assert interval is not None and mean is not None
        held += interval[0] <= rng.normal(0, seed_sd) <= interval[1]
        found += mean.p < 0.05
    return held / repetitions, found / repetitions


def real_pools(path: Path) -> dict[str, list[list[float]]]:
    """{name: the start's sampled answers to each prompt}, by reward and by truth."""
    answers = [answer for answer in read_answers(path) if answer.arm in ("sft", "base")]
    pools = {}
    for measure in MEASURES:
        values = prompt_values(answers, measure)
        of_start = list(values.get(("sft", "sampled"), values["base", "sampled"]).values())
        pools[f"answers of nano, {measure}"] = [list(of_start[place % len(of_start)]) for place in range(PROMPTS)]
    return pools


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def percent(rate: float) -> str:
    return f"{100 * rate:.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=10_000)
    parser.add_argument("--answers", type=Path, help="answers.jsonl of a run, whose start's answers are drawn from too")
    parser.add_argument("--write", type=Path, help="page to write")
    chosen = parser.parse_args()
    pools = real_pools(chosen.answers) if chosen.answers else {}
    shapes = [*CONTINUOUS, *DISCRETE, *pools]
    nulls = [Case(*chosen_case) for chosen_case in product(shapes, (1, 3, 5), (1, 2, 4, 8))]
    nulls += [Case(shape, 3, 4, spread=EFFECT_SD) for shape in CONTINUOUS]
    powers = [Case(shape, seeds, 4, spread, GAIN) for shape, seeds, spread in product(CONTINUOUS, (1, 3, 5), SPREADS)]
    count = chosen.repetitions
    with ProcessPoolExecutor() as pool:
        rows = list(pool.map(partial(rejections, repetitions=count, pools=pools), nulls))
        power = list(pool.map(partial(power_of, repetitions=count), powers))
        settings = list(product((3, 5, 10), SEED_SDS, (False, True)))
        covered = list(pool.map(over_seeds, *zip(*settings, strict=True), [count] * len(settings)))
    page = _page(count, rows, power, list(zip(settings, covered, strict=True)))
    if chosen.write:
        chosen.write.write_text(page, encoding="utf-8")
    print(page)
    foreseen = all(held >= SMALLEST_COVERAGE and found <= LARGEST_OVER_SEEDS for held, found in covered)
    return 0 if all(row.holds for row in rows) and foreseen else 1


def _page(
    repetitions: int,
    rows: Sequence[Row],
    power: Sequence[Power],
    covered: Sequence[tuple[tuple[int, float, bool], tuple[float, float]]],
) -> str:
    head = ["answers", "seeds", "k", "templates differ", "better, %", "worse, %", "before: most, %", ""]
    nulls = [_together(alike) for alike in _alike(rows)]
    found = [
        [*_words(row.case), *map(percent, (row.found, row.before, row.found_at_equal, row.before_at_equal))]
        for row in power
        if row.case.spread
    ]
    finding = ["answers", "seeds", "k", "templates differ", "found, %", "before, %", "at equal rates: found, %",
               "before, %"]  # fmt: skip
    least = percent(min(row.found for row in power if not row.case.spread))
    one_more = [
        [str(seeds), f"{sd:g}", *(", ".join(map(percent, rates)) for rates in zip(alone, together, strict=True))]
        for ((seeds, sd, _), alone), (_, together) in zip(covered[::2], covered[1::2], strict=True)
    ]
    return f"""# The primary test, simulated on answers

Written by `python -m benchmarks.answers_simulation --write docs/statistics-answers.md` ({repetitions} repetitions
each). {PROMPTS} prompts in {len(set(CLUSTERS))} templates, k answers of each seed.
«Before» is means of unequal numbers of answers, prompts taken for independent. What it means:
[statistics](statistics.md).

## Where nothing has changed

{table(head, nulls)}

Where templates differ, true gains have the mean 0 over all templates that could be drawn, and a standard deviation of
{EFFECT_SD:g} over prompts; half of its variance lies between templates.

## Power for a gain of {GAIN:g}

Where templates do not differ, {least} % and more are found.

{table(finding, found)}

Where templates differ, or several seeds are compared with one start, the test of before also found gains where there
were none (above). At equal rates each test has the limit at which it rejects 5 % of the same cases without a gain.

## Over seeds

Where the mean gain over all seeds is 0: how often the 95 % prediction interval holds the true mean gain of one more
seed, and how often the test over prompts and seeds finds a gain. Of two figures the second is where templates differ.

{table(["seeds", "SD between seeds", "interval holds, %", "found, %"], one_more)}
"""


def _alike(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows that differ in the numbers of seeds and answers alone."""
    groups: dict[tuple[str, float], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.case.answers_of, row.case.spread), []).append(row)
    return list(groups.values())


def _together(alike: Sequence[Row]) -> list[str]:
    """Their line: the lowest and the highest rate; of the test of before the worst for each number of seeds."""
    answers_of, _, _, spread = _words(alike[0].case)
    before: dict[int, float] = {}
    for row in alike:
        before[row.case.seeds] = max(before.get(row.case.seeds, 0.0), row.better_before, row.worse_before)
    seeds = ", ".join(map(str, before))
    counts = ", ".join(map(str, sorted({row.case.answers for row in alike})))
    columns = [_span([row.better for row in alike]), _span([row.worse for row in alike])]
    columns.append(", ".join(map(percent, before.values())))
    return [answers_of, seeds, counts, spread, *columns, "holds" if all(row.holds for row in alike) else "**fails**"]


def _span(rates: Sequence[float]) -> str:
    ends = [percent(min(rates)), percent(max(rates))]
    return " to ".join(dict.fromkeys(ends))


def _words(case: Case) -> list[str]:
    return [case.answers_of, str(case.seeds), str(case.answers), "yes" if case.spread else "no"]


if __name__ == "__main__":
    sys.exit(main())
