"""The data stage: from settings to a folder of prompts, demonstrations, system prompts and the SQL store.

Files written: train.jsonl, validation.jsonl, test.jsonl, demonstrations.jsonl, demonstrations_validation.jsonl (a
`Prompt` per line), system_prompts.json, store.sqlite, store-1.sqlite … (further stores), portuguese.txt (for measuring
forgetting), report.json. The same settings and seed give the same bytes.
"""

import json
import shutil
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from data.checks import check
from data.sources import Demonstration, Source
from data.sources.b2w import B2wSource
from data.sources.olist import OlistSource
from data.sources.synthetic import SyntheticSource
from data.splits import Splits, Splitter
from tucano.files.prompts import PromptFiles
from tucano.masking import NOT_MASKED
from tucano.prompts import Prompt, Task, write_prompts
from tucano.settings.data import PromptPlan
from tucano.specs.banks import JOINT
from tucano.specs.registry import spec_of

OWN_PASSAGES = Path(__file__).with_name("passages.txt")
"""Forty sentences of ordinary Portuguese, written for this project (CC0-1.0)."""

UNMASKED = f"real reviews: {NOT_MASKED}; do not publish prompts, or answers to them"


class SourceOfFiles(Protocol):
    """A class of sources that read files; called with the place of the files, the folder of the store and a seed.

    `files`: which files of a folder.
    """

    @property
    def files(self) -> str: ...

    def __call__(self, path: Path, folder: Path, seed: int) -> Source: ...


OF_FILES: Mapping[str, SourceOfFiles] = {
    "olist": OlistSource,
    "b2w": B2wSource,
}

Counts = dict[str, dict[str, int]]


@dataclass(frozen=True)
class DataReport:
    """What the data stage made. Counts are per file and task."""

    source: str
    seed: int
    licences: list[str]
    prompts: Counts
    templates: Counts
    held_out: Counts
    """Prompts of validation and test whose templates neither training nor demonstrations use."""
    masked: dict[str, int]
    """Pieces of personal data masked, per kind."""
    defects: dict[str, int]
    """Demonstrations per defect; one may carry two."""
    flawed_demonstrations: int
    turned_away: dict[str, int]
    """Candidates dropped to keep the sets apart, per reason."""
    warnings: list[str]


def prepare(
    settings: PromptPlan, seed: int, tasks: tuple[Task, ...], folder: Path, path: str | None = None
) -> DataReport:
    """Writes the prompt set into `folder` and returns its report; `path` is where the source's files are.

    Raises `UserError` for data that cannot be used.
    """
    files = PromptFiles(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with closing(open_source(settings, path, seed, folder)) as source:
        splits = Splitter(source, settings, tasks, seed).split()
        held_out = check(splits, tasks, folder)
        report = _report(source, splits, held_out, seed)
    for name, prompts in _sets(splits).items():
        write_prompts(files.of(name), prompts)
    _write_json(files.system_prompts, {task: spec_of(task).system_prompt for task in tasks})
    shutil.copyfile(OWN_PASSAGES, files.passages)
    _write_json(files.report, asdict(report))
    return report


def open_source(settings: PromptPlan, path: str | None, seed: int, folder: Path) -> Source:
    """The source that the settings name, its files at `path`; its store is written into `folder`."""
    if path is None:
        return SyntheticSource(folder, seed)
    return OF_FILES[settings.source](Path(path), folder, seed)


def _sets(splits: Splits) -> dict[str, list[Prompt]]:
    return {
        "train": splits.train,
        "validation": splits.validation,
        "test": splits.test,
        "demonstrations": _prompts(splits.demonstrations),
        "demonstrations_validation": _prompts(splits.demonstrations_validation),
    }


def _prompts(demonstrations: list[Demonstration]) -> list[Prompt]:
    return [demonstration.prompt for demonstration in demonstrations]


def _report(source: Source, splits: Splits, held_out: Counts, seed: int) -> DataReport:
    files = _sets(splits)
    licences = {prompt.licence for prompts in files.values() for prompt in prompts}
    return DataReport(
        source=source.name,
        seed=seed,
        licences=sorted(licences),
        prompts={name: _per_task(prompts) for name, prompts in files.items()},
        templates={name: _templates(prompts) for name, prompts in files.items()},
        held_out=held_out,
        masked=dict(sorted(source.masked.items())),
        defects=dict(sorted(Counter(name for made in splits.demonstrations for name in made.defects).items())),
        flawed_demonstrations=sum(bool(made.defects) for made in splits.demonstrations),
        turned_away=dict(sorted(splits.turned_away.items())),
        warnings=splits.warnings + ([] if source.name == SyntheticSource.name else [UNMASKED]),
    )


def _per_task(prompts: list[Prompt]) -> dict[str, int]:
    return dict(sorted(Counter(prompt.task for prompt in prompts).items()))


def _templates(prompts: list[Prompt]) -> dict[str, int]:
    """Different templates per task; the parts of a composed one count each."""
    parts = {(prompt.task, part) for prompt in prompts for part in prompt.template.split(JOINT)}
    return dict(sorted(Counter(task for task, _ in parts).items()))


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
