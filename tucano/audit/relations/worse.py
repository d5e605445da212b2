"""What the guide calls worse must cost: in the mean, in every kind of prompt, in every variant of the flaw, and in
nearly every answer that is faultless otherwise.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tucano.audit.bench import Bench, Group
from tucano.audit.relations.cases import Case, changed
from tucano.audit.relations.table import PLAIN, Row
from tucano.audit.report import AuditCheck
from tucano.prompts import Prompt
from tucano.specs import objects, texts
from tucano.specs.registry import spec_of
from tucano.specs.texts import Flaw

LEAST_PER_POINT = 0.25 / 3
"""What losing one point of the guide's 1-5 scale must cost. A point is .25 of the reward; rewards are asked for the
guide's order, not for its distances, so a third of that is enough. Less is lost in GRPO's noise.
"""
MOST_CHEAP = 0.25
"""Share of the faultless answers in which a flaw may cost less than it should: not every flaw hurts every answer (a
month without an order has the same result as the next one)."""

FEWEST = 4
GRAVE = 2 * LEAST_PER_POINT
HALF = 1.5
"""A flaw of two points or more must cost a faultless answer half of what the guide takes off in the mean, not a third:
there is no other blemish that it could hide behind."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a flaw cost in one answer; `detail`: its variant, `made`: whether the answer is made of its prompt's
    truth."""

    detail: str
    kinds: tuple[str, ...]
    value: float
    least: float
    made: bool


def worse_checks(task: str, bench: Bench, groups: Sequence[Group], rows: Sequence[Row]) -> list[AuditCheck]:
    """One check per kind of flaw that applies to a good answer."""
    costs: dict[str, list[Cost]] = {}
    for prompt, flaw, kinds, made in (*_by_rules(groups, rows), *_by_table(rows)):
        told, points, before, after = flaw
        kind, _, detail = told.partition(": ")
        value = bench.total(prompt, before) - bench.total(prompt, after)
        costs.setdefault(kind, []).append(Cost(detail, kinds, value, points * LEAST_PER_POINT, made))
    return [_worse_check(task, kind, found) for kind, found in costs.items()]


Told = tuple[Prompt, Flaw, tuple[str, ...], bool]
"""Prompt, flaw, kinds of the prompt, whether the answer is faultless otherwise."""


def _by_table(rows: Sequence[Row]) -> Iterator[Told]:
    return ((row.prompt, flaw, row.kinds, bool(row.right)) for row in rows for flaw in row.worse)


def _by_rules(groups: Sequence[Group], rows: Sequence[Row]) -> Iterator[Told]:
    """What makes any answer worse, whatever its prompt."""
    strangers = [found for group in groups if (found := group.prompt.reference.get("fields"))]
    for case in changed(groups, rows):
        for prompt, flaw in _flaws(case, strangers):
            yield prompt, flaw, case.kinds, case.made


def _flaws(case: Case, strangers: Sequence[objects.JsonObject]) -> Iterator[tuple[Prompt, Flaw]]:
    spec = spec_of(case.prompt.task)
    truth = case.prompt.reference.get("fields", {})
    if not spec.fields:
        yield from ((case.prompt, flaw) for flaw in texts.worse(case.text, spec.display.as_code))
        return
    yield from ((case.prompt, flaw) for flaw in objects.worse(case.text, truth, strangers, spec.fields))
    blank = replace(case.prompt, reference={})
    for kind, points, before, after in objects.wrong_types(case.text, truth, spec.fields):
        yield blank, (kind.replace("wrong type", "wrong type, truth unknown"), points, before, after)


def _worse_check(task: str, kind: str, costs: Sequence[Cost]) -> AuditCheck:
    """Judged by the variant and the kind of prompt in which it comes off cheapest."""
    groups: dict[tuple[str, str], list[Cost]] = {}
    for cost in costs:
        for prompts in cost.kinds:
            groups.setdefault((cost.detail, prompts), []).append(cost)
    if any(len(found) > 1 for found in groups.values()):  # one answer alone may be the exception
        groups = {key: found for key, found in groups.items() if len(found) > 1}
    short, (detail, prompts) = min((_mean(found) - _needed(found), key) for key, found in groups.items())
    least = _needed(groups[detail, prompts])
    where = "" if prompts == PLAIN else f" in {prompts}"
    what = f"lose {short + least:.3f} in the mean{where}, {least:.3f} or more is right"
    share, cases, cheap = _cheapest(costs)
    if short >= 0 and share > MOST_CHEAP:
        detail = cheap
        what = f"lose too little in {share:.0%} of {cases} cases, {MOST_CHEAP:.0%} at most is right"
    named = f"{kind}: {detail}" if detail else kind
    message = f"{task}: good answers made worse ({named}) {what}"
    passed = short >= 0 and share <= MOST_CHEAP
    return AuditCheck(task, f"degradation: {kind}", "block", passed, short + least, least, message)


def _mean(costs: Sequence[Cost]) -> float:
    return sum(cost.value for cost in costs) / len(costs)


def _needed(costs: Sequence[Cost]) -> float:
    """What it has to cost in the mean; a third as long as there are too few to average accidents out."""
    hard = len(costs) >= FEWEST
    needed = (cost.least * (HALF if hard and cost.made and cost.least >= GRAVE else 1) for cost in costs)
    return sum(needed) / len(costs)


def _cheapest(costs: Sequence[Cost]) -> tuple[float, int, str]:
    """The variant that costs too little in most faultless answers, with the share of how many; one that few answers
    have may be the exception.
    """
    by_detail: dict[tuple[str, str], list[bool]] = {}
    for cost in costs:
        if cost.made:
            by_detail.setdefault((cost.detail, cost.kinds[0]), []).append(cost.value < cost.least)
    told = ((sum(cheap) / len(cheap), len(cheap), detail) for (detail, _), cheap in by_detail.items())
    return max((found for found in told if found[1] >= FEWEST), default=(0.0, 0, ""))
