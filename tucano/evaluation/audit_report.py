"""What the audit found, as frozen records that go to JSON and back, and as a table for the terminal."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

from tucano.evaluation.tables import pipe_table, wrapped

Level = Literal["block", "warn"]

SCHEMA_VERSION = 2


@dataclass(frozen=True, slots=True)
class Check:
    """One question put to the rewards of one task, and the answer. `message` is a sentence that names the task."""

    task: str
    name: str
    level: Level
    passed: bool
    value: float | None
    threshold: float | None
    message: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far rewards and ratings of one task order completions alike: Spearman's rho with one-sided 95 % lower bounds.

    `pooled` is over all completions, `within` the mean over prompts; `sampled` and `written` are pooled by origin. None: too few.
    """

    task: str
    prompts: int
    completions: int
    pooled: float | None
    pooled_low: float | None
    within: float | None
    within_low: float | None
    sampled: float | None
    written: float | None


@dataclass(frozen=True, slots=True)
class ComponentEffect:
    """What leaving one component out does to the agreement: change of Spearman's rho, with one-sided 95 % lower bounds.

    Below 0 the component helps; a bound above 0 says that it harms.
    """

    task: str
    component: str
    pooled: float
    pooled_low: float
    within: float
    within_low: float


@dataclass(frozen=True, slots=True)
class Sampled:
    """Of the prompts with several sampled answers: mean reward, mean of the best of at most k, and the share of the prompts whose
    samples do not all earn the same."""

    task: str
    prompts: int
    k: int
    mean: float
    best: float
    differing: float


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """Quadratic weighted kappa of two raters over the completions that both rated; None where chance alone would agree."""

    task: str
    first: str
    second: str
    completions: int
    kappa: float | None


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """A completion with the mean of its ratings (1-5) and its reward (0-1)."""

    completion: str
    rating: float
    reward: float


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A prompt whose completions the rewards order least as people do."""

    task: str
    prompt_id: str
    user: str
    agreement: float
    answers: tuple[JudgedAnswer, ...]


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The gate's result. `provisional`: a task was rated by no human."""

    schema_version: int
    reward_set: str
    seed: int
    resamples: int
    raters: dict[str, str]
    provisional: bool
    checks: tuple[Check, ...]
    agreement: tuple[Agreement, ...]
    disagreements: tuple[Disagreement, ...]
    overridden_by: str | None
    override_reason: str | None
    components: tuple[ComponentEffect, ...] = ()
    sampled: tuple[Sampled, ...] = ()
    raters_agree: tuple[RaterAgreement, ...] = ()

    @property
    def passed(self) -> bool:
        """True when no blocking check failed; an override does not change that."""
        return not self.failed_checks

    @property
    def failed_checks(self) -> tuple[Check, ...]:
        """The blocking checks that failed."""
        return tuple(check for check in self.checks if check.level == "block" and not check.passed)

    @property
    def warnings(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.level == "warn" and not check.passed)

    @property
    def may_proceed(self) -> bool:
        """The gate is open: passed, or overridden by a person."""
        return self.passed or self.overridden_by is not None

    @property
    def verdict(self) -> str:
        """`passed` or `failed`, with «provisional» and who overrode it."""
        words = ["passed" if self.passed else "failed"]
        words += ["provisional"] if self.provisional else []
        words += [f"overridden by {self.overridden_by}"] if self.overridden_by else []
        return ", ".join(words)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        parts = {
            "checks": tuple(Check(**check) for check in record["checks"]),
            "agreement": tuple(Agreement(**row) for row in record["agreement"]),
            "components": tuple(ComponentEffect(**row) for row in record["components"]),
            "sampled": tuple(Sampled(**row) for row in record["sampled"]),
            "raters_agree": tuple(RaterAgreement(**row) for row in record["raters_agree"]),
            "disagreements": tuple(
                Disagreement(**(row | {"answers": tuple(JudgedAnswer(**answer) for answer in row["answers"])}))
                for row in record["disagreements"]
            ),
        }
        return cls(**(record | parts))

    def dumps(self) -> str:
        return json.dumps(self.to_json(), ensure_ascii=False, indent=1, allow_nan=False)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def render_table(report: AuditReport) -> str:
    """The report for a terminal of 100 columns; it is markdown too."""
    kinds = sorted(set(report.raters.values()))
    head = (
        f"Audit of the reward set `{report.reward_set}`: {report.verdict}. "
        f"{len(report.raters)} rater(s) ({', '.join(kinds) or 'none'}); bounds are one-sided 95 %, {report.resamples} resamples by prompt."
    )
    lines = [*wrapped(head), "", *_agreement_rows(report)]
    for title, checks in (("Blocking", report.failed_checks), ("Warnings", report.warnings)):
        if checks:
            lines += ["", f"{title}:"]
            for check in checks:
                lines += wrapped(f"- {check.message}")
    if report.overridden_by:
        lines += ["", *wrapped(f"Overridden by {report.overridden_by}: {report.override_reason}")]
    return "\n".join(lines)


def _agreement_rows(report: AuditReport) -> list[str]:
    head = ("task", "prompts", "answers", "pooled", "bound", "within", "bound", "sampled", "written", "checks")
    rows: list[tuple[str, ...]] = [head]
    for row in report.agreement:
        checks = [check for check in report.checks if check.task == row.task]
        numbers = [row.pooled, row.pooled_low, row.within, row.within_low, row.sampled, row.written]
        passed = f"{sum(check.passed for check in checks)}/{len(checks)}"
        rows.append((row.task, str(row.prompts), str(row.completions), *map(_number, numbers), passed))
    return pipe_table(rows)
