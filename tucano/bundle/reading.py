"""What lies in a bundle, or in the storage that it is packed from, read as what it is."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from tucano.artifacts.records import parsed, read_record
from tucano.artifacts.store import read_manifest
from tucano.bundle.manifest import ARTIFACTS, Manifest
from tucano.comparison.answers import Answer, read_answers
from tucano.comparison.compare import Comparison
from tucano.errors import UserError
from tucano.files.prompts import PromptFiles
from tucano.files.results import AnswerFiles, ComparisonFiles, ReportFiles
from tucano.profiles import validated
from tucano.project import OF_RELATIONS
from tucano.settings import PipelineSettings

SEED_STAGE = "grpo-"
"""Before the arm: `grpo-seed-42`."""


State = Literal["ok", "OTHER", "FAILED"]
MOST_NAMED = 5
"""Faults of one kind that are told one by one."""


@dataclass(frozen=True, slots=True)
class Holds:
    """What a check found to be as it should be, in words, what is not, and what only other code explains."""

    well: str
    faults: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def state(self) -> State:
        """OTHER: not the same here, and no fault of the bundle."""
        return "FAILED" if self.faults else "OTHER" if self.others else "ok"

    @property
    def said(self) -> tuple[str, ...]:
        more = len(self.faults) - MOST_NAMED
        rest = (f"and {more} more",) if more > 0 else ()
        return (*self.faults[:MOST_NAMED], *rest) or self.others or (self.well,)


@dataclass(frozen=True, slots=True)
class SeedLine:
    """What a seed's artifact says of its training."""

    seed: int
    best_step: int
    best_value: float


@dataclass(frozen=True)
class Contents:
    """`stages` are the folders of the chain's artifacts. What cannot be read raises, UserError or ValueError."""

    manifest: Manifest
    stages: Mapping[str, Path]

    def of(self, stage: str) -> Path:
        """The folder of a stage's artifact."""
        if stage not in self.stages:
            raise UserError(f"it holds no {stage}")
        return self.stages[stage]

    def made(self, stage: str) -> dict[str, Any]:
        """What the manifest of a stage's artifact says."""
        manifest = read_manifest(self.of(stage))
        if manifest is None:
            raise UserError(f"the manifest of its {stage} is damaged")
        return manifest

    @property
    def rated(self) -> dict[str, str]:
        """The files of the rating folder that the audit read: {name: SHA-256}."""
        read: dict[str, str] = self.made("audit")["inputs"]
        return {name: sha256 for name, sha256 in read.items() if not name.startswith(OF_RELATIONS)}

    @cached_property
    def settings(self) -> PipelineSettings:
        file = ReportFiles(self.of("report")).settings
        return validated(json.loads(file.read_text(encoding="utf-8")))

    @cached_property
    def comparison(self) -> Comparison:
        return read_record(Comparison, ComparisonFiles(self.of("comparison")).comparison)

    @cached_property
    def answers(self) -> list[Answer]:
        return read_answers(AnswerFiles(self.of("answers")).answers)

    @property
    def prompts(self) -> PromptFiles:
        return PromptFiles(self.of("data"))

    @cached_property
    def seeds(self) -> dict[str, SeedLine]:
        """{arm: seed}, in the order of the settings, as they were compared."""
        trained = [stage for stage in self.stages if stage.startswith(SEED_STAGE)]
        lines = {stage.removeprefix(SEED_STAGE): parsed(SeedLine, self.made(stage)["record"]) for stage in trained}
        order = self.settings.grpo.seeds
        return dict(sorted(lines.items(), key=lambda item: order.index(item[1].seed)))

    @property
    def candidate(self) -> str:
        """The arm that is best on validation, which is the one that is registered."""
        return max(self.seeds, key=lambda arm: self.seeds[arm].best_value)

    @property
    def registered(self) -> str:
        """The arm that the registry says it holds: DPO may have made another one the best than GRPO did."""
        digest = self.manifest.tags.get("digest.grpo")
        arms = [stage.partition("-")[2] for stage, made in self.manifest.chain.items() if made == digest]
        if not arms:
            raise UserError("its tag digest.grpo names none of its seeds")
        return arms[0]


def unpacked(root: Path, manifest: Manifest) -> Contents:
    """An unpacked bundle: a stage's folder is the one that lies where it should; several are none."""
    found = {stage: [path for path in (root / ARTIFACTS / stage).glob("*/")] for stage in manifest.chain}
    return Contents(manifest, {stage: folders[0] for stage, folders in found.items() if len(folders) == 1})
