"""The questions that the audit puts to the rewards of one task. No question knows how a reward is computed."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import fsum, isfinite
from typing import Protocol

import numpy as np

from rewards import PromptLike, Score
from tucano.evaluation.audit_report import Agreement, Check
from tucano.evaluation.probes import corrupted, json_object, repaired, same_meaning, worthless
from tucano.evaluation.ratings import RatedAnswer
from tucano.evaluation.statistics import bootstrap_lower_bound, rank_agreement, spearman, within_prompt_agreement
from tucano.prompts import Prompt
from tucano.settings import AuditSettings

FLOOR = 0.30
"""A worthless answer may score this much at most."""
GOOD_RATING = 4.0
GOOD_REWARD = 0.8
"""The best of the answers that people call good must score this much, or the scale is not used."""
DISTINCT_SHARE = 0.5
SMALLEST_GROUP = 5
"""With fewer prompts a bootstrap by prompt means nothing."""
SOUND_PROMPTS = 24
"""With 12 prompts x 5 and a true rho of .80, all four tasks pass only 67 % of the time; with 24 x 5, 94 %."""
ALWAYS_BLOCK = {"ratings", "never raises", "bounds", "repeatable", "components"}
"""Whatever the reward set is for, these must hold."""
ALWAYS_WARN = {"sample size"}

SAME = 1e-6
SAME_WITH_NUMBERS = 0.02
"""A rewritten number may change the length of a text, and a length curve may move this far."""


class Rewards(Protocol):
    """What the audit uses of a `rewards.RewardSet`."""

    def component_names(self, task: str) -> tuple[str, ...]: ...
    def score(self, prompt: PromptLike, completion: str) -> Score: ...


@dataclass
class Bench:
    """Scores texts and remembers every score. A reward that raises scores 0 and the fault is kept for the check `never raises`."""

    rewards: Rewards
    scores: list[tuple[Prompt, str, Score]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def score(self, prompt: Prompt, completion: str) -> Score:
        try:
            score = self.rewards.score(prompt, completion)
        except Exception as fault:  # a reward that raises is a finding of the audit, not a crash of it
            self.faults.append(f"{type(fault).__name__} ({fault}) on {completion[:40]!r}")
            return Score(0.0, dict.fromkeys(self.rewards.component_names(prompt.task), 0.0))
        self.scores.append((prompt, completion, score))
        return score

    def total(self, prompt: Prompt, completion: str) -> float:
        """The total; what is not finite counts 0 here, and fails the check `bounds`."""
        total = self.score(prompt, completion).total
        return total if isfinite(total) else 0.0


@dataclass(frozen=True)
class Group:
    """One prompt's rated completions with their rewards."""

    prompt: Prompt
    answers: tuple[RatedAnswer, ...]
    rewards: tuple[float, ...]

    @property
    def ratings(self) -> tuple[float, ...]:
        return tuple(answer.rating for answer in self.answers)


def grouped(bench: Bench, answers: Sequence[RatedAnswer]) -> list[Group]:
    by_prompt: dict[str, list[RatedAnswer]] = {}
    for answer in answers:
        by_prompt.setdefault(answer.prompt.id, []).append(answer)
    return [
        Group(group[0].prompt, tuple(group), tuple(bench.total(answer.prompt, answer.completion) for answer in group))
        for group in by_prompt.values()
        if len(group) > 1
    ]


def _pooled(groups: Sequence[Group]) -> float:
    rewards = [reward for group in groups for reward in group.rewards]
    return spearman(rewards, [rating for group in groups for rating in group.ratings])


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def agreement(task: str, groups: Sequence[Group], resamples: int, rng: np.random.Generator) -> Agreement:
    per_prompt = [value for group in groups if (value := rank_agreement(group.rewards, group.ratings)) is not None]
    enough = len(per_prompt) >= SMALLEST_GROUP
    return Agreement(
        task=task,
        prompts=len(groups),
        completions=sum(len(group.answers) for group in groups),
        pooled=_pooled(groups) if groups else None,
        pooled_low=bootstrap_lower_bound(_pooled, groups, resamples, rng) if enough else None,
        within=within_prompt_agreement([(group.rewards, group.ratings) for group in groups]),
        within_low=bootstrap_lower_bound(_mean, per_prompt, resamples, rng) if enough else None,
        sampled=_pooled_of(groups, "sampled"),
        written=_pooled_of(groups, "written"),
    )


def _pooled_of(groups: Sequence[Group], origin: str) -> float | None:
    """Pooled rho over the completions of one origin; None with fewer than five, or where all have the same rating."""
    pairs = [
        (reward, answer.rating)
        for group in groups
        for answer, reward in zip(group.answers, group.rewards, strict=True)
        if answer.origin == origin
    ]
    return rank_agreement(*zip(*pairs, strict=True)) if len(pairs) >= SMALLEST_GROUP else None


def questions(
    bench: Bench, groups: Sequence[Group], row: Agreement, settings: AuditSettings, classify: Callable[[str], str]
) -> list[Check]:
    """All checks of one task. Soundness comes last, since it looks at every text that the others scored."""
    task = row.task
    return [
        _sample_check(task, groups),
        _size_check(task, groups),
        *_agreement_checks(row, settings),
        *_floor_checks(task, bench, groups),
        *_invariance_checks(task, bench, groups),
        *(_monotonicity_checks(task, bench, groups) if task == "extraction" else []),
        _scale_check(task, bench, groups),
        _distinct_check(task, groups),
        _classifier_check(task, groups, classify),
        *_soundness_checks(task, bench),
    ]


def _sample_check(task: str, groups: Sequence[Group]) -> Check:
    passed = len(groups) >= SMALLEST_GROUP
    found = f"{len(groups)} prompts with two or more rated completions"
    message = f"{task}: {found}" + ("" if passed else f"; the audit needs {SMALLEST_GROUP} and skips no task")
    return Check(task, "ratings", "block", passed, len(groups), SMALLEST_GROUP, message)


def _size_check(task: str, groups: Sequence[Group]) -> Check:
    passed = len(groups) >= SOUND_PROMPTS
    message = f"{task}: {len(groups)} rated prompts; with fewer than {SOUND_PROMPTS} good rewards fail the gate too often"
    return Check(task, "sample size", "warn", passed, len(groups), SOUND_PROMPTS, message)


def _agreement_checks(row: Agreement, settings: AuditSettings) -> list[Check]:
    def check(name: str, what: str, value: float | None, low: float | None, floor: float) -> Check:
        if value is None or low is None:
            return Check(
                row.task,
                name,
                "block",
                False,
                low,
                floor,
                f"{row.task}: {name} cannot be measured, too few prompts have ratings that differ",
            )
        passed = low >= floor
        sign = ">=" if passed else "<"
        message = f"{row.task}: {what} rewards and ratings correlate with rho {value:.3f}, lower bound {low:.3f} {sign} {floor:.3f}"
        return Check(row.task, name, "block", passed, low, floor, message)

    return [
        check("pooled agreement", "over all completions", row.pooled, row.pooled_low, settings.pooled_floor),
        check("within-prompt agreement", "within prompts", row.within, row.within_low, settings.within_floor),
    ]


def _floor_checks(task: str, bench: Bench, groups: Sequence[Group]) -> list[Check]:
    worst: dict[str, tuple[float, str]] = {}
    for group in groups:
        for kind, texts in worthless(group.prompt).items():
            scored = max((bench.total(group.prompt, text), text) for text in texts)
            worst[kind] = max(worst.get(kind, scored), scored)
    return [
        Check(
            task,
            f"floor: {kind}",
            "block",
            value <= FLOOR,
            value,
            FLOOR,
            f"{task}: worthless answer ({kind}) scores up to {value:.3f}, at most {FLOOR:.2f} is right: {text[:60]!r}",
        )
        for kind, (value, text) in worst.items()
    ]


def _invariance_checks(task: str, bench: Bench, groups: Sequence[Group]) -> list[Check]:
    worst: dict[str, tuple[float, str]] = {}
    for group in groups:
        for answer in group.answers:
            for kind, pairs in same_meaning(task, answer.completion).items():
                for first, second in pairs:
                    change = abs(bench.total(group.prompt, first) - bench.total(group.prompt, second))
                    worst[kind] = max(worst.get(kind, (change, second)), (change, second))
    limits = {kind: SAME_WITH_NUMBERS if kind == "number formats" else SAME for kind in worst}
    return [
        Check(
            task,
            f"invariance: {kind}",
            "block",
            value <= limits[kind],
            value,
            limits[kind],
            f"{task}: {kind} changes the score by up to {value:.3f} though nothing else changed: {text[:60]!r}",
        )
        for kind, (value, text) in worst.items()
    ]


def _monotonicity_checks(task: str, bench: Bench, groups: Sequence[Group]) -> list[Check]:
    """Repairing a field of an answer never lowers the score, corrupting one never raises it."""
    repairs: list[tuple[float, str]] = [(0.0, "")]
    corruptions: list[tuple[float, str]] = [(0.0, "")]
    for group in groups:
        truth = group.prompt.reference.get("fields", {})
        for answer in filter(None, (json_object(rated.completion) for rated in group.answers)):
            before = bench.total(group.prompt, json.dumps(answer, ensure_ascii=False))
            for name, text in repaired(answer, truth).items():
                repairs.append((before - bench.total(group.prompt, text), name))
            for name, texts in corrupted(answer, truth).items():
                corruptions += [(bench.total(group.prompt, text) - before, name) for text in texts]
    checks = []
    for name, changes, fault in (("repair", repairs, "repairing a field lowers"), ("corrupt", corruptions, "corrupting a field raises")):
        value, where = max(changes)
        message = (
            f"{task}: {fault} the score by up to {value:.3f} (`{where}`)"
            if value > SAME
            else f"{task}: {fault} no score in {len(changes) - 1} edits"
        )
        checks.append(Check(task, f"monotonicity: {name}", "block", value <= SAME, value, SAME, message))
    return checks


def _scale_check(task: str, bench: Bench, groups: Sequence[Group]) -> Check:
    """Answers that people call good reach the top of the scale, and no sum of components goes beyond it."""
    good = [reward for group in groups for reward, rating in zip(group.rewards, group.ratings, strict=True) if rating >= GOOD_RATING]
    highest = max((fsum(score.components.values()) for _, _, score in bench.scores), default=0.0)
    best = max(good, default=0.0)
    passed = best >= GOOD_REWARD and highest <= 1 + SAME
    message = (
        f"{task}: the best of {len(good)} good answers scores {best:.3f} ({GOOD_REWARD:.2f} or more is right), "
        f"components add up to {highest:.3f} at most (1 is right)"
    )
    return Check(task, "scale", "block", passed, best, GOOD_REWARD, message)


def _distinct_check(task: str, groups: Sequence[Group]) -> Check:
    """A prompt gives signal when its rewards tell apart as many completions as its ratings do, three being enough."""
    fine = [
        len({round(reward, 6) for reward in group.rewards}) >= min(3, len(set(group.ratings)))
        for group in groups
        if len(set(group.ratings)) > 1
    ]
    value = sum(fine) / len(fine) if fine else 0.0
    message = (
        f"{task}: in {value:.0%} of the prompts rewards tell completions apart as people do ({DISTINCT_SHARE:.0%} is right); "
        "coarse rewards give no signal"
    )
    return Check(task, "variance", "block", value >= DISTINCT_SHARE, value, DISTINCT_SHARE, message)


def _classifier_check(task: str, groups: Sequence[Group], classify: Callable[[str], str]) -> Check:
    wrong = [(group.prompt.id, found) for group in groups if (found := classify(group.prompt.user)) != task]
    share = 1 - len(wrong) / len(groups) if groups else 0.0
    example = f"; prompt {wrong[0][0]} is taken for {wrong[0][1]}" if wrong else ""
    return Check(
        task, "classifier", "block", share == 1, share, 1.0, f"{task}: the task classifier agrees with {share:.0%} of the labels{example}"
    )


def _soundness_checks(task: str, bench: Bench) -> list[Check]:
    """Over every text that was scored: no fault, within [0, 1], the same twice, and the sum of the named components."""
    names = set(bench.rewards.component_names(task))
    seen = list(bench.scores)
    outside = [score.total for _, _, score in seen if not (isfinite(score.total) and 0 <= score.total <= 1)]
    changed = [text for prompt, text, score in seen if bench.score(prompt, text) != score]
    apart = [text for _, text, score in seen if set(score.components) != names or abs(_clipped_sum(score) - score.total) > SAME]
    found = {
        "never raises": (len(bench.faults), f"scoring raised {len(bench.faults)} times: {bench.faults[:1]}"),
        "bounds": (len(outside), f"{len(outside)} scores are not in [0, 1]: {outside[:3]}"),
        "repeatable": (len(changed), f"{len(changed)} texts score differently the second time: {[text[:40] for text in changed[:1]]}"),
        "components": (
            len(apart),
            f"{len(apart)} totals are not the sum of the components {sorted(names)}: {[text[:40] for text in apart[:1]]}",
        ),
    }
    return [
        Check(task, name, "block", count == 0, count, 0, f"{task}: {message if count else f'{name}, in {len(seen)} scored texts'}")
        for name, (count, message) in found.items()
    ]


def _clipped_sum(score: Score) -> float:
    return min(1.0, max(0.0, fsum(score.components.values())))
