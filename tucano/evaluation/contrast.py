"""One arm against another over the same prompts: the tests and the effects, overall and per task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from tucano.evaluation import statistics
from tucano.evaluation.answers import Decoding, Measure
from tucano.evaluation.statistics import TwoWay


@dataclass(frozen=True, slots=True)
class Effect:
    """`arm - reference` over `n` prompts.

    `p`: exact one-sided signed-rank, arm better; `p_worse`: arm worse; the two after Holm are over the tasks, None overall.
    `estimate`, `low`, `high`: Hodges-Lehmann with its 95 % interval. `gain` is the plain mean, for description only.
    `detectable`: the smallest true gain that n prompts of this spread show with 80 % power.
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


@dataclass(frozen=True, slots=True)
class Contrast:
    """An arm (the seeds together, or one arm) against a reference, in one decoding and by one measure.

    `seeds` holds each seed's mean gain by task and "overall"; `configuration` is the prompt x seed test, None: not assessable.
    """

    arm: str
    reference: str
    decoding: Decoding
    measure: Measure
    overall: Effect
    tasks: dict[str, Effect]
    seeds: dict[str, dict[str, float]]
    configuration: TwoWay | None

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        configuration = record["configuration"]
        parts = {
            "overall": Effect(**record["overall"]),
            "tasks": {task: Effect(**effect) for task, effect in record["tasks"].items()},
            "configuration": TwoWay(**configuration) if configuration else None,
        }
        return cls(**(record | parts))


def effect(arm: Sequence[float], reference: Sequence[float], alpha: float) -> Effect:
    """The effect of paired per-prompt means (two pairs or more)."""
    differences = np.subtract(arm, reference)
    estimate, low, high = statistics.hodges_lehmann(differences)
    reference_mean, gain = float(np.mean(reference)), float(differences.mean())
    return Effect(
        n=len(differences),
        arm_mean=float(np.mean(arm)),
        reference_mean=reference_mean,
        gain=gain,
        gain_percent=100 * gain / reference_mean if reference_mean > 0 else None,
        p=statistics.signed_rank(differences),
        p_worse=statistics.signed_rank(differences, "less"),
        p_holm=None,
        p_worse_holm=None,
        estimate=estimate,
        low=low,
        high=high,
        rank_biserial=statistics.rank_biserial(differences),
        detectable=statistics.smallest_detectable(len(differences), float(differences.std(ddof=1)), alpha),
    )


def contrast(
    arm: str,
    members: Mapping[str, Mapping[str, float]],
    reference: tuple[str, Mapping[str, float]],
    tasks: Mapping[str, Sequence[str]],
    alpha: float,
    decoding: Decoding,
    measure: Measure,
) -> Contrast:
    """Contrast the mean of `members` ({arm: {prompt id: value}}) with a reference; `tasks` names the prompt ids of each task."""
    below, ids = reference[1], [prompt for prompts in tasks.values() for prompt in prompts]

    def effect_on(prompts: Sequence[str]) -> Effect:
        means = [float(np.mean([values[prompt] for values in members.values()])) for prompt in prompts]
        return effect(means, [below[prompt] for prompt in prompts], alpha)

    def gain(values: Mapping[str, float], prompts: Sequence[str]) -> float:
        return float(np.mean([values[prompt] - below[prompt] for prompt in prompts]))

    table = np.array([[values[prompt] - below[prompt] for values in members.values()] for prompt in ids])
    return Contrast(
        arm=arm,
        reference=reference[0],
        decoding=decoding,
        measure=measure,
        overall=effect_on(ids),
        tasks=with_holm({task: effect_on(prompts) for task, prompts in tasks.items()}),
        seeds={
            name: {"overall": gain(values, ids)} | {task: gain(values, prompts) for task, prompts in tasks.items()}
            for name, values in members.items()
        },
        configuration=statistics.two_way_t(table),
    )


def with_holm(tasks: Mapping[str, Effect]) -> dict[str, Effect]:
    """The effects with both one-sided p values adjusted over the tasks."""
    better = statistics.holm({task: effect.p for task, effect in tasks.items()})
    worse = statistics.holm({task: effect.p_worse for task, effect in tasks.items()})
    return {task: replace(effect, p_holm=better[task], p_worse_holm=worse[task]) for task, effect in tasks.items()}
