"""What the audit found, as frozen records that go to JSON and back."""

from dataclasses import dataclass
from typing import Literal, Self

Level = Literal["block", "warn"]

SCHEMA_VERSION: Literal[2] = 2


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """One question put to the rewards of one task, and the answer. `message` is a sentence that names the task."""

    task: str
    name: str
    level: Level
    passed: bool
    value: float | None
    threshold: float | None
    message: str

    @classmethod
    def at_most(cls, task: str, name: str, value: float, most: float, message: str, level: Level = "block") -> Self:
        """Passed where the value is no more than it may be."""
        return cls(task, name, level, value <= most, value, most, message)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic with its 90 % interval, by bootstrap over prompts; each end is a one-sided 95 % bound."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far rewards and ratings of one task order completions alike, as Spearman's rho.

    `pooled` is over all completions, `within` the mean over prompts; None: too few prompts, or ratings that do not
    differ. The gate reads the row of `all` origins; `sampled` and `written` rows stand beside it where a task has both.
    """

    task: str
    origin: Literal["all", "sampled", "written"]
    prompts: int
    completions: int
    pooled: Estimate | None
    within: Estimate | None


@dataclass(frozen=True, slots=True)
class ComponentEffect:
    """How Spearman's rho changes when one component is left out: below 0 the component helps, above 0 it harms.

    The judgement asks that one of the two changes is clear (one-sided 95 %) and that the other does not contradict it.
    """

    task: str
    component: str
    pooled: Estimate
    within: Estimate

    @property
    def judgement(self) -> Literal["helps", "harms", "unclear"]:
        both = (self.pooled, self.within)
        if any(change.low > 0 for change in both) and all(change.value >= 0 for change in both):
            return "harms"
        return (
            "helps"
            if any(change.high < 0 for change in both) and all(change.value <= 0 for change in both)
            else "unclear"
        )


@dataclass(frozen=True, slots=True)
class Sampled:
    """Rewards of several sampled answers per prompt: their mean, the mean of the best of (at most) k, and the share of
    the prompts whose answers do not all earn the same: the others give GRPO nothing to learn from.
    """

    task: str
    prompts: int
    k: int
    mean: float
    best: float
    differing: float


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """Quadratic weighted kappa of two raters over the completions that both rated; None where chance alone would
    agree.
    """

    task: str
    first: str
    second: str
    completions: int
    kappa: float | None


@dataclass(frozen=True, slots=True)
class Consensus:
    """Krippendorff's alpha of all raters of a task over the completions with two ratings or more."""

    task: str
    raters: int
    completions: int
    alpha: float | None


@dataclass(frozen=True, slots=True)
class PeopleAgreement:
    """`Agreement` with people's ratings: of `prompts` that they rated, with the help of models' of `helped` others."""

    task: str
    prompts: int
    helped: int
    pooled: Estimate
    within: Estimate


@dataclass(frozen=True, slots=True)
class Youden:
    """Youden's J of a reward as a judge of good answers, over `all` thresholds, at a `fixed` one, or at the `best`.

    `tpr` is the share of the `good` answers that earn the threshold, `fpr` that of the `others`; over all thresholds
    they are mean rewards. `j` is their difference, at the best threshold less what choosing it gained.
    """

    task: str
    at: Literal["all", "fixed", "best"]
    threshold: float | None
    good: int
    others: int
    tpr: float
    fpr: float
    j: Estimate

    @property
    def where(self) -> str:
        """The threshold in words."""
        return "all" if self.threshold is None else f"{'best, ' * (self.at == 'best')}{self.threshold:.2f}"

    @property
    def judgement(self) -> Literal["the reward teaches", "it would unlearn", "cannot be told"]:
        if self.j.low <= 0 <= self.j.high:
            return "cannot be told"
        return "the reward teaches" if self.j.low > 0 else "it would unlearn"


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
class FoolingText:
    """A text that a search made of worthless answers and scraps, and what the rewards give for it (0-1)."""

    task: str
    prompt_id: str
    user: str
    text: str
    reward: float


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The gate's result. `provisional`: of a task people's ratings do not carry the result yet (`gate.is_carried`)."""

    schema_version: Literal[2]
    reward_set: str
    seed: int
    resamples: int
    raters: dict[str, str]
    provisional: bool
    checks: tuple[AuditCheck, ...]
    agreement: tuple[Agreement, ...]
    components: tuple[ComponentEffect, ...]
    sampled: tuple[Sampled, ...]
    raters_agree: tuple[RaterAgreement, ...]
    disagreements: tuple[Disagreement, ...]
    fooling: tuple[FoolingText, ...] = ()
    consensus: tuple[Consensus, ...] = ()
    people: tuple[PeopleAgreement, ...] = ()
    youden: tuple[Youden, ...] = ()
    overridden_by: str | None = None
    override_reason: str | None = None

    @property
    def passed(self) -> bool:
        """True when no blocking check failed; an override does not change that."""
        return not self.failed_checks

    @property
    def failed_checks(self) -> tuple[AuditCheck, ...]:
        """The blocking checks that failed."""
        return tuple(check for check in self.checks if check.level == "block" and not check.passed)

    @property
    def warnings(self) -> tuple[AuditCheck, ...]:
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

    @property
    def tags(self) -> dict[str, str | None]:
        """As MLflow's runs and the registry hold it."""
        signed = {"audit.override_by": self.overridden_by, "audit.override_reason": self.override_reason}
        return {"audit": self.verdict, **signed}
