"""How often the 90 % interval of Youden's J holds the truth, and how often the audit's gate closes for its sign.

    python -m benchmarks.youden_coverage --repetitions 300

Answers of one prompt are alike in worth and in reward. The truth is counted in 20,000 prompts.
"""

import argparse
from collections.abc import Iterator

import numpy as np

from benchmarks.people_coverage import given, rated_group
from tucano.audit.bench import GOOD_RATING, Group
from tucano.audit.report import Youden
from tucano.audit.youden import teaching_check, youden
from tucano.statistics.inference import Floats

RESAMPLES = 500
GAINS = {"separates": 2.0, "teaches": 1.0, "says nothing": 0.0, "is reversed": -1.0}
"""What a unit of worth adds to a reward's logit, in which its noise is 1."""
SIZES = ((24, 4, -1.5), (24, 5, -0.5), (12, 4, 0.0))
"""Prompts, answers to each, and the mean worth of answers, which makes 6, 22 and 37 % of them good."""


def drawn(prompts: int, answers: int, mean: float, gain: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Rewards and ratings, [prompts, answers]."""
    worth = mean + rng.normal(0, 0.6, (prompts, 1)) + rng.normal(0, 0.8, (prompts, answers))
    logits = gain * worth + rng.normal(0, 0.5, (prompts, 1)) + rng.normal(0, 1, worth.shape)
    return 1 / (1 + np.exp(-logits)), given(worth)


def j_of(rewards: Floats, ratings: Floats, threshold: float | None) -> float:
    """Youden's J by counting."""
    earned = rewards if threshold is None else rewards >= threshold
    return float(earned[ratings >= GOOD_RATING].mean() - earned[ratings < GOOD_RATING].mean())


def repeated(size: tuple[int, int, float], gain: float, repetitions: int) -> Iterator[list[Youden]]:
    """The rows of each drawn set that has enough good answers."""
    for seed in range(repetitions):
        pairs = zip(*drawn(*size, gain, np.random.default_rng([seed, 3])), strict=True)
        groups: list[Group] = [rated_group(str(place), *pair, None) for place, pair in enumerate(pairs)]
        if rows := youden("push", groups, RESAMPLES, [seed]):
            yield rows


def rates(size: tuple[int, int, float], gain: float, repetitions: int) -> dict[str, float]:
    """Shares of the repetitions whose interval holds J over all, fixed and best thresholds; whose gate closes."""
    goal = drawn(20_000, *size[1:], gain, np.random.default_rng(99))
    found: dict[str, list[bool]] = {"all": [], "fixed": [], "best": [], "closes": []}
    for rows in repeated(size, gain, repetitions):
        for row in rows:
            found[row.at].append(row.j.low <= j_of(*goal, row.threshold) <= row.j.high)
        found["closes"].append(teaching_check("push", rows).level == "block")
    return {name: float(np.mean(values)) for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=300)
    repetitions = parser.parse_args().repetitions
    for name, gain in GAINS.items():
        for size in SIZES:
            told = ", ".join(f"{key} {value:.0%}" for key, value in rates(size, gain, repetitions).items())
            print(f"a reward that {name}, {size[0]} prompts x {size[1]}: {told}", flush=True)


if __name__ == "__main__":
    main()
