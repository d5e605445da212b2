"""How large the next experiment has to be: what was measured, turned into the seeds and prompts that a question
needs.
"""

from bisect import bisect_left
from dataclasses import replace
from math import ceil, log2

from scipy import stats

from tucano.statistics.inference import DECIMALS, POWER, SMALLEST_SEEDS, MeanSquares, smallest_detectable

MOST_SEEDS = 50
MOST_PROMPTS = 5000


def seeds_needed(squares: MeanSquares, effect: float, alpha: float = 0.05) -> int | None:
    """Fewest seeds with which the two-way test sees a true mean gain of `effect` with 80 % power on as many prompts.

    None where even `MOST_SEEDS` are not enough: then the prompts are the bottleneck; and where no spread was seen. The
    variance components are the estimates of the analysis of variance (at least 0), so with three seeds the answer is
    rough.
    """
    if effect <= 0 or squares.error()[0] < 10**-DECIMALS:
        return None
    residual = squares.residual
    seed = max(0.0, (squares.seed - residual) / squares.prompts)
    prompt = max(0.0, (squares.prompt - residual) / squares.seeds)
    return next(
        (
            count
            for count in range(SMALLEST_SEEDS, MOST_SEEDS + 1)
            if _power(squares, (prompt, seed, residual), count, effect, alpha) >= POWER
        ),
        None,
    )


def _power(measured: MeanSquares, parts: tuple[float, float, float], seeds: int, effect: float, alpha: float) -> float:
    """Power of the two-way test at its expected mean squares (noncentral t), for the variances of a single cell: of
    prompts, seeds and the rest.
    """
    prompt, seed, residual = parts
    expected = replace(
        measured,
        prompt=seeds * prompt + residual,
        seed=measured.prompts * seed + residual,
        residual=residual,
        seeds=seeds,
    )
    se, df = expected.error()
    return float(stats.nct.sf(stats.t.isf(alpha, df), df, effect / se))


def prompts_needed(sd: float, effect: float, alpha: float = 0.05) -> int | None:
    """Fewest prompts with which the signed-rank test sees a true mean gain of `effect`, for differences of this spread.

    None beyond `MOST_PROMPTS`, and where no spread was seen. So many at least that the exact p of a gain on each of
    them lies below alpha.
    """
    if effect <= 0 or sd < 10**-DECIMALS or smallest_detectable(MOST_PROMPTS, sd, alpha) > effect:
        return None
    counts = range(max(5, ceil(-log2(alpha))), MOST_PROMPTS + 1)
    return counts[bisect_left(counts, True, key=lambda count: smallest_detectable(count, sd, alpha) <= effect)]


def chance_finding(looks: int, alpha: float) -> float:
    """Probability that at least one of `looks` independent tests at `alpha` finds something where there is nothing."""
    return 1 - (1 - alpha) ** looks
