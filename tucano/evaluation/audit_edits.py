"""Checks with edited answers: what the guide calls worse must cost, what it calls equal must score the same, what is written is read."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from tucano.evaluation.audit_bench import Bench, Group, good_answers
from tucano.evaluation.audit_report import Check
from tucano.evaluation.edits import degradations, equals, readings, right_answers
from tucano.evaluation.probes import json_object
from tucano.prompts import Prompt

Reader = Callable[[str], dict[str, Any] | None]

MOST_EDITED = 12
"""Good answers that are edited, those that people rated first: enough for a mean, few enough for seconds."""
MOST_READ = 5
SAME = 1e-6
EXACT = {"number notation", "list spacing"}
"""Kinds of texts that hold the same values; the others only mean the same."""
EQUAL = 0.05
"""Texts that people would rate alike may differ by a fifth of a point of the guide's scale, which is .25 of the reward."""


def good_texts(groups: Sequence[Group]) -> list[tuple[Prompt, str]]:
    """Answers that people called good, and answers made of the prompts' truth."""
    right = [(group.prompt, text) for group in groups for text in right_answers(group.prompt)]
    return (good_answers(groups) + right)[:MOST_EDITED]


def edit_checks(task: str, bench: Bench, groups: Sequence[Group]) -> list[Check]:
    """One check per kind of edit. A kind that applies to no answer of the rating set is not asked."""
    good = good_texts(groups)
    prompts = [group.prompt for group in groups]
    return [*_degradation_checks(task, bench, good, prompts), *_equal_checks(task, bench, good)]


def _degradation_checks(task: str, bench: Bench, good: Sequence[tuple[Prompt, str]], prompts: Sequence[Prompt]) -> list[Check]:
    costs: dict[str, dict[str, list[float]]] = {}
    least: dict[str, float] = {}
    for prompt, text in good:
        place = prompts.index(prompt)
        for edit in degradations(prompt, text, [*prompts[place + 1 :], *prompts[:place]]):
            cost = bench.total(edit.prompt, edit.before) - bench.total(edit.prompt, edit.after)
            costs.setdefault(edit.kind, {}).setdefault(edit.detail, []).append(cost)
            least[edit.kind] = edit.least
    checks = []
    for kind, details in costs.items():
        value, detail = min((sum(of_detail) / len(of_detail), detail) for detail, of_detail in details.items())
        what = f"{kind}: {detail}" if detail else kind
        message = f"{task}: good answers made worse ({what}) lose {value:.3f} in the mean, {least[kind]:.3f} or more is right"
        checks.append(Check(task, f"degradation: {kind}", "block", value >= least[kind], value, least[kind], message))
    return checks


def _equal_checks(task: str, bench: Bench, good: Sequence[tuple[Prompt, str]]) -> list[Check]:
    worst: dict[str, tuple[float, str]] = {}
    for prompt, text in good:
        for kind, rows in equals(prompt, text).items():
            for row in rows:
                scored = sorted((bench.total(prompt, variant), variant) for variant in row)
                spread = (scored[-1][0] - scored[0][0], scored[0][1])
                worst[kind] = max(worst.get(kind, spread), spread)
    limits = {kind: SAME if kind in EXACT else EQUAL for kind in worst}
    return [
        Check(
            task,
            f"equal: {kind}",
            "block",
            value <= limits[kind],
            value,
            limits[kind],
            f"{task}: texts that people would rate alike ({kind}) differ by up to {value:.3f}, least: {text[-70:]!r}",
        )
        for kind, (value, text) in worst.items()
    ]


def reading_check(task: str, groups: Sequence[Group], read: Reader) -> Check:
    """The reader of objects finds in a text what stands there: numbers, lists and strings as written, whatever slips around them."""
    cases = [case for _, text in good_texts(groups)[:MOST_READ] for case in readings(json_object(text) or {})]
    wrong = [text for text, expected in cases if json.dumps(read(text)) != json.dumps(expected)]
    example = f", first: {wrong[0][:60]!r}" if wrong else ""
    message = f"{task}: {len(wrong)} of {len(cases)} texts with an object are read as another one{example}"
    return Check(task, "reading", "block", not wrong, len(wrong), 0, message)
