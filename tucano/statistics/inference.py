"""The statistics of the audit and of the comparison: pure functions over numbers, no randomness but an explicit
generator.

Differences are always `trained - reference`, one per prompt, in reward units. They are rounded to `DECIMALS` before
they are ranked, so that float noise neither breaks ties nor turns a zero into an effect.
"""

import bisect
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

Alternative = Literal["greater", "less"]
Floats = NDArray[np.float64]

DECIMALS = 9
LEVEL = 0.95
"""Of two-sided intervals."""
SMALLEST_P = 1e-300
"""A smaller p is said to be this one: halved 1,100 times, a float is 0, which no p is."""
UNKNOWN = (-1.0, 1.0)
"""All that a difference of rewards can be. What is known of it where no pair differs, and by Student's t where no
spread was seen: a reward that never moves, or moves alike everywhere, allows no interval that claims to be sure.
"""
SMALLEST_SEEDS = 3
"""Fewer seeds than this say nothing about a new seed: the spread between two has one degree of freedom."""
POWER = 0.8
"""With which a gain is said to be seen."""
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


@lru_cache(maxsize=128)
def _null_of_rank_sum(doubled_ranks: tuple[int, ...]) -> Floats:
    """Probabilities [sum + 1] of each doubled rank sum of the positive signs when every sign is a fair coin; read
    only.
    """
    probabilities = np.zeros(sum(doubled_ranks) + 1)
    probabilities[0] = 1.0
    reached = 0
    for rank in doubled_ranks:
        shifted = probabilities[: reached + 1] / 2
        probabilities[: reached + 1] = shifted
        probabilities[rank : rank + reached + 1] += shifted
        reached += rank
    probabilities.flags.writeable = False
    return probabilities


def signed_rank(
    differences: ArrayLike, alternative: Alternative = "greater", clusters: Sequence[Hashable] | None = None
) -> float:
    """Exact p of the Wilcoxon signed-rank test with Pratt's zeros, ties by mid-ranks.

    Zeros take part in the ranking and are then dropped (Pratt 1959, JASA 54:655). The null distribution comes from
    convolution over doubled ranks, so it is exact with ties too. Under the null, differences are symmetric about 0.
    1.0 when all differences are zero.

    With `clusters`, one name per difference, those of one cluster need not be independent: the signs of a whole cluster
    flip together (the randomization form of the test of Datta & Satten 2008, Biometrics 64:501).
    """
    values = _rounded(differences)
    sums = _cluster_sums(_doubled_pratt_ranks(values) * np.sign(values).astype(np.int64), clusters)
    null = _null_of_rank_sum(tuple(sorted(np.abs(sums[sums != 0]).tolist())))
    positive = int(sums[sums > 0].sum())
    tail = null[positive:] if alternative == "greater" else null[: positive + 1]
    return max(SMALLEST_P, min(1.0, float(tail.sum())))


def _cluster_sums(values: NDArray[np.int64], clusters: Sequence[Hashable] | None) -> NDArray[np.int64]:
    """Sum of the values of each cluster; the values themselves where there are no clusters."""
    if clusters is None:
        return values
    sums = np.zeros(len(set(clusters)), dtype=np.int64)
    np.add.at(sums, _numbered(clusters), values)
    return sums


def _numbered(clusters: Sequence[Hashable]) -> list[int]:
    """The clusters' numbers, 0 on, in the order of their first members."""
    numbers = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    return [numbers[name] for name in clusters]


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjusted p values (Holm 1979, Scand. J. Statist. 6:65), in the order of the input; compare them with alpha."""
    adjusted: dict[str, float] = {}
    running = 0.0
    for position, name in enumerate(sorted(p_values, key=lambda key: p_values[key])):
        running = max(running, min(1.0, (len(p_values) - position) * p_values[name]))
        adjusted[name] = running
    return {name: adjusted[name] for name in p_values}


def rank_biserial(differences: ArrayLike) -> float:
    """Matched-pairs rank-biserial correlation in [-1, 1]: (positive - negative rank sum) / sum of all ranks (Kerby
    2014).

    Zeros are ranked and speak half for each side, so many unchanged prompts pull the effect towards 0; dropping them,
    as some packages do, would call one gain among 64 zeros a perfect effect.
    """
    values = _rounded(differences)
    ranks = _doubled_pratt_ranks(values)
    return float((ranks * np.sign(values)).sum() / ranks.sum())


def hodges_lehmann(differences: ArrayLike, clusters: Sequence[Hashable] | None = None) -> tuple[float, float, float]:
    """Typical difference and its two-sided 95 % interval: (estimate, low, high).

    The estimate is the median of the Walsh averages (Hodges & Lehmann 1963). The interval inverts the exact signed-rank
    test (Hollander, Wolfe & Chicken 2014, section 3.3); closed, it keeps its level with ties. Where ties leave it no
    width it is `UNKNOWN`: neither equal gains nor prompts that mostly do not change make anybody that sure. Where so
    few differences or clusters (fewer than about six) reach no 95 %, both are of the mean: Student's t interval and its
    centre.
    """
    values = _rounded(differences)
    rows, columns = np.triu_indices(values.size)
    walsh = np.sort((values[rows] + values[columns]) / 2)
    tail = (1 - LEVEL) / 2
    cut = _walsh_cut(values.size, tail) if clusters is None else _clustered_cut(values, walsh, tail, clusters)
    if cut is not None:
        low, high = float(walsh[cut[0]]), float(walsh[cut[1]])
        return float(np.median(walsh)), *((low, high) if low < high else UNKNOWN)
    mean = mean_t(values, clusters)
    return mean.mean, mean.low, mean.high


def _clustered_cut(values: Floats, walsh: Floats, tail: float, clusters: Sequence[Hashable]) -> tuple[int, int] | None:
    """Places of the Walsh averages between which the clustered test rejects no centre; None with too few clusters."""
    if 0.5 ** len(set(clusters)) > tail:
        return None

    between = (walsh[1:] + walsh[:-1]) / 2  # what a centre is compared with changes at Walsh averages alone

    def gaps(kept: Callable[[Floats], bool]) -> int:
        return bisect.bisect_left(between, True, key=lambda centre: kept(values - centre))

    low = gaps(lambda moved: signed_rank(moved, "greater", clusters) > tail)
    return low, max(low, gaps(lambda moved: signed_rank(moved, "less", clusters) <= tail))


@lru_cache(maxsize=256)
def _walsh_cut(n: int, tail: float) -> tuple[int, int] | None:
    """Places of the ends of the interval among the sorted Walsh averages of n differences; None where n is too small.

    As many are cut off at each end as there are rank sums without ties that together have at most `tail` probability.
    """
    # Ranks without ties: the doubled sums are even, so every second entry is the distribution.
    below = np.cumsum(_null_of_rank_sum(tuple(range(2, 2 * n + 1, 2)))[::2])
    cut = int(np.searchsorted(below, tail, side="right"))
    return (cut - 1, n * (n + 1) // 2 - cut) if cut else None


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean difference with its standard error, degrees of freedom, p of mean > 0 and two-sided interval. Without a
    standard error Student's t says nothing: p is 1, the interval `UNKNOWN`.
    """

    mean: float
    se: float
    df: float
    p: float
    low: float
    high: float


def mean_t(differences: ArrayLike, clusters: Sequence[Hashable] | None = None, level: float = LEVEL) -> Mean:
    """The mean difference by Student's t: what the signed-rank test does not speak of where differences are skewed.

    With `clusters`, prompts of one cluster (a template) are not independent; fewer than three clusters tell nothing of
    the mean. Cluster-robust standard error of a mean (Liang & Zeger 1986) with the factor G/(G-1), on G-1 degrees of
    freedom (Cameron & Miller 2015, section II.B): SE^2 = G/(G-1) * sum over clusters of (sum of residuals)^2 / n^2.
    """
    values = _rounded(differences)
    mean = float(values.mean())
    if not clusters:
        if values.size < 2:
            raise ValueError("an interval needs at least two differences")
        return _by_t(mean, float(values.std(ddof=1)) / sqrt(values.size), values.size - 1, level)
    count = len(set(clusters))
    if count < 3:
        return _by_t(mean, 0.0, count - 1, level)
    sums = np.bincount(_numbered(clusters), weights=values - mean)
    se = sqrt(count / (count - 1) * float((sums**2).sum())) / values.size
    return _by_t(mean, se, count - 1, level)


def _by_t(mean: float, se: float, df: float, level: float = LEVEL) -> Mean:
    if se < 10**-DECIMALS:  # a spread that was not seen is not known to be none
        return Mean(mean, 0.0, df, 1.0, *UNKNOWN)
    half = float(stats.t.ppf((1 + level) / 2, df)) * se
    return Mean(mean, se, df, max(SMALLEST_P, float(stats.t.sf(mean / se, df))), mean - half, mean + half)


@dataclass(frozen=True, slots=True)
class MeanSquares:
    """Two-way analysis of variance without replication: mean squares of prompts, seeds and residual for `prompts` x
    `seeds` cells. `groups`: how many groups of prompts are independent of each other, None: each prompt is.
    """

    prompt: float
    seed: float
    residual: float
    prompts: int
    seeds: int
    groups: int | None = None

    def error(self) -> tuple[float, float]:
        """(standard error of the grand mean, degrees of freedom) with prompt and seed crossed and random.

        Var(mean) = (MS_prompt + MS_seed - MS_residual) / (P S) with Satterthwaite's degrees of freedom (Searle, Casella
        & McCulloch 1992, section 2.4 and appendix F). A part whose mean square is below the residual one is none: the
        largest mean square stands alone then, since a difference of near ones has next to no degrees of freedom. At
        least as many remain as the rarer of the two has (Gaylor & Hopper 1969, Technometrics 11:691).
        """
        rows = (self.groups or self.prompts) - 1
        parts = np.array([self.prompt, self.seed, self.residual])
        freedom = np.array([rows, self.seeds - 1, rows * (self.seeds - 1)], dtype=np.float64)
        place = int(parts.argmax())
        variance, df = float(parts[place]), float(freedom[place])
        if min(self.prompt, self.seed) > self.residual:
            shares = parts / variance
            whole = shares[0] + shares[1] - shares[2]
            variance, df = variance * float(whole), max(float(whole**2 / (shares**2 / freedom).sum()), freedom.min())
        return sqrt(variance / (self.prompts * self.seeds)), df


def mean_squares(values: ArrayLike, clusters: Sequence[Hashable] | None = None) -> MeanSquares:
    """Of a table [prompts, seeds] of differences, at least two of each; ValueError for one that is no number.

    With `clusters`, one name per prompt, those of one cluster need not be independent: each mean square is of the sums
    over a cluster, as in a variance that is robust to both ways of clustering (Cameron, Gelbach & Miller 2011, J. Bus.
    Econ. Stat. 29:238, eq. 2.11). Clusters of one prompt give the mean squares without clusters.
    """
    table = np.asarray(values, dtype=np.float64)
    if not np.isfinite(table).all():
        raise ValueError("differences must be finite numbers")
    prompts, seeds = table.shape
    names = list(range(prompts)) if clusters is None else _numbered(clusters)
    groups = max(names) + 1
    mean = table.mean()
    rows = table.mean(axis=1, keepdims=True) - mean
    columns = table.mean(axis=0, keepdims=True) - mean
    residual = table - mean - rows - columns
    of_rows, of_residual = np.zeros((groups, 1)), np.zeros((groups, seeds))
    np.add.at(of_rows, names, rows)
    np.add.at(of_residual, names, residual)
    share = groups / (prompts * (groups - 1))
    return MeanSquares(
        prompt=seeds * share * float((of_rows**2).sum()),
        seed=prompts * float((columns**2).sum()) / (seeds - 1),
        residual=share * float((of_residual**2).sum()) / (seeds - 1),
        prompts=prompts,
        seeds=seeds,
        groups=groups,
    )


def two_way_t(values: ArrayLike, clusters: Sequence[Hashable] | None = None) -> Mean | None:
    """Is the mean above 0 over all prompts *and* seeds that might be drawn? None («not assessable») with fewer than
    three seeds, two prompts or two clusters.

    `values` [prompts, seeds] are differences of rewards. The t test of the grand mean with `MeanSquares.error`. One of
    the two that does not vary adds no error; where neither does, nothing is known.
    """
    table = np.asarray(values, dtype=np.float64)
    groups = table.shape[0] if clusters is None else len(set(clusters))
    if table.shape[1] < SMALLEST_SEEDS or groups < 2:
        return None
    return _by_t(float(table.mean()), *mean_squares(table, clusters).error())


def new_seed(values: ArrayLike, clusters: Sequence[Hashable] | None = None) -> tuple[float, float] | None:
    """95 % prediction interval of the mean gain of one new seed over new prompts; None or `UNKNOWN` where `two_way_t`
    or its interval is.

    `values` [prompts, seeds] are differences. mean -+ t * sqrt(SE^2 + S^2) on as many degrees of freedom as seeds - 1
    or SE has: SE of the grand mean by `MeanSquares.error`, S^2 = MS_seed / prompts the variance of the seeds' means,
    noise of their answers included (Hahn & Meeker 1991, section 4.7), so that it is rather too wide, and never narrower
    than the interval of the mean.
    """
    mean = two_way_t(values, clusters)
    if mean is None or not mean.se:
        return UNKNOWN if mean else None
    squares = mean_squares(values, clusters)
    half = float(stats.t.ppf((1 + LEVEL) / 2, min(mean.df, squares.seeds - 1)))
    half *= sqrt(mean.se**2 + squares.seed / squares.prompts)
    return mean.mean - half, mean.mean + half


def smallest_detectable(n: int, sd: float, alpha: float = 0.05) -> float:
    """Smallest true mean difference that the one-sided signed-rank test sees with 80 % power, in the unit of `sd`.

    Power of the t test (noncentral t) at an effective n of 3/pi times the prompts. For normal differences; n >= 5.
    """
    effective = n * WILCOXON_EFFICIENCY
    critical = float(stats.t.isf(alpha, effective - 1))  # the upper tail itself: 1 - 1e-17 is 1

    def shortfall(effect: float) -> float:
        return float(stats.nct.sf(critical, effective - 1, effect * sqrt(effective))) - POWER

    return float(optimize.brentq(shortfall, 1e-6, 20.0)) * sd


def spearman(first: ArrayLike, second: ArrayLike) -> float:
    """Spearman's rho with mid-ranks, in [-1, 1]; 0.0 when either side is constant, for a constant orders nothing.
    ValueError for what is no finite number.
    """
    ranks = [stats.rankdata(_rounded(side)) for side in (first, second)]
    centred = [side - side.mean() for side in ranks]
    scale = sqrt(float((centred[0] ** 2).sum()) * float((centred[1] ** 2).sum()))
    return float((centred[0] * centred[1]).sum()) / scale if scale else 0.0


def rank_agreement(rewards: ArrayLike, ratings: ArrayLike) -> float | None:
    """Spearman's rho between rewards and ratings of some completions; None when the ratings do not differ."""
    if np.ptp(_rounded(ratings)) == 0:
        return None
    return spearman(rewards, ratings)


def within_prompts(rewards: Sequence[ArrayLike], ratings: Sequence[ArrayLike]) -> list[float]:
    """`rank_agreement` of each prompt whose ratings differ: the order within a prompt is all that GRPO uses.

    A prompt whose ratings differ while its rewards do not counts 0.
    """
    values = (rank_agreement(*pair) for pair in zip(rewards, ratings, strict=True))
    return [value for value in values if value is not None]
