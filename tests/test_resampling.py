"""The bootstrap by prompt, against resamples that are written out."""

import numpy as np
import pytest
from scipy import stats

from tucano.audit.resampling import draw_prompts, estimate, resampled_mean, resampled_spearman
from tucano.statistics.inference import spearman

OWNER = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])


def test_spearman_of_a_resample_is_that_of_the_completions_written_out() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.integers(0, 4, OWNER.size) / 4, rng.integers(1, 6, OWNER.size)
    counts = draw_prompts(3, 40, rng)
    written_out = [np.repeat(np.arange(OWNER.size), row[OWNER].astype(int)) for row in counts]
    expected = [spearman(first[places], second[places]) for places in written_out]
    assert resampled_spearman(first, second, counts, OWNER) == pytest.approx(expected)


def test_the_interval_of_a_mean_is_near_its_t_interval() -> None:
    values = np.random.default_rng(0).normal(0.5, 0.2, 60)
    found = estimate(float(values.mean()), resampled_mean(values, draw_prompts(60, 2_000, np.random.default_rng(7))))
    low, high = stats.t.interval(0.9, 59, values.mean(), stats.sem(values))
    assert (found.low, found.high) == (pytest.approx(low, abs=0.01), pytest.approx(high, abs=0.01))
