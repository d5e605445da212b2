"""What stages hand to each other: one type per kind of artifact, with its files and its record.

Swapped arguments are type errors then, and what a record holds is known to its reader.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

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

F = TypeVar("F")


class Record(BaseModel):
    """What a stage says about its artifact, as far as other stages read it."""

    model_config = ConfigDict(frozen=True, extra="ignore")


R = TypeVar("R", bound=Record)


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


def _files(kind: Callable[[Path], F]) -> cached_property[F]:
    """What lies in the artifact's folder."""

    def files(handle: Handle) -> F:
        return kind(handle.artifact.folder)

    return cached_property(files)


def _record(kind: type[R]) -> cached_property[R]:
    """What the stage says about it."""

    def record(handle: Handle) -> R:
        return kind.model_validate(handle.artifact.record)

    return cached_property(record)


def _read(kind: type[F], file: Callable[[Any], Path]) -> cached_property[F]:
    """What one of its files holds."""

    def read(handle: Handle) -> F:
        return read_record(kind, file(handle))

    return cached_property(read)


class DataRecord(Record):
    licences: tuple[str, ...]


class PromptSet(Handle):
    """Prompts, demonstrations, system prompts and the store that they ask about."""

    files = _files(PromptFiles)
    record = _record(DataRecord)


class Questions(Handle):
    """The prompts of the benchmark: a folder like a prompt set's."""

    files = _files(PromptFiles)


class Plan(Handle):
    """What the comparison will be judged by, with the date on which that was fixed."""

    files = _files(PlanFiles)


class AuditResult(Handle):
    """The reward audit's report."""

    files = _files(AuditFiles)
    report = _read(AuditReport, lambda self: self.files.report)


class PreferencesRecord(Record):
    """How many pairs may be learned from, and how many are left out for which reason."""

    pairs: int
    left_out: dict[str, int]


class Preferences(Handle):
    """The pairs that people preferred, as far as a run may learn from them."""

    files = _files(PreferenceFiles)
    record = _record(PreferencesRecord)


class StartRecord(Record):
    tracking_run: str


class Start(Handle):
    """What GRPO begins with: the best model, or adapter, by validation loss."""

    files = _files(StartFiles)
    record = _record(StartRecord)


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

    files = _files(PreflightFiles)
    record = _record(PreflightRecord)


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

    files = _files(SeedFiles)
    record = _record(SeedRecord)

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

    files = _files(AnswerFiles)

    def read(self) -> list[Answer]:
        return read_answers(self.files.answers)


class EndpointAnswers(AnswerSet):
    """Answers of one API, and what they cost."""

    record = _record(BillRecord)


class PaceRecord(Record):
    machine: str
    cores: int


class ArmPaces(Handle):
    """How fast the trained arms answer."""

    files = _files(PaceFiles)
    record = _record(PaceRecord)


class JudgeRecord(BillRecord):
    ratings: dict[str, list[int | None]]


class JudgeRatings(Handle):
    """How a model rates the insights of every arm."""

    record = _record(JudgeRecord)


class ReauditResult(Handle):
    """The reward audit again, on what the tuned policies sample."""

    files = _files(ReauditFiles)
    report = _read(Reaudit, lambda self: self.files.report)


class ComparisonResult(Handle):
    """The verdict with all its numbers."""

    files = _files(ComparisonFiles)
    comparison = _read(Comparison, lambda self: self.files.comparison)


class MergeRecord(Record):
    faithful: bool
    mean_difference: float


class Merged(Handle):
    """The candidate as one model of 16-bit weights."""

    files = _files(MergedFiles)
    record = _record(MergeRecord)


class PublicRecord(Record):
    licences: dict[str, str]


class PublicQuestions(Handle):
    """The questions of the public benchmarks, with Spider's databases beside them."""

    files = _files(PublicFiles)
    record = _record(PublicRecord)


class PublicAnswers(Handle):
    """What the arms answer to them."""

    files = _files(PublicFiles)


class PublicScores(Handle):
    """What these answers are worth."""

    files = _files(PublicFiles)
    result = _read(PublicResult, lambda self: self.files.result)


class BenchmarkResult(Handle):
    """What every arm is worth by ground truth."""

    files = _files(BenchmarkFiles)
    result = _read(Benchmark, lambda self: self.files.result)


class Report(Handle):
    """One page for readers."""

    files = _files(ReportFiles)
