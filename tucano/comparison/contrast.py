"""One arm against another over the same prompts: the tests and the effects, overall and per task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tucano.comparison.answers import Decoding, Measure
from tucano.statistics import inference as statistics
from tucano.statistics import planning
from tucano.statistics.inference import Mean

SMALLEST_REFERENCE = 0.1
"""A gain is given in percent of references from here on: of one near 0 (rewards lie in [0, 1]) any gain is thousands of
percent.
"""


@dataclass(frozen=True, slots=True)
class Effect:
    """`arm - reference` over `n` prompts.

    `p`: exact one-sided signed-rank, arm better; `p_worse`: arm worse; the two after Holm are over the tasks, None
    overall. `estimate`, `low`, `high`: Hodges-Lehmann with its 95 % interval. `gain` is the plain mean, `mean_low`,
    `mean_high` and `p_mean` are Student's t of it: where differences are skewed, the two speak of different things.
    `gain_percent` is None where the reference is too close to 0 for a percentage to mean anything. `unchanged`: prompts
    without any difference. `detectable`: the smallest true gain that n prompts of this spread show with 80 % power.
    """

    n: int
    arm_mean: float
    reference_mean: float
    gain: float
    gain_percent: float | None
    p: float
    p_worse: float
    p_holm: float | None
    p_worse_holm: float | None
    estimate: float
    low: float
    high: float
    rank_biserial: float
    detectable: float
    mean_low: float
    mean_high: float
    p_mean: float
    unchanged: int


@dataclass(frozen=True, slots=True)
class Contrast:
    """An arm (the seeds together, or one arm) against a reference, in one decoding and by one measure.

    `seeds` holds each seed's mean gain by task and "overall"; `configuration` is the prompt x seed test, None: not
    assessable. `clustered`: the mean gain when prompts of one template are not independent; `seeds_needed`: how many
    seeds would show the observed mean gain of the configuration with 80 % power, `prompts_needed`: how many prompts
    that of these adapters; None: unknown or out of reach.
    """

    arm: str
    reference: str
    decoding: Decoding
    measure: Measure
    overall: Effect
    tasks: dict[str, Effect]
    seeds: dict[str, dict[str, float]]
    configuration: Mean | None
    clustered: Mean | None = None
    seeds_needed: int | None = None
    prompts_needed: int | None = None


def effect(arm: Sequence[float], reference: Sequence[float], alpha: float) -> Effect:
    """The effect of paired per-prompt means (two pairs or more)."""
    differences = np.subtract(arm, reference)
    estimate, low, high = statistics.hodges_lehmann(differences)
    mean = statistics.mean_t(differences)
    reference_mean = float(np.mean(reference))
    gain = float(differences.mean())
    return Effect(
        n=len(differences),
        arm_mean=float(np.mean(arm)),
        reference_mean=reference_mean,
        gain=gain,
        gain_percent=100 * gain / reference_mean if reference_mean >= SMALLEST_REFERENCE else None,
        p=statistics.signed_rank(differences),
        p_worse=statistics.signed_rank(differences, "less"),
        p_holm=None,
        p_worse_holm=None,
        estimate=estimate,
        low=low,
        high=high,
        rank_biserial=statistics.rank_biserial(differences),
        detectable=statistics.smallest_detectable(len(differences), float(differences.std(ddof=1)), alpha),
        mean_low=mean.low,
        mean_high=mean.high,
        p_mean=mean.p,
        unchanged=int((np.abs(differences) < 10**-statistics.DECIMALS).sum()),
    )


@dataclass(frozen=True, slots=True)
class Strata:
    """The prompts of a contrast: {task: prompt ids}, and {prompt id: what it shares with others of its cluster}.

    Without clusters prompts are taken for independent.
    """

    tasks: Mapping[str, Sequence[str]]
    clusters: Mapping[str, str] | None = None


def contrast(
    arm: str,
    members: Mapping[str, Mapping[str, float]],
    reference: tuple[str, Mapping[str, float]],
    strata: Strata,
    alpha: float,
    decoding: Decoding,
    measure: Measure,
) -> Contrast:
    """Contrast the mean of `members` ({arm: {prompt id: value}}) with a reference."""
    tasks, clusters = strata.tasks, strata.clusters
    below = reference[1]
    ids = [prompt for prompts in tasks.values() for prompt in prompts]

    def effect_on(prompts: Sequence[str]) -> Effect:
        means = [float(np.mean([values[prompt] for values in members.values()])) for prompt in prompts]
        return effect(means, [below[prompt] for prompt in prompts], alpha)

    def gain(values: Mapping[str, float], prompts: Sequence[str]) -> float:
        return float(np.mean([values[prompt] - below[prompt] for prompt in prompts]))

    table = np.array([[values[prompt] - below[prompt] for values in members.values()] for prompt in ids])
    squares = statistics.mean_squares(table) if min(table.shape) > 1 else None
    means, overall = table.mean(axis=1), effect_on(ids)
    return Contrast(
        arm=arm,
        reference=reference[0],
        decoding=decoding,
        measure=measure,
        overall=overall,
        tasks=with_holm({task: effect_on(prompts) for task, prompts in tasks.items()}),
        seeds={
            name: {"overall": gain(values, ids)} | {task: gain(values, prompts) for task, prompts in tasks.items()}
            for name, values in members.items()
        },
        configuration=statistics.two_way_t(table),
        clustered=statistics.clustered_t(means, [clusters[prompt] for prompt in ids]) if clusters else None,
        seeds_needed=planning.seeds_needed(squares, overall.gain, alpha) if squares else None,
        prompts_needed=planning.prompts_needed(float(means.std(ddof=1)), overall.gain, alpha),
    )


def with_holm(tasks: Mapping[str, Effect]) -> dict[str, Effect]:
    """The effects with both one-sided p values adjusted over the tasks."""
    better = statistics.holm({task: effect.p for task, effect in tasks.items()})
    worse = statistics.holm({task: effect.p_worse for task, effect in tasks.items()})
    return {task: replace(effect, p_holm=better[task], p_worse_holm=worse[task]) for task, effect in tasks.items()}
