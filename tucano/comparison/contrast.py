"""One arm against another over the same prompts: the tests and the effects, overall and per task."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import ceil, sqrt

import numpy as np

from tucano.comparison.answers import Decoding, Measure, Values
from tucano.prompts import TASKS, Prompt
from tucano.statistics import inference as statistics
from tucano.statistics import planning
from tucano.statistics.inference import Floats, Mean

SMALLEST_REFERENCE = 0.1
"""A gain is given in percent of references from here on: of one near 0 (rewards lie in [0, 1]) any gain is thousands of
percent.
"""


@dataclass(frozen=True, slots=True)
class Effect:
    """`arm - reference` over `n` prompts.

    `p`: exact one-sided signed-rank, arm better; `p_worse`: arm worse; the two after Holm are over the tasks, None
    overall. Where prompts have clusters, all tests and intervals take those of one cluster together. `estimate`,
    `low`, `high`: Hodges-Lehmann with its 95 % interval. `gain` is the plain mean, `mean_low`,
    `mean_high` and `p_mean` are Student's t of it: where differences are skewed, the two speak of different things.
    Means are over all answers; ranks over as many of either side.
    `gain_percent` is None where the reference is too close to 0 for a percentage to mean anything. `unchanged`: prompts
    without any difference. `detectable`: the smallest true gain that prompts (or clusters) of this spread show with
    80 % power; None where so few can show none, or none differs from another.
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
    detectable: float | None
    mean_low: float
    mean_high: float
    p_mean: float
    unchanged: int

    @property
    def mean_is_assessable(self) -> bool:
        """Whether Student's t says anything: not where no prompt (or cluster) differs, nor of two clusters or one."""
        return (self.mean_low, self.mean_high) != statistics.UNKNOWN


@dataclass(frozen=True, slots=True)
class Contrast:
    """An arm (the seeds together, or one arm) against a reference, in one decoding and by one measure.

    `seeds` holds each seed's mean gain by task and "overall"; `configuration` is the prompt x seed test, None: not
    assessable: it speaks of the mean over all seeds; `new_seed` is where the mean gain of one more may lie (95 %
    prediction interval). `seeds_needed`: how many seeds would show the observed mean gain of the configuration with
    80 % power, `prompts_needed`: how many prompts (as many to a cluster as here) that of these adapters; None: unknown
    or out of reach.
    """

    arm: str
    reference: str
    decoding: Decoding
    measure: Measure
    overall: Effect
    tasks: dict[str, Effect]
    seeds: dict[str, dict[str, float]]
    configuration: Mean | None
    new_seed: tuple[float, float] | None = None
    seeds_needed: int | None = None
    prompts_needed: int | None = None


def effect(
    arm: Sequence[float],
    reference: Sequence[float],
    alpha: float,
    clusters: Sequence[str] | None = None,
    equal: tuple[Sequence[float], Sequence[float]] | None = None,
) -> Effect:
    """The effect of paired per-prompt means in [0, 1] (two pairs or more), so that no gain is above 1; `clusters` names
    what each prompt shares with others.

    `equal`: the means of both sides over as many answers, where one side has more. The mean of fewer is the more skewed
    one, so that differences would not be symmetric, as ranks need them, where nothing has changed; a mean of all
    answers is fair to both.
    """
    differences = np.subtract(arm, reference)
    unchanged = np.abs(differences) < 10**-statistics.DECIMALS
    ranked = np.subtract(*equal) if equal and not unchanged.all() else differences
    estimate, low, high = statistics.hodges_lehmann(ranked, clusters=clusters)
    mean = statistics.mean_t(differences, clusters)
    reference_mean = float(np.mean(reference))
    gain = float(differences.mean())
    return Effect(
        n=len(differences),
        arm_mean=float(np.mean(arm)),
        reference_mean=reference_mean,
        gain=gain,
        gain_percent=100 * gain / reference_mean if reference_mean >= SMALLEST_REFERENCE else None,
        p=statistics.signed_rank(ranked, clusters=clusters),
        p_worse=statistics.signed_rank(ranked, "less", clusters),
        p_holm=None,
        p_worse_holm=None,
        estimate=estimate,
        low=max(low, -1.0),
        high=min(high, 1.0),
        rank_biserial=statistics.rank_biserial(ranked),
        detectable=_detectable(ranked, clusters, alpha),
        mean_low=mean.low,
        mean_high=mean.high,
        p_mean=mean.p,
        unchanged=int(unchanged.sum()),
    )


def _units(differences: Floats, clusters: Sequence[str] | None) -> tuple[int, float]:
    """(how many independent units there are, prompts or clusters; the standard deviation of as many independent ones
    whose mean would be known as well as this one, 0 where none was seen).
    """
    units = len(set(clusters)) if clusters else len(differences)
    return units, statistics.mean_t(differences, clusters).se * sqrt(units)


def _detectable(differences: Floats, clusters: Sequence[str] | None, alpha: float) -> float | None:
    units, spread = _units(differences, clusters)
    return statistics.smallest_detectable(units, spread, alpha) if spread and 0.5**units <= alpha else None


def _prompts_needed(differences: Floats, clusters: Sequence[str] | None, gain: float, alpha: float) -> int | None:
    """With as many prompts to a cluster as here."""
    units, spread = _units(differences, clusters)
    needed = planning.prompts_needed(spread, gain, alpha)
    return None if needed is None else ceil(needed * len(differences) / units)


@dataclass(frozen=True, slots=True)
class Strata:
    """The prompts of a contrast: {task: prompt ids}, and {prompt id: what it shares with others of its cluster}.

    Without clusters prompts are taken for independent.
    """

    tasks: Mapping[str, Sequence[str]]
    clusters: Mapping[str, str] | None = None


def by_task(prompts: Sequence[Prompt], present: Container[str], smallest: int = 1) -> dict[str, list[str]]:
    """{task: ids of its prompts that are present}, tasks in their fixed order, those with fewer than `smallest` left
    out.
    """
    ids = {task: [prompt.id for prompt in prompts if prompt.task == task and prompt.id in present] for task in TASKS}
    return {task: found for task, found in ids.items() if len(found) >= smallest}


def clusters_of(prompts: Iterable[Prompt]) -> dict[str, str]:
    """{prompt id: the template that it shares with others, or itself}: the first part of `Prompt.template`."""
    return {prompt.id: f"{prompt.task} {prompt.template.partition('+')[0] or prompt.id}" for prompt in prompts}


def contrast(
    arm: str,
    members: Mapping[str, Values],
    reference: tuple[str, Values],
    strata: Strata,
    alpha: float,
    decoding: Decoding,
    measure: Measure,
) -> Contrast:
    """Contrast the mean of `members` with a reference. `alpha` is the level after all corrections, with which
    `detectable` and what a larger experiment needs are reckoned.

    The test over all prompts takes those of a cluster together; that of a task takes its prompts for independent, and
    so speaks of these templates alone: a task has too few of them.
    """
    tasks, clusters = strata.tasks, strata.clusters
    ids = [prompt for prompts in tasks.values() for prompt in prompts]
    equal = dict(zip(ids, zip(*sides(list(members.values()), reference[1], ids), strict=True), strict=True))
    below = {prompt: float(np.mean(reference[1][prompt])) for prompt in ids}
    above = {prompt: float(np.mean([np.mean(of[prompt]) for of in members.values()])) for prompt in ids}

    def effect_on(prompts: Sequence[str], shared: Sequence[str] | None = None) -> Effect:
        ours, theirs = zip(*(equal[prompt] for prompt in prompts), strict=True)
        arm_means = [above[prompt] for prompt in prompts]
        reference_means = [below[prompt] for prompt in prompts]
        return effect(arm_means, reference_means, alpha, shared, (ours, theirs))

    shares = {name: share(reference[1], members, name) for name in members}

    def gain(name: str, prompts: Sequence[str]) -> float:
        return float(np.mean([np.mean(members[name][prompt]) - np.mean(shares[name][prompt]) for prompt in prompts]))

    table = np.array([[float(np.mean(of[prompt])) - below[prompt] for of in members.values()] for prompt in ids])
    shared = [clusters[prompt] for prompt in ids] if clusters else None
    squares = statistics.mean_squares(table, shared) if table.shape[1] > 1 and len(set(shared or ids)) > 1 else None
    overall = effect_on(ids, shared)
    return Contrast(
        arm=arm,
        reference=reference[0],
        decoding=decoding,
        measure=measure,
        overall=overall,
        tasks=with_holm({task: effect_on(prompts) for task, prompts in tasks.items()}),
        seeds={
            name: {"overall": gain(name, ids)} | {task: gain(name, prompts) for task, prompts in tasks.items()}
            for name in members
        },
        configuration=statistics.two_way_t(table, clusters=shared),
        new_seed=statistics.new_seed(table, clusters=shared),
        seeds_needed=planning.seeds_needed(squares, overall.gain, alpha) if squares else None,
        prompts_needed=_prompts_needed(table.mean(axis=1), shared, overall.gain, alpha),
    )


def share(reference: Values, members: Mapping[str, Values], name: str) -> Values:
    """What one member alone is held against: its own part of a reference that has answered as often as all members
    together, so that the members' gains have the gain of all together as their mean; else the whole reference.
    """
    place = list(members).index(name)

    def part(prompt: str) -> Sequence[float]:
        theirs, count = reference[prompt], len(members[name][prompt])
        return theirs[place * count :][:count] if len(theirs) == count * len(members) else theirs

    return {prompt: part(prompt) for prompt in reference if prompt in members[name]}


def sides(members: Sequence[Values], reference: Values, prompts: Sequence[str]) -> tuple[list[float], list[float]]:
    """(means of the members together, means of the reference) per prompt, over equally many answers.

    Where the members have more answers in all, they give theirs in turn, another one first at each prompt.
    """
    above: list[float] = []
    below: list[float] = []
    for place, prompt in enumerate(prompts):
        ours = _in_turn([values[prompt] for values in members], place)
        theirs = reference[prompt]
        count = min(len(ours), len(theirs))
        above.append(float(np.mean(ours[:count])))
        below.append(float(np.mean(theirs[:count])))
    return above, below


def _in_turn(rows: Sequence[Sequence[float]], first: int) -> list[float]:
    turned = [rows[(first + place) % len(rows)] for place in range(len(rows))]
    return [value for values in zip_longest(*turned) for value in values if value is not None]


def with_holm(tasks: Mapping[str, Effect]) -> dict[str, Effect]:
    """The effects with both one-sided p values adjusted over the tasks."""
    better = statistics.holm({task: effect.p for task, effect in tasks.items()})
    worse = statistics.holm({task: effect.p_worse for task, effect in tasks.items()})
    return {task: replace(effect, p_holm=better[task], p_worse_holm=worse[task]) for task, effect in tasks.items()}
