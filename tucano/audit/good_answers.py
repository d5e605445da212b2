"""Checks with good answers: what is written is read, the best reach the top of the scale, few faultless ones fail."""

import json
from collections.abc import Sequence
from math import fsum
from typing import Any

from rewards.parsing.objects import find_object
from tucano.audit.bench import Bench, Group
from tucano.audit.relations.cases import rated
from tucano.audit.report import AuditCheck
from tucano.prompts import Prompt
from tucano.specs.objects import NOTATIONS, JsonObject, compact, json_object, with_number
from tucano.specs.registry import right_answers, spec_of

GOOD_REWARD = 0.87
"""The best of some dozens of good answers earns this much, or a part of the scale cannot be reached: weights do not add
up to 1. Less than all: of a task's good answers every one may have the same small fault, as flat pushes do.
"""
KEPT = 0.85
MOST_FAILED = 0.05
"""What a faultless answer earns at least, and the share of them that may earn less."""
MOST_EDITED = 12
"""Good answers that are edited, those that people rated first: enough for a mean, few enough for seconds."""
MOST_READ = 5
SAME = 1e-6


def good_answer_checks(task: str, bench: Bench, groups: Sequence[Group]) -> list[AuditCheck]:
    right = [(group.prompt, text) for group in groups for text in right_answers(group.prompt)]
    good = [*((case.prompt, case.text) for case in rated(groups)), *right][:MOST_EDITED]
    best = right + [
        (group.prompt, answer.completion) for group in groups for answer in group.answers if answer.rating == 5
    ]
    reading = [_reading_check(task, good)] if spec_of(task).fields else []
    return [*reading, _false_fail_check(task, bench, best), _scale_check(task, bench, good)]


def _reading_check(task: str, good: Sequence[tuple[Prompt, str]]) -> AuditCheck:
    """The reader of objects finds in a text what stands there: numbers, lists and strings as written, whatever slips
    around them.
    """
    cases = [case for _, text in good[:MOST_READ] for case in _readings(json_object(text) or {})]
    wrong = [text for text, expected in cases if json.dumps(find_object(text)) != json.dumps(expected)]
    example = f", first: {wrong[0][:60]!r}" if wrong else ""
    message = f"{task}: {len(wrong)} of {len(cases)} texts with an object are read as another one{example}"
    return AuditCheck.at_most(task, "reading", len(wrong), 0, message)


_VALUES: tuple[Any, ...] = (
    [4, 5],
    [1, 2, 3],
    ["4,5", "R$ 9,90"],
    {"min": 4, "max": 5},
    "nota 4,5, prazo 10,5",
    -3,
    4.5,
    None,
)


def _readings(answer: JsonObject) -> list[tuple[str, JsonObject]]:
    """Texts that hold this object together with values of every kind, written flawlessly and with forgivable slips;
    what they say.
    """
    found = []
    for value in _VALUES:
        whole = {"extra": value} | answer
        text = compact(whole)
        slips = [text, f"Segue o JSON:\n```json\n{text}\n```\nEspero ter ajudado.", f"{text[:-1]},}}", text[:-1]]
        slips += [text.replace('"', "'")] if "'" not in text else []
        found += [(slip, whole) for slip in slips]
        numbered = whole | {"valor": 0.0, "fim": True}
        found += [
            (with_number(numbered, "valor", local), numbered | {"valor": float(plain)}) for plain, local in NOTATIONS
        ]
    return found


def _false_fail_check(task: str, bench: Bench, best: Sequence[tuple[Prompt, str]]) -> AuditCheck:
    """What everybody rated 5, and what is right by the prompt's truth, earns nearly all."""
    scored = sorted((bench.total(prompt, text), text) for prompt, text in best)
    failed = [text for score, text in scored if score < KEPT]
    share = len(failed) / len(scored) if scored else 0.0
    example = f", first: {failed[0][:60]!r}" if failed else ""
    message = f"{task}: {len(failed)} of {len(scored)} faultless answers earn less than {KEPT:.2f}{example}"
    return AuditCheck.at_most(task, "false fails", share, MOST_FAILED, message)


def _scale_check(task: str, bench: Bench, good: Sequence[tuple[Prompt, str]]) -> AuditCheck:
    """Good answers reach the top of the scale, and no sum of components goes beyond it."""
    best = max((bench.total(prompt, text) for prompt, text in good), default=0.0)
    highest = max((fsum(score.components.values()) for _, _, score in bench.scores), default=0.0)
    passed = best >= GOOD_REWARD and highest <= 1 + SAME
    seen = (
        f"the best of {len(good)} good answers scores {best:.3f} ({GOOD_REWARD:.2f} or more is right)"
        if good
        else "no answer is rated 4 or 5 or known to be right, so that nothing says where the scale ends"
    )
    message = f"{task}: {seen}, components add up to {highest:.3f} at most (1 is right)"
    return AuditCheck(task, "scale", "block", passed, best, GOOD_REWARD, message)
