"""What nobody minds must cost nothing, and a faultless answer to every kind of prompt earns nearly all."""

from collections.abc import Sequence
from statistics import fmean

from tucano.audit.bench import Bench, Group
from tucano.audit.relations.cases import changed, faultless
from tucano.audit.relations.table import PLAIN, Row
from tucano.audit.report import AuditCheck, Level
from tucano.specs import objects
from tucano.specs.registry import spec_of

MOST_LOST = 0.02
"""What a change may cost that nobody minds."""
MOST_LOST_OF = {"words": 0.15, "blemish": 0.25}
"""And one that says the same in other words, which no program compares without loss; and a blemish, by which a 5
becomes a 4: more than a point of the guide's scale is no blemish."""
FEWEST = 5
"""Answers to a kind of prompt that are judged by themselves."""
KEPT = 0.85
TOP = 0.87
"""What faultless answers earn in the mean over a kind of prompt, and what they should: more where they are not flat."""


def harmless_checks(task: str, bench: Bench, groups: Sequence[Group], rows: Sequence[Row]) -> list[AuditCheck]:
    """One check per kind of change; judged by the variant, and the kind of prompt, in which it costs most."""
    pairs = [(row.prompt, row.kinds, pair) for row in rows for pair in row.as_good]
    if spec_of(task).fields:
        cases = (case for case in changed(groups, rows) if case.made)
        pairs += [(case.prompt, case.kinds, pair) for case in cases for pair in objects.as_good(case.text)]
    costs: dict[str, dict[tuple[str, str], list[float]]] = {}
    for prompt, kinds, (change, before, after) in pairs:
        kind, _, detail = change.partition(": ")
        cost = bench.total(prompt, before) - bench.total(prompt, after)
        for prompts in kinds:
            costs.setdefault(kind, {}).setdefault((detail, prompts), []).append(cost)
    return [_harmless_check(task, kind, found) for kind, found in costs.items()]


def _harmless_check(task: str, kind: str, costs: dict[tuple[str, str], list[float]]) -> AuditCheck:
    told = {key: _usual(found) for key, found in costs.items()}
    judged = [key for key, found in costs.items() if key[1] == PLAIN or len(found) >= FEWEST]
    detail, prompts = max(judged or told, key=lambda key: (told[key], key))
    value = told[detail, prompts]
    most = MOST_LOST_OF.get(kind, MOST_LOST)
    where = "" if prompts == PLAIN else f" in {prompts}"
    what = "a blemish" if kind == "blemish" else "a change that nobody minds"
    message = (
        f"{task}: {what} ({kind}: {detail}) costs {value:.3f} or more in a quarter of the answers{where},"
        f" at most {most} is right"
    )
    return AuditCheck.at_most(task, f"harmless: {kind}", value, most, message)


def _usual(costs: Sequence[float]) -> float:
    """The third quartile, and never the worst of three and more: a few texts may become worse by accident."""
    return sorted(costs)[min(3 * len(costs) // 4, len(costs) - 2) if len(costs) > 2 else -1]


def kind_checks(task: str, bench: Bench, groups: Sequence[Group], rows: Sequence[Row]) -> list[AuditCheck]:
    """Faultless answers earn as much whatever the kind of prompt; the worst kind is named."""
    earned: dict[str, list[float]] = {}
    for case in faultless(groups, rows):
        for kind in case.kinds:
            earned.setdefault(kind, []).append(bench.total(case.prompt, case.text))
    if not earned:
        return []
    means = {kind: fmean(values) for kind, values in earned.items()}
    kind, value = min(means.items(), key=lambda item: item[1])
    found = f"earn {value:.3f} in the mean in {kind}, the worst of {len(means)} kinds of prompts"
    asked: tuple[tuple[str, Level, float], ...] = (
        ("kinds of prompts", "block", KEPT),
        ("kinds of prompts: top", "warn", TOP),
    )
    checks = []
    for name, level, least in asked:
        message = f"{task}: faultless answers {found}; {least} or more is right"
        checks.append(AuditCheck(task, name, level, value >= least, value, least, message))
    return checks
