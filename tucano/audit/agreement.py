"""How far rewards and ratings of a task agree, whether every component helps, and how far raters agree with each
other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import Literal

import numpy as np

from rewards.types import clip
from tucano.audit.bench import Group
from tucano.audit.report import (
    Agreement,
    ComponentEffect,
    Consensus,
    Estimate,
    PeopleAgreement,
    RaterAgreement,
    Sampled,
)
from tucano.audit.resampling import draw_prompts, estimate, estimate_of_few, resampled_mean, resampled_spearman
from tucano.rating.ratings import RatedAnswer
from tucano.statistics.inference import spearman, within_prompts
from tucano.statistics.raters import Resampled, krippendorff_alpha, prediction_powered, quadratic_kappa

SMALLEST_GROUP = 5
"""With fewer prompts a bootstrap by prompt means nothing."""

Rows = Sequence[Sequence[float]]
"""Per prompt one value per completion."""


def pooled_agreement(rewards: Rows, ratings: Rows, resamples: int, seed: Sequence[int]) -> Resampled:
    """Spearman's rho over all completions, and in each resample; by one seed those of two rewards can be subtracted."""
    owner = [place for place, row in enumerate(rewards) for _ in row]
    flat = [value for row in rewards for value in row], [value for row in ratings for value in row]
    counts = draw_prompts(len(rewards), resamples, np.random.default_rng(seed))
    return spearman(*flat), resampled_spearman(*flat, counts, owner)


def within_agreement(rewards: Rows, ratings: Rows, resamples: int, seed: Sequence[int]) -> Resampled:
    """The same of the mean over prompts whose ratings differ."""
    values = within_prompts(rewards, ratings)
    counts = draw_prompts(len(values), resamples, np.random.default_rng(seed))
    return float(np.mean(values)), resampled_mean(values, counts)


def within_estimate(rewards: Rows, ratings: Rows, resamples: int, seed: Sequence[int]) -> Estimate | None:
    """Mean rank agreement within prompts; None where fewer than `SMALLEST_GROUP` prompts have ratings that differ."""
    enough = len(within_prompts(rewards, ratings)) >= SMALLEST_GROUP
    return estimate(*within_agreement(rewards, ratings, resamples, seed)) if enough else None


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
        estimate(*pooled_agreement(rewards, ratings, resamples, seed))
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
    pooled = pooled_agreement(rewards, ratings, resamples, seed)
    within = within_agreement(rewards, ratings, resamples, seed)
    effects = []
    for name in groups[0].scores[0].components:
        without = [
            [clip(fsum(v for key, v in score.components.items() if key != name)) for score in group.scores]
            for group in groups
        ]
        over_all = _change(pooled_agreement(without, ratings, resamples, seed), pooled)
        within_prompt = _change(within_agreement(without, ratings, resamples, seed), within)
        effects.append(ComponentEffect(task, name, over_all, within_prompt))
    return effects


def _change(after: Resampled, before: Resampled) -> Estimate:
    return estimate(after[0] - before[0], after[1] - before[1])


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


def consensus(task: str, answers: Sequence[RatedAnswer]) -> Consensus | None:
    """How far all raters of a task agree; None where no answer has two ratings."""
    rated = [list(answer.given.values()) for answer in answers if len(answer.given) > 1]
    raters = {rater for answer in answers for rater in answer.given}
    return Consensus(task, len(raters), len(rated), krippendorff_alpha(rated)) if rated else None


@dataclass(frozen=True)
class _Rated:
    """The answers to one prompt that people rated: rewards, people's ratings, models' where all have one."""

    rewards: Sequence[float]
    people: Sequence[float]
    models: Sequence[float] | None


def people_agreement(task: str, groups: Sequence[Group], resamples: int, seed: Sequence[int]) -> PeopleAgreement | None:
    """Agreement of rewards with people's ratings; None where people rated too few prompts to tell by.

    Models' ratings of other prompts help, as far as models go along with people (`prediction_powered`).
    """
    here = [row for group in groups if (row := _rated_by_people(group))]
    if len(here) < SMALLEST_GROUP:
        return None
    models = [row.models for row in here if row.models]
    alone = [group for group in groups if not any("human" in answer.raters.values() for answer in group.answers)]
    alone = [group for group in alone if len(set(group.ratings)) > 1] if len(models) == len(here) else []
    found = []
    rewards, people = [row.rewards for row in here], [row.people for row in here]
    for agreement in (pooled_agreement, within_agreement):
        value = agreement(rewards, people, resamples, seed)
        if len(alone) >= SMALLEST_GROUP:
            seen = agreement(rewards, models, resamples, seed)
            elsewhere = [group.rewards for group in alone], [group.ratings for group in alone]
            others = agreement(*elsewhere, resamples, [*seed, 1])
            value = prediction_powered(value, seen, others, len(here))
        found.append(estimate_of_few(*value, len(here), fitted=2 if len(alone) >= SMALLEST_GROUP else 1))
    return PeopleAgreement(task, len(here), len(alone), *found)


def _rated_by_people(group: Group) -> _Rated | None:
    """None where people rated fewer than two answers to the prompt, or all alike; as models, if there are any."""
    rated = [
        (reward, answer) for reward, answer in zip(group.rewards, group.answers, strict=True) if answer.mean_of("human")
    ]
    people = [answer.mean_of("human") or 0.0 for _, answer in rated]
    models = [rating for _, answer in rated if (rating := answer.mean_of("model"))]
    both = len(models) == len(people)
    if len(set(people)) < 2 or (both and len(set(models)) < 2):
        return None
    return _Rated([reward for reward, _ in rated], people, models if both else None)
