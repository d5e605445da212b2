"""The folders of what is measured: answers, reports and verdicts."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class AnswerFiles:
    """An `Answer` per line, and how each arm reads ordinary Portuguese."""

    folder: Path

    @property
    def answers(self) -> Path:
        return self.folder / "answers.jsonl"

    @property
    def language(self) -> Path:
        return self.folder / "language.jsonl"


@dataclass(frozen=True, slots=True)
class AuditFiles:
    folder: Path

    @property
    def report(self) -> Path:
        return self.folder / "audit.json"

    @property
    def page(self) -> Path:
        return self.folder / "audit.html"

    @property
    def text(self) -> Path:
        return self.folder / "audit.txt"


@dataclass(frozen=True, slots=True)
class PlanFiles:
    folder: Path

    @property
    def plan(self) -> Path:
        return self.folder / "plan.json"


@dataclass(frozen=True, slots=True)
class PreflightFiles:
    folder: Path

    @property
    def text(self) -> Path:
        return self.folder / "preflight.txt"


@dataclass(frozen=True, slots=True)
class ReauditFiles:
    folder: Path

    @property
    def report(self) -> Path:
        return self.folder / "re-audit.json"

    @property
    def text(self) -> Path:
        return self.folder / "re-audit.txt"


@dataclass(frozen=True, slots=True)
class ComparisonFiles:
    folder: Path

    @property
    def comparison(self) -> Path:
        return self.folder / "comparison.json"


@dataclass(frozen=True, slots=True)
class PaceFiles:
    folder: Path

    @property
    def paces(self) -> Path:
        return self.folder / "paces.json"


@dataclass(frozen=True, slots=True)
class BenchmarkFiles:
    folder: Path

    @property
    def result(self) -> Path:
        return self.folder / "benchmark.json"

    @property
    def table(self) -> Path:
        return self.folder / "benchmark.md"


@dataclass(frozen=True, slots=True)
class ReportFiles:
    folder: Path

    @property
    def page(self) -> Path:
        return self.folder / "report.html"

    @property
    def settings(self) -> Path:
        return self.folder / "settings.json"
