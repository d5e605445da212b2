"""Every statistic against a second method: scipy, full enumeration, hand-worked cases, or a property."""

import itertools
import math
from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from tucano.comparison import contrast
from tucano.presentation.numbers import p_value, possible
from tucano.statistics import inference as ours
from tucano.statistics import planning

tied = st.lists(st.integers(-4, 4).map(lambda value: value / 10), min_size=1, max_size=10)
spread = st.lists(st.floats(-1, 1, allow_nan=False), min_size=6, max_size=25)


def enumerated(differences: list[float], alternative: str) -> float:
    """p by trying all 2^m signs of the non-zero differences."""
    values = np.round(differences, 9)
    ranks = stats.rankdata(np.abs(values))
    seen = ranks[values > 0].sum()
    active = ranks[values != 0]
    sums = [sum(itertools.compress(active, signs)) for signs in itertools.product([0, 1], repeat=len(active))]
    extreme = [total >= seen - 1e-9 if alternative == "greater" else total <= seen + 1e-9 for total in sums]
    return float(np.mean(extreme))


@given(tied)
def test_signed_rank_is_the_full_enumeration_with_ties_and_zeros(differences: list[float]) -> None:
    assert ours.signed_rank(differences) == pytest.approx(enumerated(differences, "greater"), abs=1e-12)
    assert ours.signed_rank(differences, "less") == pytest.approx(enumerated(differences, "less"), abs=1e-12)


@pytest.mark.parametrize("n", [5, 20, 50])
def test_signed_rank_is_scipys_exact_test_without_ties(n: int) -> None:
    differences = np.random.default_rng(n).normal(0.2, 1, n)
    greater, less = (
        stats.wilcoxon(differences, alternative=alternative, method="exact").pvalue
        for alternative in ("greater", "less")
    )
    found = ours.signed_rank(differences), ours.signed_rank(differences, "less")
    assert found == pytest.approx((greater, less), rel=1e-9)


def test_signed_rank_by_hand() -> None:
    assert ours.signed_rank([0.0, 0.0, 0.0]) == 1.0
    assert ours.signed_rank([0.1, 0.2, 0.3, 0.4, 0.5]) == 1 / 32
    assert ours.signed_rank([-0.1, -0.2, -0.3, -0.4, -0.5]) == 1.0
    assert ours.signed_rank([0.3, 0.1 + 0.2]) == 0.25  # a tie in spite of float noise


@given(st.lists(st.tuples(st.integers(-4, 4), st.sampled_from("abcd")), min_size=1, max_size=12))
def test_a_clustered_test_flips_each_cluster_as_a_whole(rows: list[tuple[int, str]]) -> None:
    differences, clusters = [value / 10 for value, _ in rows], [name for _, name in rows]
    ranks = np.sign(differences) * stats.rankdata(np.abs(differences))
    sums = [
        sum(rank for rank, name in zip(ranks, clusters, strict=True) if name == one) for one in sorted(set(clusters))
    ]
    seen = [sum(flips) for flips in itertools.product(*((total, -total) for total in sums))]
    expected = np.mean([total >= ranks.sum() - 1e-9 for total in seen])
    assert ours.signed_rank(differences, clusters=clusters) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("clusters", [["a"] * 6, ["a", "b"] * 3])
def test_one_template_or_two_tell_nothing_of_others_however_many_prompts_they_have(clusters: list[str]) -> None:
    gains = [0.1, 0.3, 0.2, 0.1, 0.2, 0.3]
    found = ours.mean_t(gains, clusters)
    assert (found.p, found.low, found.high) == (1.0, -1.0, 1.0)
    assert ours.hodges_lehmann(gains, clusters=clusters)[1:] == (-1.0, 1.0)


def test_the_clustered_interval_is_what_the_clustered_test_does_not_reject() -> None:
    rng = np.random.default_rng(5)
    clusters = rng.integers(0, 14, 40).tolist()
    differences = rng.normal(0.1, 0.2, 40) + np.asarray(clusters) / 100
    estimate, low, high = ours.hodges_lehmann(differences, clusters=clusters)
    assert low < estimate < high
    for centre, kept in ((low - 1e-6, False), (low + 1e-6, True), (high - 1e-6, True), (high + 1e-6, False)):
        sides = (ours.signed_rank(differences - centre, side, clusters) for side in get_args(ours.Alternative))
        assert (min(sides) > 0.025) == kept


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        ours.signed_rank([0.1, math.nan])
    with pytest.raises(ValueError, match="non-empty"):
        ours.hodges_lehmann([])
    for ask in (ours.two_way_t, ours.new_seed):
        with pytest.raises(ValueError, match="finite"):
            ask([[0.1, 0.2, math.nan], [0.1, 0.2, 0.3]])


def test_hodges_lehmann_by_hand_and_against_the_published_table() -> None:
    # n = 6: P(W = 0) = 1/64 <= .025 < P(W <= 1) = 2/64, so the 95 % interval runs from the smallest to the largest Walsh average.
    estimate, low, high = ours.hodges_lehmann([1, 2, 3, 4, 5, 9])
    assert (low, high) == (1, 9)
    assert estimate == 3.5
    # n = 10: the two-sided 5 % critical value is 8 (any table), so the ends are the 9th smallest and 9th largest average.
    values = np.random.default_rng(3).normal(size=10)
    walsh = sorted((values[i] + values[j]) / 2 for i in range(10) for j in range(i, 10))
    assert ours.hodges_lehmann(values)[1:] == pytest.approx((walsh[8], walsh[-9]), abs=1e-8)


def test_five_differences_get_a_t_interval() -> None:
    values = [0.1, 0.2, 0.3, 0.4, 0.5]
    expected = stats.t.interval(0.95, 4, loc=np.mean(values), scale=stats.sem(values))
    assert ours.hodges_lehmann(values)[1:] == pytest.approx(expected)


@given(spread)
def test_the_interval_is_what_the_exact_test_does_not_reject(differences: list[float]) -> None:
    estimate, low, high = ours.hodges_lehmann(differences)
    assert low <= estimate <= high
    jittered = np.asarray(differences) + np.linspace(0, 1e-3, len(differences))  # no ties: then both are exact
    _, low, high = ours.hodges_lehmann(jittered)
    assert ours.signed_rank(jittered - (low - 1e-6)) <= 0.025 + 1e-12
    assert ours.signed_rank(jittered - (high + 1e-6), "less") <= 0.025 + 1e-12


def test_two_way_by_hand() -> None:
    # Rows are prompts, columns seeds. Row means 1, 3; column means 1, 2, 3; mean 2; no residual.
    result = ours.two_way_t([[0, 1, 2], [2, 3, 4]])
    assert result is not None
    # MS_prompt = 3 * (1 + 1) / 1 = 6, MS_seed = 2 * (1 + 0 + 1) / 2 = 2, MS_residual = 0; Var = 8 / 6; df = 64 / (36/1
    # + 4/2)
    assert result.mean == 2
    assert result.se == pytest.approx(math.sqrt(8 / 6))
    assert result.df == pytest.approx(64 / 38)
    assert result.p == pytest.approx(stats.t.sf(2 / math.sqrt(8 / 6), 64 / 38))


@given(arrays(np.float64, st.tuples(st.integers(4, 9), st.integers(3, 5)), elements=st.floats(-1, 1)), st.data())
def test_one_new_seed_is_never_better_known_than_the_mean_over_seeds(table: ours.Floats, data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from("abc"), min_size=len(table), max_size=len(table)))
    clusters = ["a", "b", *names[2:]]
    mean, one = ours.two_way_t(table, clusters=clusters), ours.new_seed(table, clusters=clusters)
    assert mean is not None and one is not None
    assert one[0] <= mean.low + 1e-12 and mean.high <= one[1] + 1e-12


def test_one_template_says_nothing_about_others() -> None:
    assert ours.two_way_t(np.ones((65, 3)), clusters=["a"] * 65) is None
    assert ours.new_seed(np.ones((65, 3)), clusters=["a"] * 65) is None


def test_with_few_clusters_the_typical_gain_lies_in_its_interval() -> None:
    gains = ([0.0] * 8 + [0.7] * 2) * 5  # five templates that are all alike: eight of ten prompts do not change
    clusters = [index // 10 for index in range(50)]
    assert ours.hodges_lehmann(gains, clusters=clusters) == pytest.approx((0.14, -1, 1))


@pytest.mark.parametrize("size", [1, 2, 20])
def test_with_templates_two_way_keeps_its_level_and_a_new_seed_is_foreseen(size: int) -> None:
    rng = np.random.default_rng(12)
    clusters = [index // size for index in range(10 * size)]
    rejected, held = 0, 0
    for _ in range(600):
        prompts = rng.normal(0, 0.1, 10)[clusters] + rng.normal(0, 0.1, 10 * size)
        table = prompts[:, None] + rng.normal(0, 0.02, (1, 5)) + rng.normal(0, 0.1, (10 * size, 5))
        result, one = ours.two_way_t(table, clusters=clusters), ours.new_seed(table, clusters=clusters)
        assert result is not None and one is not None
        rejected += result.p < 0.05
        held += one[0] <= rng.normal(0, 0.02) <= one[1]
    assert rejected / 600 < 0.077 and held / 600 > 0.93  # 5 and 95 % with three standard errors


def test_no_p_is_nothing() -> None:
    """Half to the power of 1,100 is 7e-332, which no float holds; of 900 it is one."""
    assert ours.signed_rank([0.1] * 1_100) == ours.signed_rank([-0.1] * 1_100, "less") == 1e-300
    assert ours.signed_rank([0.1] * 900) == pytest.approx(2.0**-900)
    assert ours.mean_t([0.1 + 1e-8 * one for one in range(200)]).p == 1e-300
    assert ours.holm({"a": ours.signed_rank([0.1] * 1_100), "b": 1.0})["a"] == pytest.approx(2e-300)
    assert p_value(ours.signed_rank([0.1] * 1_100)) == "< 0.0001"


def test_rewards_that_never_differ_say_nothing() -> None:
    same = contrast.effect([0.5] * 8, [0.5] * 8, 0.05)
    assert (same.p, same.low, same.high, same.mean_low, same.mean_high) == (1.0, -1.0, 1.0, -1.0, 1.0)
    assert same.gain == same.estimate == 0
    assert possible(same.low, same.high) is None, "what is printed then is no interval"


NOTHING = (0.0, 1.0, -1.0, 1.0)
"""Standard error, p and interval of a mean of which Student's t says nothing."""


def said(mean: ours.Mean | None) -> tuple[float, float, float, float]:
    assert mean is not None
    return mean.se, mean.p, mean.low, mean.high


def test_students_t_says_nothing_of_a_spread_that_it_did_not_see() -> None:
    """Three prompts that all gain .25 had p 1e-300 and an interval of width 0."""
    assert said(ours.mean_t([0.25] * 3)) == said(ours.mean_t([0.3, 0.1 + 0.2, 0.3])) == NOTHING
    assert ours.mean_t([0.25] * 3).mean == 0.25 and said(ours.mean_t([-0.25] * 40)) == NOTHING
    assert said(ours.mean_t([0.1, 0.3] * 3, ["a", "a", "b", "b", "c", "c"])) == NOTHING, "each template gains .2"
    constant, noise = np.full((5, 3), 0.25), np.full((5, 3), 0.1) + np.eye(5, 3) * 1e-17
    for table in (constant, noise, np.zeros((5, 3))):
        assert said(ours.two_way_t(table)) == NOTHING and ours.new_seed(table) == (-1, 1)
    templates = np.repeat([[0.1], [0.3]] * 2, 3, axis=1)
    assert said(ours.two_way_t(templates, clusters="aabb")) == NOTHING
    assert ours.new_seed(templates, clusters="aabb") == (-1, 1)
    # The exact test needs no spread: n equal gains have one of 2^n signs. An interval does.
    assert ours.signed_rank([0.25] * 6) == 1 / 64
    for count in (5, 6, 40):
        assert ours.hodges_lehmann([0.25] * count) == (0.25, -1, 1)


def test_an_interval_without_width_claims_nothing() -> None:
    """Most prompts did not change: the mean gain is .05, and every Walsh average near the middle is 0."""
    gains = [0.0] * 45 + [0.5] * 5
    assert ours.hodges_lehmann(gains) == ours.hodges_lehmann(gains, clusters=range(50)) == (0.0, -1, 1)


def test_seeds_that_agree_say_something_where_prompts_differ_and_prompts_where_seeds_do() -> None:
    # Gains .1, .2, .3: SE = .1 / sqrt 3, t = 2 sqrt 3; with two degrees of freedom p = 1/2 - t / (2 sqrt(2 + t^2)) =
    # 1/2 - sqrt(12 / 14) / 2, and the interval reaches 4.3027 SE = .24841 to both sides.
    table = np.repeat([[0.1], [0.2], [0.3]], 3, axis=1)
    for values in (table, table.T):
        mean = ours.two_way_t(values)
        assert mean is not None
        assert (mean.se, mean.df, mean.p) == pytest.approx((0.1 / math.sqrt(3), 2, 0.5 - math.sqrt(12 / 14) / 2))
        assert (mean.low, mean.high) == pytest.approx((0.2 - 0.24841, 0.2 + 0.24841), abs=1e-5)
    assert ours.new_seed(table) == pytest.approx((0.2 - 0.24841, 0.2 + 0.24841), abs=1e-5)
    # The seeds' own variance, .01, comes on top: 4.3027 sqrt(.01 / 3 + .01) = .49683.
    assert ours.new_seed(table.T) == pytest.approx((0.2 - 0.49683, 0.2 + 0.49683), abs=1e-5)


def test_no_experiment_is_planned_without_a_spread() -> None:
    assert planning.prompts_needed(0.0, 0.25) is None
    assert planning.seeds_needed(ours.mean_squares(np.full((5, 3), 0.25)), 0.25) is None
    assert planning.seeds_needed(ours.mean_squares(np.full((5, 3), 0.1) + np.eye(5, 3) * 1e-17), 0.1) is None
    found = contrast.effect([0.75] * 8, [0.5] * 8, 0.05)
    assert (found.p, found.p_mean, found.mean_low, found.mean_high, found.detectable) == (1 / 256, 1.0, -1.0, 1.0, None)
    assert (found.estimate, found.low, found.high) == (0.25, -1.0, 1.0)
    noise = contrast.effect([0.1 + 0.2] * 8, [0.3] * 8, 0.05)
    assert (noise.mean_low, noise.mean_high, noise.detectable) == (-1.0, 1.0, None)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=20))
def test_spearman_is_scipys_and_zero_for_a_constant(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert ours.spearman(first, second) == 0.0
    else:
        assert ours.spearman(first, second) == pytest.approx(stats.spearmanr(first, second).statistic)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("ask", [ours.spearman, ours.rank_agreement])
def test_what_is_no_number_has_no_rank(ask: Callable[[list[float], list[float]], object], bad: float) -> None:
    for pair in (([1.0, bad], [1.0, 2.0]), ([1.0, 2.0], [1.0, bad])):
        with pytest.raises(ValueError, match="finite"):
            ask(*pair)


def test_agreement_within_prompts_skips_constant_ratings_and_counts_constant_rewards_as_zero() -> None:
    rewards = [[0.1, 0.2, 0.3], [0.5, 0.5, 0.5], [0.9, 0.2, 0.4]]
    assert ours.within_prompts(rewards, [[1, 2, 3], [1, 2, 3], [4, 4, 4]]) == pytest.approx([1.0, 0.0])
