"""What may be claimed: the facts behind a verdict, before any word is chosen.

Two claims are never mixed: that *these adapters* beat the reference, and that the *configuration* would with a new
seed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tucano.comparison.contrast import Contrast
from tucano.comparison.forgetting import Forgetting

Claim = Literal["supported", "not supported", "not assessable"]


@dataclass(frozen=True, slots=True)
class StudyContext:
    """What a reader has to know beside the numbers.

    `looks`: how often this test set has judged, this time included; `planned`: the analysis was written down before
    training, as it is now; `candidate`: the seed that would be promoted, alone; `forgetting`: ordinary Portuguese
    against earlier arms.
    """

    looks: int = 1
    planned: bool = True
    candidate: Contrast | None = None
    forgetting: tuple[Forgetting, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """What a verdict says before any word is chosen; see `Verdict`."""

    improved: bool
    worse: bool
    configuration: Claim
    hacking: bool
    cautions: tuple[str, ...]


def improved(reward: Contrast, alpha: float, looks: int) -> bool:
    """The primary test passed, corrected for all looks at the test set (Bonferroni). A falling mean is never called
    better, though the signed-rank test can say so of skewed differences.
    """
    return looks * reward.overall.p < alpha and reward.overall.gain > 0


def confirmed(truth: Contrast, margin: float) -> bool:
    """Whether the ground truth is shown to have fallen by less than the margin, if at all."""
    return truth.overall.mean_low > -margin


def truth_falls(reward: Contrast, truth: Contrast, alpha: float) -> bool:
    """Whether the ground truth falls overall, or (Holm over the tasks) on a task whose reward rose."""
    rose = {task for task, effect in reward.tasks.items() if after_holm(effect.p_holm) < alpha}
    return truth.overall.p_worse < alpha or any(
        after_holm(truth.tasks[task].p_worse_holm) < alpha for task in rose & set(truth.tasks)
    )


def cautions(reward: Contrast, alpha: float, around: StudyContext) -> Iterable[str]:
    """The names of the sentences that weaken the claim."""
    overall = reward.overall
    if overall.unchanged == overall.n:
        yield "identical"
    if overall.p < alpha <= overall.p_mean:
        yield "skewed"
    if around.looks > 1:
        yield "looks"
    if not around.planned:
        yield "unplanned"
    if any(found.established(alpha) for found in around.forgetting):
        yield "forgot"


def after_holm(p: float | None) -> float:
    """Effects of tasks always carry their adjusted p; 1.0 keeps an overall effect from being read as one."""
    return 1.0 if p is None else p
