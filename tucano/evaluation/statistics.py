"""The statistics of the audit and of the comparison: pure functions over numbers, no randomness but an explicit generator.

Differences are always `trained - reference`, one per prompt, in reward units. They are rounded to `DECIMALS` before they are
ranked, so that float noise neither breaks ties nor turns a zero into an effect.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

Alternative = Literal["greater", "less", "two-sided"]
Floats = NDArray[np.float64]

DECIMALS = 9
SMALLEST_SEEDS = 3
"""Fewer seeds than this say nothing about a new seed: the spread between two has one degree of freedom."""
WILCOXON_EFFICIENCY = 3 / np.pi
"""Asymptotic efficiency of the signed-rank test relative to the t test for normal differences (Pitman 1949)."""


def _rounded(differences: ArrayLike) -> Floats:
    values: Floats = np.round(np.asarray(differences, dtype=np.float64), DECIMALS).astype(np.float64)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise ValueError("differences must be a non-empty list of finite numbers")
    return values


def _doubled_pratt_ranks(values: Floats) -> NDArray[np.int64]:
    """Twice the mid-ranks of |values| (integers); zeros are ranked with the others, as Pratt (1959) has it."""
    return np.rint(2 * stats.rankdata(np.abs(values))).astype(np.int64)


def _null_of_rank_sum(doubled_ranks: NDArray[np.int64]) -> Floats:
    """Probabilities [sum + 1] of each doubled rank sum of the positive signs when every sign is a fair coin."""
    probabilities = np.zeros(int(doubled_ranks.sum()) + 1)
    probabilities[0] = 1.0
    reached = 0
    for rank in doubled_ranks:
        shifted = probabilities[: reached + 1] / 2
        probabilities[: reached + 1] = shifted
        probabilities[rank : rank + reached + 1] += shifted
        reached += int(rank)
    return probabilities


def signed_rank(differences: ArrayLike, alternative: Alternative = "greater") -> float:
    """Exact p of the Wilcoxon signed-rank test with Pratt's zeros, ties by mid-ranks.

    Zeros take part in the ranking and are then dropped (Pratt 1959, JASA 54:655). The null distribution comes from
    convolution over doubled ranks, so it is exact with ties too. Under the null, differences are symmetric about 0.
    1.0 when all differences are zero.
    """
    values = _rounded(differences)
    ranks = _doubled_pratt_ranks(values)
    null = _null_of_rank_sum(ranks[values != 0])
    positive = int(ranks[values > 0].sum())
    greater = min(1.0, float(null[positive:].sum()))
    less = min(1.0, float(null[: positive + 1].sum()))
    if alternative == "two-sided":
        return min(1.0, 2 * min(greater, less))
    return greater if alternative == "greater" else less


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjusted p values (Holm 1979, Scand. J. Statist. 6:65), in the order of the input; compare them with alpha."""
    adjusted: dict[str, float] = {}
    running = 0.0
    for position, name in enumerate(sorted(p_values, key=lambda key: p_values[key])):
        running = max(running, min(1.0, (len(p_values) - position) * p_values[name]))
        adjusted[name] = running
    return {name: adjusted[name] for name in p_values}


def rank_biserial(differences: ArrayLike) -> float:
    """Matched-pairs rank-biserial correlation in [-1, 1]: (positive - negative rank sum) / sum of all ranks (Kerby 2014).

    Zeros are ranked and speak half for each side, so many unchanged prompts pull the effect towards 0; dropping them, as
    some packages do, would call one gain among 64 zeros a perfect effect.
    """
    values = _rounded(differences)
    ranks = _doubled_pratt_ranks(values)
    return float((ranks * np.sign(values)).sum() / ranks.sum())


def hodges_lehmann(differences: ArrayLike, level: float = 0.95) -> tuple[float, float, float]:
    """Typical difference and its two-sided interval: (estimate, low, high).

    The estimate is the median of the Walsh averages (Hodges & Lehmann 1963). The interval inverts the exact signed-rank
    test (Hollander, Wolfe & Chicken 2014, section 3.3); closed, it keeps its level with ties. Fewer than about six
    differences reach no 95 %: there it is Student's t interval.
    """
    values = _rounded(differences)
    rows, columns = np.triu_indices(values.size)
    walsh = np.sort((values[rows] + values[columns]) / 2)
    estimate = float(np.median(walsh))
    tail = (1 - level) / 2
    # Ranks without ties: the doubled sums are even, so every second entry is the distribution.
    below = np.cumsum(_null_of_rank_sum(2 * np.arange(1, values.size + 1))[::2])
    cut = int(np.searchsorted(below, tail, side="right"))
    if cut > 0:
        return estimate, float(walsh[cut - 1]), float(walsh[walsh.size - cut])
    if values.size < 2:
        raise ValueError("an interval needs at least two differences")
    half = float(stats.t.ppf(1 - tail, values.size - 1)) * float(values.std(ddof=1)) / sqrt(values.size)
    mean = float(values.mean())
    return estimate, mean - half, mean + half


@dataclass(frozen=True, slots=True)
class TwoWay:
    """Result of `two_way_t`: mean difference, its standard error, degrees of freedom, p of mean > 0, two-sided interval."""

    mean: float
    se: float
    df: float
    p: float
    low: float
    high: float


def two_way_t(values: ArrayLike, level: float = 0.95) -> TwoWay | None:
    """Is the mean above 0 for new prompts *and* new seeds? None («not assessable») with fewer than three seeds or two prompts.

    `values` [prompts, seeds] are differences. Prompt and seed are crossed random effects, so
    Var(mean) = (MS_prompt + MS_seed - MS_residual) / (P S), with Satterthwaite's (1946) degrees of freedom for that
    combination (Searle, Casella & McCulloch 1992, section 2.4 and appendix F). Where it is not positive, MS_residual stands in.
    """
    table = np.asarray(values, dtype=np.float64)
    prompts, seeds = table.shape
    if seeds < SMALLEST_SEEDS or prompts < 2:
        return None
    mean = float(table.mean())
    prompt_effect = table.mean(axis=1, keepdims=True) - mean
    seed_effect = table.mean(axis=0, keepdims=True) - mean
    residual = table - mean - prompt_effect - seed_effect
    freedom = np.array([prompts - 1, seeds - 1, (prompts - 1) * (seeds - 1)], dtype=np.float64)
    sums = np.array([seeds * (prompt_effect**2).sum(), prompts * (seed_effect**2).sum(), (residual**2).sum()])
    squares = sums / freedom
    combined = squares[0] + squares[1] - squares[2]
    weights = np.array([1.0, 1.0, -1.0])
    if combined <= 0:
        combined, weights = squares[2], np.array([0.0, 0.0, 1.0])
    se = sqrt(combined / (prompts * seeds))
    if se < 10**-DECIMALS:  # every prompt gained the same with every seed
        return TwoWay(mean, 0.0, float(freedom[0]), 0.0 if mean > 10**-DECIMALS else 1.0, mean, mean)
    df = float(combined**2 / ((weights * squares) ** 2 / freedom).sum())
    half = float(stats.t.ppf((1 + level) / 2, df)) * se
    return TwoWay(mean, se, df, float(stats.t.sf(mean / se, df)), mean - half, mean + half)


def smallest_detectable(n: int, sd: float, alpha: float = 0.05, power: float = 0.8) -> float:
    """Smallest true mean difference that the one-sided signed-rank test sees with this power, in the unit of `sd`.

    Power of the t test (noncentral t) at an effective n of 3/pi times the prompts. For normal differences; n >= 5.
    """
    effective = n * WILCOXON_EFFICIENCY
    critical = float(stats.t.ppf(1 - alpha, effective - 1))

    def shortfall(effect: float) -> float:
        return float(stats.nct.sf(critical, effective - 1, effect * sqrt(effective))) - power

    return float(optimize.brentq(shortfall, 1e-6, 20.0)) * sd


def spearman(first: ArrayLike, second: ArrayLike) -> float:
    """Spearman's rho with mid-ranks, in [-1, 1]; 0.0 when either side is constant, for a constant orders nothing."""
    ranks = [stats.rankdata(np.round(np.asarray(side, dtype=np.float64), DECIMALS)) for side in (first, second)]
    centred = [side - side.mean() for side in ranks]
    scale = sqrt(float((centred[0] ** 2).sum()) * float((centred[1] ** 2).sum()))
    return float((centred[0] * centred[1]).sum()) / scale if scale else 0.0


def rank_agreement(rewards: ArrayLike, ratings: ArrayLike) -> float | None:
    """Spearman's rho between rewards and ratings of some completions; None when the ratings do not differ."""
    if np.ptp(np.asarray(ratings, dtype=np.float64)) == 0:
        return None
    return spearman(rewards, ratings)


def within_prompts(rewards: Sequence[ArrayLike], ratings: Sequence[ArrayLike]) -> list[float]:
    """`rank_agreement` of each prompt whose ratings differ: the order within a prompt is all that GRPO uses.

    A prompt whose ratings differ while its rewards do not counts 0.
    """
    values = (rank_agreement(*pair) for pair in zip(rewards, ratings, strict=True))
    return [value for value in values if value is not None]
