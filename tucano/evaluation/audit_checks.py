"""The questions that the audit puts to the rewards of one task. No question knows how a reward is computed."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum, isfinite

from rewards import Score
from tucano.evaluation.audit_agreement import SMALLEST_GROUP
from tucano.evaluation.audit_bench import Bench, Group, finite
from tucano.evaluation.audit_edits import Reader, edit_checks, good_texts, reading_check
from tucano.evaluation.audit_report import Agreement, Check, ComponentEffect
from tucano.evaluation.probes import corrupted, json_object, repaired, same_meaning, worthless
from tucano.settings import AuditSettings

FLOOR = 0.30
"""A worthless answer may score this much at most."""
GOOD_REWARD = 0.95
"""The best of some dozens of good answers earns this much, or a part of the scale cannot be reached: weights do not add up to 1."""
DISTINCT_SHARE = 0.5
SOUND_PROMPTS = 24
"""With 12 prompts x 5 and a true rho of .80, all four tasks pass only 67 % of the time; with 24 x 5, 94 %."""
ALWAYS_BLOCK = {"ratings", "never raises", "bounds", "repeatable", "components"}
"""Whatever the reward set is for, these must hold."""
ALWAYS_WARN = ("sample size", "component", "degradation: words strung together")
"""A component that harms is a finding, not a danger. No reward set of today sees the order of words; that is said, and blocks nothing."""

SAME = 1e-6
SAME_WITH_NUMBERS = 0.02
"""A rewritten number may change the length of a text, and a length curve may move this far."""


@dataclass(frozen=True)
class Readers:
    """The functions that stand between a text and its reward: which task a prompt is, and which object a text holds."""

    classify: Callable[[str], str]
    read: Reader


def questions(
    bench: Bench,
    groups: Sequence[Group],
    row: Agreement,
    effects: Sequence[ComponentEffect],
    settings: AuditSettings,
    readers: Readers,
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
        *edit_checks(task, bench, groups),
        *([reading_check(task, groups, readers.read)] if task == "extraction" else []),
        *map(_component_check, effects),
        _scale_check(task, bench, groups),
        _distinct_check(task, groups),
        _classifier_check(task, groups, readers.classify),
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


def _component_check(effect: ComponentEffect) -> Check:
    """A component harms where leaving it out surely raises one of the agreements (one-sided 95 %)."""
    value = max(effect.pooled_low, effect.within_low)
    message = (
        f"{effect.task}: without `{effect.component}` rewards and ratings would agree better "
        f"(pooled {effect.pooled:+.3f}, within prompts {effect.within:+.3f})"
    )
    return Check(effect.task, f"component: {effect.component}", "warn", value <= SAME, value, 0.0, message)


def _scale_check(task: str, bench: Bench, groups: Sequence[Group]) -> Check:
    """Good answers reach the top of the scale, and no sum of components goes beyond it."""
    good = good_texts(groups)
    best = max((finite(bench.score(prompt, text)) for prompt, text in good), default=0.0)
    highest = max((fsum(score.components.values()) for _, _, score in bench.scores), default=0.0)
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
    seen, faults = bench.scores, list(bench.faults)
    outside = [score.total for _, _, score in seen if not (isfinite(score.total) and 0 <= score.total <= 1)]
    changed = bench.changed()
    apart = [text for _, text, score in seen if set(score.components) != names or abs(_clipped_sum(score) - score.total) > SAME]
    found = {
        "never raises": (len(faults), f"scoring raised on {len(faults)} texts: {faults[:1]}"),
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
