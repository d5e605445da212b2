"""Does the reward teach? Youden's J: how much more often good answers are accepted than others.

J = P(reward >= t | good) - P(reward >= t | not good), of -1 to 1 (Youden 1950, Cancer 3:32-35). Of a reward that only
accepts or refuses, the sign of J decides whether GRPO learns or unlearns, its size only how fast (Rad et al., «Rate or
Fate? RLVeR», PMLR 306, 2026). Of a reward between 0 and 1 it is the mean of J over all thresholds, which is the mean
reward of good answers less that of others: advantages are rewards less their group's mean. Whether of two answers to
one prompt the better one earns more is asked by the agreement within prompts (tucano/audit/agreement.py).
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tucano.audit.attacks.findings import FLOOR
from tucano.audit.bench import GOOD_RATING, Group
from tucano.audit.relations.agreed import BANDS
from tucano.audit.report import AuditCheck, Estimate, Youden
from tucano.audit.resampling import draw_prompts, estimate_of_few
from tucano.statistics.inference import DECIMALS, Floats

CUTS = np.arange(1, 101) / 100
THRESHOLDS = (FLOOR, 0.5, BANDS[4][0], BANDS[5][0])
"""What the audit asks of worthless answers, of those rated 4 and of those rated 5, and half."""
FEWEST = 3
"""Prompts with a good answer, and with another: what it takes for a spread."""
MADE_UP = 0.5
"""What an answer that nobody gave counts. One prompt with four of them, a good one and another that earn nothing and
all, is drawn with the rest: where every good answer of a few is accepted, resamples of these alone would be sure that
every other one is. Shares so drawn go with (k + 1/2) / (n + 1), as Jeffreys has them.
"""


def youden(task: str, groups: Sequence[Group], resamples: int, seed: Sequence[int]) -> list[Youden]:
    """Over all thresholds, at fixed ones, and at the best one; empty with fewer than `FEWEST` prompts on a side.

    Whole prompts are drawn. The best threshold is chosen anew in each resample; by how much the choice of a resample
    looks better there than in the data (Efron's optimism) is taken off.
    """
    prompts = min(
        sum(any((rating >= GOOD_RATING) is side for rating in group.ratings) for group in groups)
        for side in (True, False)
    )
    if prompts < FEWEST:
        return []
    rewards = np.round([reward for group in groups for reward in group.rewards], DECIMALS)
    good = np.array([rating >= GOOD_RATING for group in groups for rating in group.ratings])
    earned = np.column_stack([rewards, rewards[:, None] >= CUTS])
    tpr, fpr = (earned[side].mean(axis=0) for side in (good, ~good))
    drawn = _resampled(earned, good, [len(group.answers) for group in groups], resamples, seed)
    chosen = 1 + drawn[:, 1:].argmax(axis=1)
    highest = drawn[:, 1:].max(axis=1)
    optimism = (highest - drawn[0, chosen]).mean()

    def row(at: Literal["all", "fixed", "best"], column: int) -> Youden:
        off, around = (optimism, highest) if at == "best" else (0.0, drawn[:, column])
        value = float(tpr[column] - fpr[column] - off)
        found = estimate_of_few(float(drawn[0, column] - off), around, prompts, fitted=2 if at == "best" else 1)
        j = Estimate(value, min(value, found.low), max(value, found.high))
        cut = float(CUTS[column - 1]) if column else None
        return Youden(task, at, cut, int(good.sum()), int((~good).sum()), float(tpr[column]), float(fpr[column]), j)

    fixed = [row("fixed", 1 + place) for place, cut in enumerate(CUTS) if cut in THRESHOLDS]
    return [row("all", 0), *fixed, row("best", 1 + int((tpr - fpr)[1:].argmax()))]


def _resampled(
    earned: Floats, good: NDArray[np.bool_], sizes: Sequence[int], resamples: int, seed: Sequence[int]
) -> Floats:
    """[1 + resamples, columns]: J in the data, then in each resample with both sides in it, made-up answers among
    them.
    """
    owner = np.repeat(np.arange(len(sizes) + 1), [*sizes, 4])
    earned = np.vstack([earned, *(np.full(earned.shape[1], value) for value in (0, 1, 0, 1))])
    good = np.append(good, [True, True, False, False])
    drawn = draw_prompts(len(sizes) + 1, resamples, np.random.default_rng(seed))
    times = np.vstack([np.ones(len(sizes) + 1), drawn])[:, owner]
    times[:, -4:] *= MADE_UP
    times = times[times[:, good].any(axis=1) & times[:, ~good].any(axis=1)]
    tpr, fpr = (times[:, side] @ earned[side] / times[:, side].sum(axis=1, keepdims=True) for side in (good, ~good))
    j: Floats = tpr - fpr
    return j


def teaching_check(task: str, rows: Sequence[Youden]) -> AuditCheck:
    """Blocks where the whole interval of J over all thresholds is below 0, warns where it holds 0 or is not known."""
    if not rows:
        message = (
            f"{task}: whether the reward teaches cannot be told, fewer than {FEWEST} prompts have an answer rated"
            f" {GOOD_RATING:.0f} or more, or one rated less"
        )
        return AuditCheck(task, "teaches", "warn", False, None, 0.0, message)
    j = rows[0].j
    found = rows[0].judgement
    message = (
        f"{task}: {'whether the reward teaches ' * (found == 'cannot be told')}{found}, answers rated"
        f" {GOOD_RATING:.0f} or more earn {j.value:.3f} ({j.low:.3f} … {j.high:.3f}) more than others (Youden's J)"
    )
    return AuditCheck(task, "teaches", "block" if j.high < 0 else "warn", j.low > 0, j.low, 0.0, message)
