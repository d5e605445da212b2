"""How far rewards and ratings of a task agree, whether every component helps, and how far raters agree with each
other.
"""

from collections.abc import Sequence
from itertools import combinations
from math import fsum
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tucano.audit.bench import Group
from tucano.audit.report import Agreement, ComponentEffect, Estimate, RaterAgreement, Sampled
from tucano.audit.resampling import draw_prompts, estimate, resampled_mean, resampled_spearman
from tucano.rating.ratings import RatedAnswer
from tucano.statistics.inference import Floats, spearman, within_prompts

SMALLEST_GROUP = 5
"""With fewer prompts a bootstrap by prompt means nothing."""

Rows = Sequence[Sequence[float]]
"""Per prompt one value per completion."""


class Resampler:
    """Agreement of rewards with ratings; all statistics of one resampler are of the same resamples, so that they can be
    subtracted.
    """

    def __init__(self, ratings: Rows, resamples: int, seed: Sequence[int]) -> None:
        self.ratings, self.resamples, self.seed = ratings, resamples, seed

    def _draw(self, prompts: int) -> Floats:
        return draw_prompts(prompts, self.resamples, np.random.default_rng(self.seed))

    def pooled(self, rewards: Rows) -> tuple[float, Floats]:
        """Spearman's rho over all completions, and in each resample."""
        owner = [place for place, row in enumerate(rewards) for _ in row]
        flat = [value for row in rewards for value in row], [value for row in self.ratings for value in row]
        return spearman(*flat), resampled_spearman(*flat, self._draw(len(rewards)), owner)

    def within(self, rewards: Rows) -> tuple[float, Floats]:
        """The mean over prompts whose ratings differ, and in each resample."""
        values = within_prompts(rewards, self.ratings)
        return float(np.mean(values)), resampled_mean(values, self._draw(len(values)))


def within_estimate(rewards: Rows, ratings: Rows, resamples: int, seed: Sequence[int]) -> Estimate | None:
    """Mean rank agreement within prompts; None where fewer than `SMALLEST_GROUP` prompts have ratings that differ."""
    enough = len(within_prompts(rewards, ratings)) >= SMALLEST_GROUP
    return estimate(*Resampler(ratings, resamples, seed).within(rewards)) if enough else None


def agreements(task: str, groups: Sequence[Group], resamples: int, seed: Sequence[int]) -> list[Agreement]:
    """The row that the gate reads, and where a task has both sampled and written completions a row of each."""
    rows = [_agreement(task, "all", groups, resamples, seed)]
    parts = [
        _agreement(task, origin, [group.only(origin) for group in groups], resamples, seed)
        for origin in ("sampled", "written")
    ]
    return rows + (parts if all(part.completions for part in parts) else [])


def _agreement(
    task: str,
    origin: Literal["all", "sampled", "written"],
    groups: Sequence[Group],
    resamples: int,
    seed: Sequence[int],
) -> Agreement:
    present = [group for group in groups if group.answers]
    rewards = [group.rewards for group in present]
    ratings = [group.ratings for group in present]
    told_apart = len({rating for row in ratings for rating in row}) > 1
    pooled = (
        estimate(*Resampler(ratings, resamples, seed).pooled(rewards))
        if told_apart and len(present) >= SMALLEST_GROUP
        else None
    )
    within = within_estimate(rewards, ratings, resamples, seed)
    return Agreement(task, origin, len(present), sum(map(len, rewards)), pooled, within)


def component_effects(task: str, groups: Sequence[Group], resamples: int, seed: Sequence[int]) -> list[ComponentEffect]:
    """What becomes of the agreement when one component is left out, by paired resamples; empty with too few prompts to
    tell by.
    """
    rewards = [group.rewards for group in groups]
    ratings = [group.ratings for group in groups]
    if len(within_prompts(rewards, ratings)) < SMALLEST_GROUP:
        return []
    resampler = Resampler(ratings, resamples, seed)
    names = groups[0].scores[0].components
    without = {
        name: [
            [_clipped(fsum(v for key, v in score.components.items() if key != name)) for score in group.scores]
            for group in groups
        ]
        for name in names
    }
    pooled = resampler.pooled(rewards)
    within = resampler.within(rewards)
    return [
        ComponentEffect(
            task,
            name,
            _change(resampler.pooled(without[name]), pooled),
            _change(resampler.within(without[name]), within),
        )
        for name in names
    ]


def _change(after: tuple[float, Floats], before: tuple[float, Floats]) -> Estimate:
    return estimate(after[0] - before[0], after[1] - before[1])


def _clipped(total: float) -> float:
    return min(1.0, max(0.0, total))


def sampled_spread(task: str, rewards: Rows) -> Sampled:
    """Signal and headroom in the rewards of sampled answers, one row or more."""
    return Sampled(
        task=task,
        prompts=len(rewards),
        k=max(map(len, rewards)),
        mean=float(np.mean([np.mean(row) for row in rewards])),
        best=float(np.mean([max(row) for row in rewards])),
        differing=sum(len({round(value, 6) for value in row}) > 1 for row in rewards) / len(rewards),
    )


def rater_agreements(task: str, answers: Sequence[RatedAnswer]) -> list[RaterAgreement]:
    """Quadratic kappa of every two raters who rated the same completions of a task."""
    raters = sorted({rater for answer in answers for rater in answer.given})
    rows = []
    for first, second in combinations(raters, 2):
        both = [
            (answer.given[first], answer.given[second]) for answer in answers if {first, second} <= answer.given.keys()
        ]
        if both:
            rows.append(RaterAgreement(task, first, second, len(both), quadratic_kappa(*zip(*both, strict=True))))
    return rows


def quadratic_kappa(first: ArrayLike, second: ArrayLike) -> float | None:
    """Cohen's kappa with quadratic weights (Cohen 1968, Psychol. Bull. 70:213): 1 - observed / expected squared
    disagreement.

    Observed is the mean of (a - b)^2; expected is the same over all pairs of the two raters' marginals. None where both
    raters gave everything the same single number: chance alone would agree.
    """
    ours, theirs = (np.asarray(side, dtype=np.float64) for side in (first, second))
    expected = float(((ours[:, None] - theirs[None, :]) ** 2).mean())
    return 1 - float(((ours - theirs) ** 2).mean()) / expected if expected else None
