"""Bootstrap by prompt, for all resamples at once: a resample is how often each prompt was drawn.

Completions of a prompt are not independent, so whole prompts are drawn (Efron & Tibshirani 1993, sections 8.5 and
13.3).
"""

from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from tucano.audit.report import Estimate
from tucano.statistics.inference import DECIMALS, Floats

Counts = NDArray[np.float64]
"""[resamples, prompts]: how often each prompt was drawn; every row sums to the number of prompts."""


def draw_prompts(prompts: int, resamples: int, rng: np.random.Generator) -> Counts:
    """Resamples of so many prompts, with replacement."""
    draws = rng.integers(prompts, size=(resamples, prompts)) + prompts * np.arange(resamples)[:, None]
    return np.bincount(draws.ravel(), minlength=resamples * prompts).reshape(resamples, prompts).astype(np.float64)


def resampled_mean(values: ArrayLike, counts: Counts) -> Floats:
    """The mean of one value per prompt in each resample: [resamples]."""
    means: Floats = counts @ np.asarray(values, dtype=np.float64) / counts.shape[1]
    return means


def resampled_spearman(first: ArrayLike, second: ArrayLike, counts: Counts, owner: ArrayLike) -> Floats:
    """Spearman's rho over all completions in each resample: [resamples]; 0 where one side is constant.

    `first` and `second` hold one value per completion, `owner` the place of its prompt.
    """
    weights = counts[:, np.asarray(owner)]
    sides = [_centred_ranks(side, weights) for side in (first, second)]
    scale = np.sqrt((weights * sides[0] ** 2).sum(axis=1) * (weights * sides[1] ** 2).sum(axis=1))
    covariance = (weights * sides[0] * sides[1]).sum(axis=1)
    return np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)


def _centred_ranks(values: ArrayLike, weights: Floats) -> Floats:
    """Mid-ranks [resamples, completions] of values of which each stands `weights` times, less their mean."""
    distinct, place = np.unique(np.round(np.asarray(values, dtype=np.float64), DECIMALS), return_inverse=True)
    drawn = weights @ np.eye(distinct.size)[place]
    middle = np.cumsum(drawn, axis=1) - (drawn - 1) / 2
    ranks: Floats = middle[:, place] - (weights.sum(axis=1, keepdims=True) + 1) / 2
    return ranks


def estimate(value: float, resampled: Floats) -> Estimate:
    """A statistic with the 5 % and 95 % quantiles of its resamples (percentile bootstrap)."""
    ordered = np.sort(resampled)
    low, high = (float(ordered[max(0, ceil(share * resampled.size) - 1)]) for share in (0.05, 0.95))
    return Estimate(value, low, high)


MOST_CERTAIN = 0.99
"""Few prompts cannot tell a larger correlation from a perfect one."""


def estimate_of_few(value: float, resampled: Floats, prompts: int, fitted: int) -> Estimate:
    """A correlation over few prompts with its 90 % interval: Student's t in Fisher's z, in which a correlation is
    nearly normal (Fisher 1921).

    Quantiles of resamples are too narrow with few prompts, and lean up where a correlation is high. `fitted`: the
    numbers that were worked out of these prompts, the correlation itself and the weight of what helps it.
    """
    freedom = prompts - fitted
    centre, around = (np.arctanh(np.clip(side, -MOST_CERTAIN, MOST_CERTAIN)) for side in (value, resampled))
    reach = stats.t.ppf(0.95, freedom) * around.std() * (prompts / freedom) ** 0.5
    low, high = (float(np.tanh(centre + side)) for side in (-reach, reach))
    return Estimate(value, min(low, value), max(high, value))
