"""The statistics against statsmodels, scipy and brute force, on random, tied, zero-heavy and tiny inputs."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from tucano.statistics import inference as ours
from tucano.statistics import planning

RNG = np.random.default_rng(20261121)
INPUTS = {
    "random": RNG.normal(0.1, 1, 40),
    "tied": RNG.integers(-3, 5, 40) / 10,
    "zero-heavy": RNG.normal(0.1, 1, 40) * (RNG.random(40) < 0.2),
    "tiny": np.array([0.1, -0.2, 0.4]),
}
each = pytest.mark.parametrize("name", INPUTS)


@each
def test_mean_t_is_scipys_interval_and_test(name: str) -> None:
    values, found = INPUTS[name], ours.mean_t(INPUTS[name])
    expected = stats.ttest_1samp(values, 0, alternative="greater")
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(stats.ttest_1samp(values, 0).confidence_interval(0.95)))


@each
def test_mean_t_of_clusters_is_the_intercept_of_statsmodels_ols(name: str) -> None:
    values = INPUTS[name]
    clusters = np.arange(len(values)) % (3 if name == "tiny" else 7)
    found = ours.mean_t(values, clusters.tolist())
    fit = sm.OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    assert (found.mean, found.se, found.df) == pytest.approx((fit.params[0], fit.bse[0], fit.df_resid_inference))
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int()[0]))


@pytest.mark.parametrize("shape", [(65, 3), (12, 5), (2, 3)])
def test_mean_squares_are_statsmodels_analysis_of_variance(shape: tuple[int, int]) -> None:
    table = RNG.normal(size=shape) + RNG.normal(size=(shape[0], 1))
    rows = [(prompt, seed, table[prompt, seed]) for prompt in range(shape[0]) for seed in range(shape[1])]
    fitted = ols("y ~ C(prompt) + C(seed)", pd.DataFrame(rows, columns=["prompt", "seed", "y"])).fit()
    expected = anova_lm(fitted)["mean_sq"]
    found = ours.mean_squares(table)
    assert (found.prompt, found.seed, found.residual) == pytest.approx(tuple(expected))


def test_mean_squares_of_clusters_are_the_two_way_robust_variance_by_loops() -> None:
    """Cameron, Gelbach & Miller 2011, equation 2.11, with the two main effects taken out of the cells' part."""
    prompts, seeds, groups = 12, 4, 5
    clusters = [index % groups for index in range(prompts)]
    table = RNG.normal(size=(prompts, seeds)) + RNG.normal(size=groups)[clusters][:, None]
    mean = table.mean()
    of_groups = sum(
        sum(table[i, s] - mean for i in range(prompts) for s in range(seeds) if clusters[i] == group) ** 2
        for group in range(groups)
    )
    of_seeds = sum(sum(table[i, seed] - mean for i in range(prompts)) ** 2 for seed in range(seeds))
    of_cells = sum(
        sum(table[i, s] - table[i].mean() - table[:, s].mean() + mean for i in range(prompts) if clusters[i] == group)
        ** 2
        for group in range(groups)
        for s in range(seeds)
    )
    cells = prompts * seeds
    variance = (
        groups / (groups - 1) * of_groups
        + seeds / (seeds - 1) * of_seeds
        - groups * seeds / ((groups - 1) * (seeds - 1)) * of_cells
    ) / cells**2
    found = ours.mean_squares(table, clusters)
    assert (found.prompt + found.seed - found.residual) / cells == pytest.approx(variance)


def test_holm_is_statsmodels_holm() -> None:
    values = RNG.random(6)
    adjusted = ours.holm({str(index): value for index, value in enumerate(values)})
    assert list(adjusted.values()) == pytest.approx(multipletests(values, method="holm")[1])


@each
def test_rank_biserial_is_brute_force_over_all_pairs(name: str) -> None:
    """A prompt's mid-rank counts the prompts below it and half of those level with it, itself included, plus a half."""
    values = np.round(INPUTS[name], 9)
    sizes = np.abs(values)
    ranks = np.array([(sizes < size).sum() + (sizes == size).sum() / 2 + 0.5 for size in sizes])
    expected = (ranks[values > 0].sum() - ranks[values < 0].sum()) / ranks.sum()
    assert ours.rank_biserial(values) == pytest.approx(expected)


@pytest.mark.parametrize("n", [15, 65])
def test_smallest_detectable_is_statsmodels_power_at_the_effective_n(n: int) -> None:
    power = TTestPower().power(ours.smallest_detectable(n, 1.0), n * 3 / np.pi, 0.05, alternative="larger")
    assert power == pytest.approx(0.8, abs=1e-6)


def test_seeds_needed_have_their_power_in_a_simulation() -> None:
    prompt_sd, seed_sd, cell_sd, gain = 0.1, 0.05, 0.1, 0.06
    squares = ours.MeanSquares(  # expected mean squares of 65 prompts and 3 seeds
        3 * prompt_sd**2 + cell_sd**2, 65 * seed_sd**2 + cell_sd**2, cell_sd**2, 65, 3
    )
    seeds = planning.seeds_needed(squares, gain)
    assert seeds is not None and seeds > 3
    rng = np.random.default_rng(3)
    seen = 0
    for _ in range(400):
        parts = (
            rng.normal(0, prompt_sd, (65, 1))
            + rng.normal(0, seed_sd, (1, seeds))
            + rng.normal(gain, cell_sd, (65, seeds))
        )
        result = ours.two_way_t(parts)
        seen += result is not None and result.p < 0.05
    assert seen / 400 == pytest.approx(0.8, abs=0.08)
