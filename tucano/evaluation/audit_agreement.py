"""How far rewards and ratings of a task agree, whether every component helps, and how far raters agree with each other."""

from collections.abc import Sequence
from itertools import combinations
from math import fsum

import numpy as np
from numpy.typing import ArrayLike

from tucano.evaluation.audit_bench import Group
from tucano.evaluation.audit_report import Agreement, ComponentEffect, RaterAgreement, Sampled
from tucano.evaluation.ratings import RatedAnswer
from tucano.evaluation.resampling import draw_prompts, lower_bound, resampled_mean, resampled_spearman
from tucano.evaluation.statistics import Floats, rank_agreement, spearman, within_prompt_agreement

SMALLEST_GROUP = 5
"""With fewer prompts a bootstrap by prompt means nothing."""


def agreement(task: str, groups: Sequence[Group], resamples: int, rng: np.random.Generator) -> Agreement:
    """Point estimates and one-sided 95 % lower bounds; bounds are None with fewer than `SMALLEST_GROUP` prompts."""
    rewards = [group.rewards for group in groups]
    per_prompt = _within(groups, rewards)
    enough = len(per_prompt) >= SMALLEST_GROUP
    pooled = _resampled_pooled(groups, rewards, resamples, rng) if enough else None
    within = resampled_mean(per_prompt, draw_prompts(len(per_prompt), resamples, rng)) if enough else None
    return Agreement(
        task=task,
        prompts=len(groups),
        completions=sum(len(group.answers) for group in groups),
        pooled=spearman(_flat(rewards), _ratings(groups)) if groups else None,
        pooled_low=None if pooled is None else lower_bound(pooled),
        within=within_prompt_agreement([(group.rewards, group.ratings) for group in groups]),
        within_low=None if within is None else lower_bound(within),
        sampled=_pooled_of(groups, "sampled"),
        written=_pooled_of(groups, "written"),
    )


def _flat(rewards: Sequence[Sequence[float]]) -> list[float]:
    return [reward for row in rewards for reward in row]


def _ratings(groups: Sequence[Group]) -> list[float]:
    return [rating for group in groups for rating in group.ratings]


def _within(groups: Sequence[Group], rewards: Sequence[Sequence[float]]) -> list[float]:
    """Rank agreement of every prompt whose ratings differ."""
    values = (rank_agreement(row, group.ratings) for group, row in zip(groups, rewards, strict=True))
    return [value for value in values if value is not None]


def _resampled_pooled(groups: Sequence[Group], rewards: Sequence[Sequence[float]], resamples: int, rng: np.random.Generator) -> Floats:
    owner = [place for place, group in enumerate(groups) for _ in group.answers]
    return resampled_spearman(_flat(rewards), _ratings(groups), draw_prompts(len(groups), resamples, rng), owner)


def _pooled_of(groups: Sequence[Group], origin: str) -> float | None:
    """Pooled rho over the completions of one origin; None with fewer than five, or where all have the same rating."""
    pairs = [
        (reward, answer.rating)
        for group in groups
        for answer, reward in zip(group.answers, group.rewards, strict=True)
        if answer.origin == origin
    ]
    return rank_agreement(*zip(*pairs, strict=True)) if len(pairs) >= SMALLEST_GROUP else None


def component_effects(task: str, groups: Sequence[Group], resamples: int, seed: Sequence[int]) -> list[ComponentEffect]:
    """What becomes of the agreement when one component is left out: below 0 it helps, above 0 it harms.

    Lower bounds are of the paired difference, over the same resamples. Empty with fewer than `SMALLEST_GROUP` prompts to tell by.
    """
    whole = [[fsum(score.components.values()) for score in group.scores] for group in groups]
    base = _within(groups, _clipped(whole))
    if len(base) < SMALLEST_GROUP:
        return []
    pooled = _resampled_pooled(groups, _clipped(whole), resamples, np.random.default_rng(seed))
    effects = []
    for name in groups[0].scores[0].components:
        others = _clipped([[fsum(v for key, v in score.components.items() if key != name) for score in group.scores] for group in groups])
        within = np.array(_within(groups, others)) - np.array(base)
        change = _resampled_pooled(groups, others, resamples, np.random.default_rng(seed)) - pooled
        counts = draw_prompts(len(base), resamples, np.random.default_rng(seed))
        effects.append(
            ComponentEffect(
                task=task,
                component=name,
                pooled=spearman(_flat(others), _ratings(groups)) - spearman(_flat(_clipped(whole)), _ratings(groups)),
                pooled_low=lower_bound(change),
                within=float(within.mean()),
                within_low=lower_bound(resampled_mean(within, counts)),
            )
        )
    return effects


def _clipped(sums: Sequence[Sequence[float]]) -> list[list[float]]:
    return [[min(1.0, max(0.0, value)) for value in row] for row in sums]


def sampled_spread(task: str, groups: Sequence[Group]) -> Sampled | None:
    """Signal and headroom on the rating set's own samples (T=1); None where no prompt has two of them."""
    samples = [
        [reward for answer, reward in zip(group.answers, group.rewards, strict=True) if answer.origin == "sampled"] for group in groups
    ]
    several = [row for row in samples if len(row) > 1]
    if not several:
        return None
    return Sampled(
        task=task,
        prompts=len(several),
        k=max(map(len, several)),
        mean=float(np.mean([np.mean(row) for row in several])),
        best=float(np.mean([max(row) for row in several])),
        differing=share_that_differs(several),
    )


def share_that_differs(samples: Sequence[Sequence[float]]) -> float:
    """Share of the prompts whose k samples do not all earn the same reward: the others give GRPO nothing to learn from."""
    return sum(bool(np.ptp(np.round(row, 6)) > 0) for row in samples) / len(samples)


def rater_agreements(task: str, answers: Sequence[RatedAnswer]) -> list[RaterAgreement]:
    """Quadratic kappa of every two raters who rated the same completions of a task."""
    raters = sorted({rater for answer in answers for rater in answer.given})
    rows = []
    for first, second in combinations(raters, 2):
        both = [(answer.given[first], answer.given[second]) for answer in answers if {first, second} <= answer.given.keys()]
        if both:
            rows.append(RaterAgreement(task, first, second, len(both), quadratic_kappa(*zip(*both, strict=True))))
    return rows


def quadratic_kappa(first: ArrayLike, second: ArrayLike) -> float | None:
    """Cohen's kappa with quadratic weights (Cohen 1968, Psychol. Bull. 70:213): 1 - observed / expected squared disagreement.

    Observed is the mean of (a - b)^2; expected is the same over all pairs of the two raters' marginals. None where both raters
    gave everything the same single number: chance alone would agree.
    """
    ours, theirs = (np.asarray(side, dtype=np.float64) for side in (first, second))
    expected = float(((ours[:, None] - theirs[None, :]) ** 2).mean())
    return 1 - float(((ours - theirs) ** 2).mean()) / expected if expected else None
