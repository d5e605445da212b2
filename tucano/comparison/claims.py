"""What may be claimed: the facts behind a verdict, before any word is chosen.

Two claims are never mixed: that *these adapters* beat the reference, and that the *configuration* would with a new
seed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from tucano.comparison.contrast import Contrast
from tucano.comparison.forgetting import Forgetting
from tucano.presentation.numbers import possible
from tucano.statistics.inference import holm

Claim = Literal["supported", "not supported", "not assessable"]
WHOLE = "overall"
PRINTED = 3
"""Decimals of a reward where people read it."""


@dataclass(frozen=True, slots=True)
class StudyContext:
    """What a reader has to know beside the numbers.

    `looks`: how often this test set has judged, this time included; `planned`: the analysis was written down before
    training, as it is now; `candidate`: the seed that would be promoted, alone; `forgetting`: ordinary Portuguese
    against earlier arms; `unmoved`: the seeds whose best adapter is the one that they began with; `public`: the seeds
    against earlier arms on benchmarks that others wrote, each with that benchmark as its only task.
    """

    looks: int = 1
    planned: bool = True
    candidate: Contrast | None = None
    forgetting: tuple[Forgetting, ...] = ()
    unmoved: tuple[str, ...] = ()
    public: tuple[Contrast, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """What a verdict says before any word is chosen; see `Verdict`. `fallen`: `truth_falls` of what improved. `base`:
    how the trained adapters stand to the base model, where that is not the reference and no gain over it is shown.
    """

    improved: bool
    worse: bool
    configuration: Claim
    fallen: tuple[str, ...]
    cautions: tuple[str, ...]
    open_by_reward: tuple[str, ...] = ()
    open_by_truth: tuple[str, ...] = ()
    open_as_served: tuple[str, ...] = ()
    unmoved: tuple[str, ...] = ()
    base: Contrast | None = None

    @property
    def hacking(self) -> bool:
        return bool(self.fallen)


def improved(reward: Contrast, alpha: float, looks: int) -> bool:
    """The primary test passed, corrected for all looks at the test set (Bonferroni). A falling mean is never called
    better, though the signed-rank test can say so of skewed differences.
    """
    return looks * reward.overall.p < alpha and reward.overall.gain > 0


def worsened(reward: Contrast, alpha: float, looks: int) -> bool:
    """The same of a drop."""
    return looks * reward.overall.p_worse < alpha and reward.overall.gain < 0


def of_configuration(reward: Contrast, alpha: float, looks: int) -> Claim:
    """What holds in the mean over seeds, which is claimed only of adapters that did improve."""
    if reward.configuration is None:
        return "not assessable"
    shown = improved(reward, alpha, looks) and looks * reward.configuration.p < alpha
    return "supported" if shown else "not supported"


def task_gains(reward: Contrast, alpha: float, looks: int) -> dict[str, bool]:
    """{task whose gain counts after Holm: whether it is claimed}: only when the whole improved, and corrected for
    looks.
    """
    whole = improved(reward, alpha, looks)
    return {
        task: whole and looks * after_holm(effect.p_holm) < alpha
        for task, effect in reward.tasks.items()
        if after_holm(effect.p_holm) < alpha and effect.gain > 0
    }


def task_drops(reward: Contrast, alpha: float) -> tuple[str, ...]:
    """The tasks whose drop counts after Holm. Looks do not soften it: it keeps a model from being promoted."""
    return tuple(
        task for task, effect in reward.tasks.items() if after_holm(effect.p_worse_holm) < alpha and effect.gain < 0
    )


def confirmed(truth: Contrast, alpha: float, margin: float) -> bool:
    """Whether the ground truth is shown to have fallen by less than the margin, if at all; where its typical prompt
    falls it is not, though the mean rises. Where Student's t says nothing of the mean, as all prompts change alike, an
    exact rise does; so does a margin of 1, as no mean falls by more.
    """
    overall = truth.overall
    within = overall.mean_low >= -margin if overall.mean_is_assessable else overall.p < alpha or margin == 1
    return within and overall.p_worse >= alpha


def open_tasks(reward: Contrast, beside: Contrast, alpha: float, looks: int) -> tuple[str, ...]:
    """The tasks of the primary contrast on which one (itself, by truth, as served) shows no gain of its own: after Holm
    and all looks. Tasks that it does not hold have none either.
    """

    def shown(task: str) -> bool:
        effect = beside.tasks.get(task)
        return effect is not None and effect.gain > 0 and looks * after_holm(effect.p_holm) < alpha

    return tuple(task for task in reward.tasks if not shown(task))


def truth_falls(reward: Contrast, truth: Contrast, alpha: float) -> tuple[str, ...]:
    """Where the ground truth falls: `WHOLE`, and (Holm over the tasks) the tasks whose reward rose. As with the reward,
    ranks alone make no rise and no fall of a mean that says the opposite.
    """
    rose = {task for task, effect in reward.tasks.items() if after_holm(effect.p_holm) < alpha and effect.gain > 0}
    whole = (WHOLE,) if worsened(truth, alpha, 1) else ()
    return whole + tuple(task for task in task_drops(truth, alpha) if task in rose)


def cautions(reward: Contrast, alpha: float, around: StudyContext) -> Iterable[str]:
    """The names of the sentences that weaken the claim."""
    overall = reward.overall
    if overall.unchanged == overall.n:
        yield "identical"
    if overall.p < alpha <= overall.p_mean and overall.mean_is_assessable:
        yield "skewed"
    if overall.p_worse < alpha <= 1 - overall.p_mean:
        yield "skewed drop"
    if (overall.p >= alpha and round(overall.low, PRINTED) > 0) or (
        overall.p_worse >= alpha and round(overall.high, PRINTED) < 0
    ):
        yield "interval"  # with so few templates that the exact test can hardly say anything
    if _at_the_limit(reward, alpha, around.looks):
        yield "limit"
    if around.looks > 1:
        yield "looks"
    if not around.planned:
        yield "unplanned"
    if any(found.established(alpha) for found in around.forgetting):
        yield "forgot"
    if lost(around.public, alpha):
        yield "lost public"


def lost(public: Sequence[Contrast], alpha: float) -> tuple[Contrast, ...]:
    """Those on benchmarks that others wrote whose loss counts after Holm over all of them."""
    worse = holm({str(place): found.overall.p_worse for place, found in enumerate(public)})
    pairs = zip(public, worse.values(), strict=True)
    return tuple(found for found, p in pairs if p < alpha and found.overall.gain < 0)


def _at_the_limit(reward: Contrast, alpha: float, looks: int) -> bool:
    """A one-sided test at 5 % passed, and the two-sided 95 % interval, as it is printed, includes 0 all the same."""
    overall = reward.overall
    mean = reward.configuration
    includes_0 = round(overall.low, PRINTED) <= 0 <= round(overall.high, PRINTED)
    at_0 = includes_0 and possible(overall.low, overall.high) is not None
    above = at_0 and improved(reward, alpha, looks)
    below = at_0 and worsened(reward, alpha, looks)
    over_seeds = of_configuration(reward, alpha, looks) == "supported" and mean and round(mean.low, PRINTED) <= 0
    return bool(above or below or over_seeds)


def after_looks(p: float, looks: int) -> float:
    """Corrected for all looks at the test set (Bonferroni): what has to be below alpha for a claim."""
    return min(1.0, looks * p)


def after_holm(p: float | None) -> float:
    """Effects of tasks always carry their adjusted p; 1.0 keeps an overall effect from being read as one."""
    return 1.0 if p is None else p
