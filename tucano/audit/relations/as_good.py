"""What nobody minds must cost nothing, and a faultless answer to every kind of prompt earns nearly all."""

from collections.abc import Sequence
from statistics import fmean

from tucano.audit.bench import Bench, Group
from tucano.audit.relations.cases import Case, every_faultless, made
from tucano.audit.report import AuditCheck, Level
from tucano.specs.registry import spec_of

MOST_LOST = 0.05
"""What a change may cost that nobody minds."""
MOST_LOST_IN_WORDS = 0.15
"""And one that says the same in other words, which no program compares without loss."""
KEPT = 0.85
TOP = 0.95
"""What faultless answers earn in the mean over a kind of prompt, and what they should."""


def harmless_checks(task: str, bench: Bench, groups: Sequence[Group]) -> list[AuditCheck]:
    """One check per kind of change; judged by the variant that costs most."""
    costs: dict[str, dict[str, list[float]]] = {}
    for case in made(groups, len(groups)):
        for change, before, after in spec_of(task).harmless(case.prompt, case.text):
            kind, _, detail = change.partition(": ")
            cost = bench.total(case.prompt, before) - bench.total(case.prompt, after)
            costs.setdefault(kind, {}).setdefault(detail, []).append(cost)
    return [_harmless_check(task, kind, details) for kind, details in costs.items()]


def _harmless_check(task: str, kind: str, costs: dict[str, list[float]]) -> AuditCheck:
    means = {detail: fmean(found) for detail, found in costs.items()}
    detail, value = max(means.items(), key=lambda item: item[1])
    most = MOST_LOST_IN_WORDS if kind == "words" else MOST_LOST
    message = f"{task}: a change that nobody minds ({kind}: {detail}) costs {value:.3f} in the mean, at most {most} is right"
    return AuditCheck(task, f"harmless: {kind}", "block", value <= most, value, most, message)


def kind_checks(task: str, bench: Bench, groups: Sequence[Group]) -> list[AuditCheck]:
    """Faultless answers earn as much whatever the kind of prompt; the worst kind is named."""
    earned: dict[str, list[float]] = {}
    for case in every_faultless(groups):
        for kind in case.kinds:
            earned.setdefault(kind, []).append(bench.total(case.prompt, case.text))
    if not earned:
        return []
    means = {kind: fmean(values) for kind, values in earned.items()}
    kind, value = min(means.items(), key=lambda item: item[1])
    checks: tuple[tuple[str, Level, float], ...] = (
        ("kinds of prompts", "block", KEPT),
        ("kinds of prompts: top", "warn", TOP),
    )
    return [
        AuditCheck(
            task,
            name,
            level,
            value >= least,
            value,
            least,
            f"{task}: faultless answers earn {value:.3f} in the mean in {kind}, the worst of {len(means)} kinds of"
            f" prompts; {least} or more is right",
        )
        for name, level, least in checks
    ]


