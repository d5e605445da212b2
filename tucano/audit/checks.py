"""The questions that the audit puts to the rewards of one task. No question knows how a reward is computed."""

import json
from collections.abc import Iterable, Sequence
from math import fsum, isfinite

from rewards import classify_task
from rewards.types import clip
from tucano.audit.agreement import SMALLEST_GROUP
from tucano.audit.attacks.findings import FLOOR, lazy_checks, search_check
from tucano.audit.bench import GOOD_RATING, Bench, Group
from tucano.audit.good_answers import SAME, good_answer_checks
from tucano.audit.probes import same_meaning, worthless
from tucano.audit.relations.agreed import agreed_checks
from tucano.audit.relations.as_good import harmless_checks, kind_checks
from tucano.audit.relations.parts import part_checks
from tucano.audit.relations.sameness import sameness_checks
from tucano.audit.relations.table import Material, Row
from tucano.audit.relations.worse import worse_checks
from tucano.audit.report import Agreement, AuditCheck, ComponentEffect, Estimate, FoolingText
from tucano.prompts import Prompt
from tucano.rating.ratings import RatedAnswer
from tucano.settings.audit import Gate
from tucano.specs.objects import corrupted, json_object, repaired
from tucano.specs.registry import spec_of

DISTINCT_SHARE = 0.5
SOUND_PROMPTS = 24
"""With 12 prompts x 5 and a true rho of .80, all four tasks pass only 67 % of the time; with 24 x 5, 94 %."""
MOST_REWORDED = 100
"""Good answers of many writers that are said again without a change of meaning, besides those of the groups."""
SAME_WITH_NUMBERS = 0.02
"""A rewritten number may change the length of a text, and a length curve may move this far."""


def questions(
    bench: Bench,
    groups: Sequence[Group],
    material: Material,
    row: Agreement,
    effects: Sequence[ComponentEffect],
    fooling: Sequence[FoolingText],
    settings: Gate,
) -> list[AuditCheck]:
    """All checks of one task. Soundness and life come last, since they look at every text that the others scored."""
    task = row.task
    cases = material.ratings.cases
    rows = material.rows
    if len(groups) < SMALLEST_GROUP:
        return [_sample_check(task, groups)]  # all else would only say in other words that too little is rated
    return [
        _sample_check(task, groups),
        _size_check(task, groups),
        *_agreement_checks(row, settings),
        *_floor_checks(task, bench, groups),
        *invariance_checks(task, bench, [(one.prompt, one.completion) for one in _rated(groups, cases)], rows),
        *(_monotonicity_checks(task, bench, groups) if spec_of(task).fields else []),
        *worse_checks(task, bench, groups, rows),
        *harmless_checks(task, bench, groups, rows),
        *kind_checks(task, bench, groups, rows),
        *good_answer_checks(task, bench, groups),
        *agreed_checks(task, bench, cases),
        *lazy_checks(task, bench, groups, rows),
        *([search_check(task, fooling)] if settings.search_calls else []),
        *map(_component_check, effects),
        _distinct_check(task, groups),
        _classifier_check(task, groups, rows),
        *sameness_checks(task, bench, groups),
        *part_checks(task, bench, groups, rows),
        *soundness_checks(task, bench),
        _alive_check(task, bench),
    ]


def _rated(groups: Sequence[Group], cases: Sequence[RatedAnswer]) -> list[RatedAnswer]:
    """All answers of the groups, and good ones of many writers."""
    good = [case for case in cases if case.rating >= GOOD_RATING]
    return [answer for group in groups for answer in group.answers] + good[:: max(1, -(-len(good) // MOST_REWORDED))]


def _sample_check(task: str, groups: Sequence[Group]) -> AuditCheck:
    passed = len(groups) >= SMALLEST_GROUP
    found = f"{len(groups)} prompts with two or more rated completions"
    message = f"{task}: {found}" + ("" if passed else f"; the audit needs {SMALLEST_GROUP} and skips no task")
    return AuditCheck(task, "ratings", "block", passed, len(groups), SMALLEST_GROUP, message)


def _size_check(task: str, groups: Sequence[Group]) -> AuditCheck:
    passed = len(groups) >= SOUND_PROMPTS
    message = (
        f"{task}: {len(groups)} rated prompts; with fewer than {SOUND_PROMPTS} good rewards fail the gate too often"
    )
    return AuditCheck(task, "sample size", "warn", passed, len(groups), SOUND_PROMPTS, message)


def _agreement_checks(row: Agreement, settings: Gate) -> list[AuditCheck]:
    def check(name: str, what: str, found: Estimate | None, floor: float) -> AuditCheck:
        if found is None:
            message = f"{row.task}: {name} cannot be measured, too few prompts have ratings that differ"
            return AuditCheck(row.task, name, "block", False, None, floor, message)
        passed = found.low >= floor
        message = (
            f"{row.task}: {what} rewards and ratings correlate with rho {found.value:.3f}, "
            f"lower bound {found.low:.3f} {'>=' if passed else '<'} {floor:.3f}"
        )
        return AuditCheck(row.task, name, "block", passed, found.low, floor, message)

    return [
        check("pooled agreement", "over all completions", row.pooled, settings.pooled_floor),
        check("within-prompt agreement", "within prompts", row.within, settings.within_floor),
    ]


def _floor_checks(task: str, bench: Bench, groups: Sequence[Group]) -> list[AuditCheck]:
    worst: dict[str, tuple[float, str]] = {}
    for group in groups:
        for kind, texts in worthless(group.prompt).items():
            scored = max((bench.total(group.prompt, text), text) for text in texts)
            worst[kind] = max(worst.get(kind, scored), scored)
    checks = []
    for kind, (value, text) in worst.items():
        found = f"worthless answer ({kind}) scores up to {value:.3f}, at most {FLOOR:.2f} is right: {text[:60]!r}"
        checks.append(AuditCheck.at_most(task, f"floor: {kind}", value, FLOOR, f"{task}: {found}"))
    return checks


def invariance_checks(
    task: str, bench: Bench, answers: Iterable[tuple[Prompt, str]], rows: Sequence[Row] = ()
) -> list[AuditCheck]:
    """One check per kind of rewriting that changes no meaning, over all answers and what the table has of it."""
    same = [(prompt, pair) for prompt, completion in answers for pair in same_meaning(task, completion)]
    worst: dict[str, tuple[float, str]] = {}
    for prompt, (kind, first, second) in [*same, *((row.prompt, pair) for row in rows for pair in row.same)]:
        change = abs(bench.total(prompt, first) - bench.total(prompt, second))
        worst[kind] = max(worst.get(kind, (change, second)), (change, second))
    checks = []
    for kind, (value, text) in worst.items():
        most = SAME_WITH_NUMBERS if kind == "number formats" else SAME
        found = f"{kind} changes the score by up to {value:.3f} though nothing else changed: {text[:60]!r}"
        checks.append(AuditCheck.at_most(task, f"invariance: {kind}", value, most, f"{task}: {found}"))
    return checks


def _monotonicity_checks(task: str, bench: Bench, groups: Sequence[Group]) -> list[AuditCheck]:
    """Repairing a field of an answer never lowers the score, corrupting one never raises it."""
    repairs: list[tuple[float, str]] = [(0.0, "")]
    corruptions: list[tuple[float, str]] = [(0.0, "")]
    for group in groups:
        truth = group.prompt.reference.get("fields", {})
        for answer in filter(None, (json_object(rated.completion) for rated in group.answers)):
            before = bench.total(group.prompt, json.dumps(answer, ensure_ascii=False))
            for name, text in repaired(answer, truth, spec_of(task).fields).items():
                repairs.append((before - bench.total(group.prompt, text), name))
            for name, texts in corrupted(answer, truth, spec_of(task).fields).items():
                corruptions += [(bench.total(group.prompt, text) - before, name) for text in texts]
    checks = []
    for name, changes, fault in (
        ("repair", repairs, "repairing a field lowers"),
        ("corrupt", corruptions, "corrupting a field raises"),
    ):
        value, where = max(changes)
        message = (
            f"{task}: {fault} the score by up to {value:.3f} (`{where}`)"
            if value > SAME
            else f"{task}: {fault} no score in {len(changes) - 1} edits"
        )
        checks.append(AuditCheck.at_most(task, f"monotonicity: {name}", value, SAME, message))
    return checks


def _component_check(effect: ComponentEffect) -> AuditCheck:
    value = max(effect.pooled.low, effect.within.low)
    message = (
        f"{effect.task}: without `{effect.component}` rewards and ratings would agree better "
        f"(pooled {effect.pooled.value:+.3f}, within prompts {effect.within.value:+.3f})"
    )
    return AuditCheck(
        effect.task, f"component: {effect.component}", "warn", effect.judgement != "harms", value, 0.0, message
    )


def _distinct_check(task: str, groups: Sequence[Group]) -> AuditCheck:
    """A prompt gives signal when its rewards tell apart as many completions as its ratings do, three being enough."""
    fine = [
        len({round(reward, 6) for reward in group.rewards}) >= min(3, len(set(group.ratings)))
        for group in groups
        if len(set(group.ratings)) > 1
    ]
    value = sum(fine) / len(fine) if fine else 0.0
    message = (
        f"{task}: in {value:.0%} of the prompts rewards tell completions apart as people do ({DISTINCT_SHARE:.0%} is"
        " right); coarse rewards give no signal"
    )
    return AuditCheck(task, "variance", "block", value >= DISTINCT_SHARE, value, DISTINCT_SHARE, message)


def _classifier_check(task: str, groups: Sequence[Group], rows: Sequence[Row]) -> AuditCheck:
    prompts = [*(group.prompt for group in groups), *(row.prompt for row in rows)]
    told = {prompt.user: prompt.id for prompt in prompts}
    wrong = [(number, found) for user, number in told.items() if (found := classify_task(user)) != task]
    share = 1 - len(wrong) / len(told) if told else 0.0
    example = f"; prompt {wrong[0][0]} is taken for {wrong[0][1]}" if wrong else ""
    message = f"{task}: the task classifier agrees with {share:.0%} of the labels{example}"
    return AuditCheck(task, "classifier", "block", share == 1, share, 1.0, message)


def _alive_check(task: str, bench: Bench) -> AuditCheck:
    """Every component takes two values at least, over good answers, worthless ones and all that was made of them."""
    names = bench.rewards.component_names(task)
    still = [name for name in names if len({score.components.get(name) for _, _, score in bench.scores}) < 2]
    found = f"{still} are the same for" if still else "every component differs between some of"
    message = f"{task}: {found} {len(bench.scores)} scored texts"
    return AuditCheck.at_most(task, "alive", len(still), 0, message)


def soundness_checks(task: str, bench: Bench) -> list[AuditCheck]:
    """Over every text that was scored: no fault, within [0, 1], the same twice, and the sum of the named components."""
    names = set(bench.rewards.component_names(task))
    seen = bench.scores
    faults = list(bench.faults)
    outside = [score.total for _, _, score in seen if not (isfinite(score.total) and 0 <= score.total <= 1)]
    changed = bench.changed()
    apart = [
        text
        for _, text, score in seen
        if set(score.components) != names or abs(clip(fsum(score.components.values())) - score.total) > SAME
    ]
    found = {
        "never raises": (len(faults), f"scoring raised on {len(faults)} texts: {faults[:1]}"),
        "bounds": (len(outside), f"{len(outside)} scores are not in [0, 1]: {outside[:3]}"),
        "repeatable": (
            len(changed),
            f"{len(changed)} texts score differently the second time: {[text[:40] for text in changed[:1]]}",
        ),
        "components": (
            len(apart),
            (
                f"{len(apart)} totals are not the sum of the components {sorted(names)}:"
                f" {[text[:40] for text in apart[:1]]}"
            ),
        ),
    }
    checks = []
    for name, (count, said) in found.items():
        message = said if count else f"{name}, in {len(seen)} scored texts"
        checks.append(AuditCheck.at_most(task, name, count, 0, f"{task}: {message}"))
    return checks
