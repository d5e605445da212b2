"""What stages hand to each other: one type per kind of artifact, with its files and its record.

Swapped arguments are type errors then, and what a record holds is known to its reader.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from pydantic import BaseModel, ConfigDict

from tucano.artifacts.records import read_record
from tucano.artifacts.store import Artifact
from tucano.audit.reaudit import Reaudit
from tucano.audit.report import AuditReport
from tucano.benchmark.benchmark import Benchmark
from tucano.benchmark.endpoint import Bill
from tucano.benchmark.public.questions import PublicFiles
from tucano.benchmark.public.result import PublicResult
from tucano.comparison.answers import Answer, read_answers
from tucano.comparison.compare import Comparison
from tucano.files.models import MergedFiles, PreferenceFiles, SeedFiles, StartFiles
from tucano.files.prompts import PromptFiles
from tucano.files.results import (
    AnswerFiles,
    AuditFiles,
    BenchmarkFiles,
    ComparisonFiles,
    PaceFiles,
    PlanFiles,
    PreflightFiles,
    ReauditFiles,
    ReportFiles,
)


class Record(BaseModel):
    """What a stage says about its artifact, as far as other stages read it."""

    model_config = ConfigDict(frozen=True, extra="ignore")


@dataclass(frozen=True)
class Handle:
    """A valid artifact of one kind."""

    artifact: Artifact

    @property
    def digest(self) -> str:
        return self.artifact.digest

    @property
    def made_at(self) -> datetime:
        return self.artifact.made_at


class DataRecord(Record):
    licences: tuple[str, ...]


class PromptSet(Handle):
    """Prompts, demonstrations, system prompts and the store that they ask about."""

    @property
    def files(self) -> PromptFiles:
        return PromptFiles(self.artifact.folder)

    @cached_property
    def record(self) -> DataRecord:
        return DataRecord.model_validate(self.artifact.record)


class Questions(Handle):
    """The prompts of the benchmark: a folder like a prompt set's."""

    @property
    def files(self) -> PromptFiles:
        return PromptFiles(self.artifact.folder)


class Plan(Handle):
    """What the comparison will be judged by, with the date on which that was fixed."""

    @property
    def files(self) -> PlanFiles:
        return PlanFiles(self.artifact.folder)


class AuditResult(Handle):
    """The reward audit's report."""

    @property
    def files(self) -> AuditFiles:
        return AuditFiles(self.artifact.folder)

    @cached_property
    def report(self) -> AuditReport:
        return read_record(AuditReport, self.files.report)


class PreferencesRecord(Record):
    """How many pairs may be learned from, and how many are left out for which reason."""

    pairs: int
    left_out: dict[str, int]


class Preferences(Handle):
    """The pairs that people preferred, as far as a run may learn from them."""

    @property
    def files(self) -> PreferenceFiles:
        return PreferenceFiles(self.artifact.folder)

    @cached_property
    def record(self) -> PreferencesRecord:
        return PreferencesRecord.model_validate(self.artifact.record)


class StartRecord(Record):
    tracking_run: str


class Start(Handle):
    """What GRPO begins with: the best model, or adapter, by validation loss."""

    @property
    def files(self) -> StartFiles:
        return StartFiles(self.artifact.folder)

    @cached_property
    def record(self) -> StartRecord:
        return StartRecord.model_validate(self.artifact.record)


class CheckLine(Record):
    """A line of the preflight's table; `raised`: a fault kept the check from seeing anything."""

    name: str
    level: str
    evidence: str
    raised: bool = False


class PreflightRecord(Record):
    checks: tuple[CheckLine, ...]


class PreflightResult(Handle):
    """What would ruin the run, seen before it."""

    @property
    def files(self) -> PreflightFiles:
        return PreflightFiles(self.artifact.folder)

    @cached_property
    def record(self) -> PreflightRecord:
        return PreflightRecord.model_validate(self.artifact.record)


class AlarmLine(Record):
    """An alarm that a training raised."""

    name: str
    step: int
    evidence: str
    advice: str
    stops: bool


class SeedRecord(Record):
    """`made_of` names the artifacts of earlier trainings that this one goes on from, or joins: their alarms are here as
    well, and `before_step` is the best step of them. `tracking_run` is empty where nothing was trained, but joined.
    """

    seed: int
    best_step: int
    best_value: float
    alarms: tuple[AlarmLine, ...]
    tracking_run: str
    made_of: tuple[str, ...] = ()
    before_step: int = 0

    @property
    def unmoved(self) -> bool:
        """Whether no step was better than the start."""
        return self.best_step == self.before_step == 0


class SeedResult(Handle):
    """The best adapter of one seed by the validation set, with its curves."""

    @property
    def files(self) -> SeedFiles:
        return SeedFiles(self.artifact.folder)

    @cached_property
    def record(self) -> SeedRecord:
        return SeedRecord.model_validate(self.artifact.record)

    @property
    def seed(self) -> int:
        return self.record.seed

    @property
    def arm(self) -> str:
        """What this seed is called among those that answer."""
        return f"seed-{self.seed}"


@dataclass(frozen=True)
class Seeds:
    """The seeds that were trained, and why the others are missing."""

    trained: tuple[SeedResult, ...]
    missing: Mapping[int, str]

    @property
    def best(self) -> SeedResult:
        """The candidate: best on the validation set; the test set chooses nothing."""
        return max(self.trained, key=lambda seed: seed.record.best_value)

    @property
    def inputs(self) -> dict[str, str]:
        """As inputs of what is made from all of them."""
        return {seed.arm: seed.digest for seed in self.trained}


class BillRecord(Record):
    bill: Bill


class AnswerSet(Handle):
    """Answers of several arms to the same prompts."""

    @property
    def files(self) -> AnswerFiles:
        return AnswerFiles(self.artifact.folder)

    def read(self) -> list[Answer]:
        return read_answers(self.files.answers)


class EndpointAnswers(AnswerSet):
    """Answers of one API, and what they cost."""

    @cached_property
    def record(self) -> BillRecord:
        return BillRecord.model_validate(self.artifact.record)


class PaceRecord(Record):
    machine: str
    cores: int


class ArmPaces(Handle):
    """How fast the trained arms answer."""

    @property
    def files(self) -> PaceFiles:
        return PaceFiles(self.artifact.folder)

    @cached_property
    def record(self) -> PaceRecord:
        return PaceRecord.model_validate(self.artifact.record)


class JudgeRecord(BillRecord):
    ratings: dict[str, list[int | None]]


class JudgeRatings(Handle):
    """How a model rates the insights of every arm."""

    @cached_property
    def record(self) -> JudgeRecord:
        return JudgeRecord.model_validate(self.artifact.record)


class ReauditResult(Handle):
    """The reward audit again, on what the tuned policies sample."""

    @property
    def files(self) -> ReauditFiles:
        return ReauditFiles(self.artifact.folder)

    @cached_property
    def report(self) -> Reaudit:
        return read_record(Reaudit, self.files.report)


class ComparisonResult(Handle):
    """The verdict with all its numbers."""

    @property
    def files(self) -> ComparisonFiles:
        return ComparisonFiles(self.artifact.folder)

    @cached_property
    def comparison(self) -> Comparison:
        return read_record(Comparison, self.files.comparison)


class MergeRecord(Record):
    faithful: bool
    mean_difference: float


class Merged(Handle):
    """The candidate as one model of 16-bit weights."""

    @property
    def files(self) -> MergedFiles:
        return MergedFiles(self.artifact.folder)

    @cached_property
    def record(self) -> MergeRecord:
        return MergeRecord.model_validate(self.artifact.record)


class PublicRecord(Record):
    licences: dict[str, str]


class PublicQuestions(Handle):
    """The questions of the public benchmarks, with Spider's databases beside them."""

    @property
    def files(self) -> PublicFiles:
        return PublicFiles(self.artifact.folder)

    @cached_property
    def record(self) -> PublicRecord:
        return PublicRecord.model_validate(self.artifact.record)


class PublicAnswers(Handle):
    """What the arms answer to them."""

    @property
    def files(self) -> PublicFiles:
        return PublicFiles(self.artifact.folder)


class PublicScores(Handle):
    """What these answers are worth."""

    @property
    def files(self) -> PublicFiles:
        return PublicFiles(self.artifact.folder)

    @cached_property
    def result(self) -> PublicResult:
        return read_record(PublicResult, self.files.result)


class BenchmarkResult(Handle):
    """What every arm is worth by ground truth."""

    @property
    def files(self) -> BenchmarkFiles:
        return BenchmarkFiles(self.artifact.folder)

    @cached_property
    def result(self) -> Benchmark:
        return read_record(Benchmark, self.files.result)


class Report(Handle):
    """One page for readers."""

    @property
    def files(self) -> ReportFiles:
        return ReportFiles(self.artifact.folder)
