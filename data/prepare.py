"""The data stage: from settings to a folder of prompts, demonstrations, system prompts and the SQL store.

Files written: train.jsonl, validation.jsonl, test.jsonl, demonstrations.jsonl, demonstrations_validation.jsonl (a
`Prompt` per line), general_demonstrations.jsonl and paraphrases.jsonl where the settings ask for them,
system_prompts.json, store.sqlite, store-1.sqlite … (further stores), portuguese.txt (for measuring forgetting),
report.json. The same settings and seed give the same bytes.
"""

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol

from data.checks import check
from data.general import Elsewhere, General, general_demonstrations
from data.own.lengths import chat_of
from data.paraphrases import paraphrased
from data.separation import NearDuplicates, NearPrompts
from data.sources import Demonstration, Source
from data.sources.b2w import B2wSource
from data.sources.olist import OlistSource
from data.sources.own import OwnSource
from data.sources.synthetic import SyntheticSource
from data.splits import Splits, Splitter
from data.thoughts import thought_through, told_to_think
from tucano.files.prompts import PromptFiles
from tucano.lengths import USUAL, count_long, long_said
from tucano.masking import NOT_MASKED
from tucano.prompts import Paraphrase, Prompt, Task, read_passages, reworded, write_prompts
from tucano.settings.data import UNREADABLE, PromptPlan, Style
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

    def __call__(
        self, path: Path, folder: Path, seed: int, style: Style = "plain", most_bad: float = UNREADABLE
    ) -> Source: ...


OF_FILES: Mapping[str, SourceOfFiles] = {
    "olist": OlistSource,
    "b2w": B2wSource,
    "jsonl": OwnSource,
}
WITH_TABLES = ("olist",)
"""Sources whose own tables the questions are about, where they are among several."""
Place = str | None | tuple[str | None, ...]
"""Where a source's files are; of several, one after the other."""

HERE = Elsewhere()
"""General demonstrations are those that come with this package, and no public benchmark is asked."""

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
    of_source: dict[str, int]
    """Training prompts of each source."""
    bad_rows: list[str]
    """Rows of files that are not used, the first of each kind by name."""
    warnings: list[str]


def prepare(
    settings: PromptPlan,
    seed: int,
    tasks: tuple[Task, ...],
    folder: Path,
    path: Place = None,
    elsewhere: Elsewhere = HERE,
) -> DataReport:
    """Writes the prompt set into `folder` and returns its report; `path` is where the source's files are.

    Raises `UserError` for data that cannot be used.
    """
    files = PromptFiles(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with opened_sources(settings, path, seed, folder) as sources:
        splits = Splitter(sources, settings, tasks, seed).split()
        judged = [*splits.validation, *splits.test]
        trained = [*splits.train, *_prompts(splits.demonstrations)]
        paraphrases = paraphrased(trained, sources, NearPrompts(judged), settings.paraphrases, seed)
        general = _general(settings, splits, elsewhere, seed)
        held_out = check(splits, paraphrases, tasks, folder)
        report = _report(settings, sources, splits, held_out, seed)
    if settings.general.share:
        write_prompts(files.general, general.prompts)
        report = _with_general(report, general, elsewhere)
    if settings.paraphrases:
        write_prompts(files.paraphrases, paraphrases)
        report = _with_paraphrases(report, trained, paraphrases)
    for name, prompts in _sets(splits).items():
        write_prompts(files.of(name), (thought_through(prompt, settings.thinking, seed) for prompt in prompts))
    systems = {task: spec_of(task).system_prompt for task in tasks}
    _write_json(files.system_prompts, told_to_think(systems, settings.thinking))
    shutil.copyfile(OWN_PASSAGES, files.passages)
    _write_json(files.report, asdict(report))
    return report


@contextmanager
def opened_sources(settings: PromptPlan, path: Place, seed: int, folder: Path) -> Iterator[list[Source]]:
    """The sources that the settings name. The first that is opened writes its store into `folder`."""
    paths = path if isinstance(path, tuple) else (path,)
    parts = list(zip(settings.parts, paths, strict=True))
    for store in PromptFiles(folder).stores:
        store.unlink(missing_ok=True)
    opened: dict[int, Source] = {}
    with ExitStack() as stack:
        for number in sorted(range(len(parts)), key=lambda number: parts[number][0].source not in WITH_TABLES):
            part, place = parts[number]
            source = open_source(part.source, place, seed, folder, settings.style, settings.unreadable)
            opened[number] = stack.enter_context(closing(source))
        yield [opened[number] for number in range(len(parts))]


def open_source(
    name: str, path: str | None, seed: int, folder: Path, style: Style = "plain", most_bad: float = UNREADABLE
) -> Source:
    """The source of that name, its files at `path`; its store is in `folder`, or is written there."""
    if path is None:
        return SyntheticSource(folder, seed, style)
    return OF_FILES[name](Path(path), folder, seed, style, most_bad)


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


def _report(settings: PromptPlan, sources: Sequence[Source], splits: Splits, held_out: Counts, seed: int) -> DataReport:
    files = _sets(splits)
    licences = {prompt.licence for prompts in files.values() for prompt in prompts}
    said = [warning for source in sources for warning in source.warnings]
    shown = files["demonstrations"] + files["demonstrations_validation"]
    generated = all(source.name == SyntheticSource.name for source in sources)
    return DataReport(
        source=settings.label,
        seed=seed,
        licences=sorted(licences),
        prompts={name: _per_task(prompts) for name, prompts in files.items()},
        templates={name: _templates(prompts) for name, prompts in files.items()},
        held_out=held_out,
        masked=_masked(sources),
        defects=_defects(splits.demonstrations),
        flawed_demonstrations=sum(bool(made.defects) for made in splits.demonstrations),
        turned_away=dict(sorted(splits.turned_away.items())),
        of_source=_of_source(sources, splits.of_source),
        bad_rows=[row for source in sources for row in source.bad_rows],
        warnings=said + splits.warnings + _too_long(shown) + ([] if generated else [UNMASKED]),
    )


def _too_long(demonstrations: list[Prompt]) -> list[str]:
    """By their characters: a prompt set is made for no model in particular."""
    long = count_long((chat_of(one.task, one.user, one.demonstration or "") for one in demonstrations), USUAL)
    return [f"by their characters, {long_said(long, len(demonstrations), USUAL)}"] if long else []


def _general(settings: PromptPlan, splits: Splits, elsewhere: Elsewhere, seed: int) -> General:
    """Held out are the judged prompts and the passages by which forgetting is measured."""
    judged = [prompt.user for prompt in (*splits.validation, *splits.test)]
    held_out = NearDuplicates([*judged, *read_passages(OWN_PASSAGES)])
    return general_demonstrations(
        settings.general.beside(len(splits.demonstrations)), elsewhere, held_out, seed, settings.unreadable
    )


def _with_general(report: DataReport, general: General, elsewhere: Elsewhere) -> DataReport:
    licences = {*report.licences, *(prompt.licence for prompt in general.prompts)}
    away = {"general, near a held-out text": general.turned_away} if general.turned_away else {}
    unmasked = [UNMASKED] if elsewhere.path and UNMASKED not in report.warnings else []
    return replace(
        report,
        licences=sorted(licences),
        prompts={**report.prompts, "general": _per_task(general.prompts)},
        masked=dict(sorted((Counter(report.masked) + general.masked).items())),
        turned_away={**report.turned_away, **away},
        bad_rows=[*report.bad_rows, *general.bad_rows],
        warnings=[*report.warnings, *general.warnings, *unmasked],
    )


def _with_paraphrases(report: DataReport, trained: list[Prompt], paraphrases: list[Paraphrase]) -> DataReport:
    further = reworded(trained, paraphrases)
    alone = len(trained) - len({prompt.id for prompt in further})
    said = f"data.paraphrases: {alone} of {len(trained)} training prompts and demonstrations keep their one wording, as"
    return replace(
        report,
        prompts={**report.prompts, "paraphrases": _per_task(further)},
        templates={**report.templates, "paraphrases": _templates(further)},
        warnings=[*report.warnings, *([f"{said} nobody knows what of them is frame (own prompts)"] if alone else [])],
    )


def _masked(sources: Sequence[Source]) -> dict[str, int]:
    return dict(sorted(sum((source.masked for source in sources), Counter[str]()).items()))


def _defects(demonstrations: list[Demonstration]) -> dict[str, int]:
    return dict(sorted(Counter(name for made in demonstrations for name in made.defects).items()))


def _of_source(sources: Sequence[Source], counts: list[int]) -> dict[str, int]:
    return {
        f"{number} {source.name}": count for number, (source, count) in enumerate(zip(sources, counts, strict=True), 1)
    }


def _per_task(prompts: list[Prompt]) -> dict[str, int]:
    return dict(sorted(Counter(prompt.task for prompt in prompts).items()))


def _templates(prompts: list[Prompt]) -> dict[str, int]:
    """Different templates per task; the parts of a composed one count each."""
    parts = {(prompt.task, part) for prompt in prompts for part in prompt.template.split(JOINT)}
    return dict(sorted(Counter(task for task, _ in parts).items()))


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
