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

from data.checks import check
from data.general import Elsewhere, General, general_demonstrations
from data.own.chats import chat_of
from data.paraphrases import paraphrased
from data.separation import NearDuplicates, NearPrompts
from data.sources import Demonstration
from data.sources.b2w import B2wSource
from data.sources.olist import OlistSource
from data.sources.own import OwnSource
from data.sources.synthetic import SyntheticSource
from data.splits import Splits, Splitter
from data.thoughts import taken_off, thought_through, told_to_think
from tucano.files.prompts import PromptFiles
from tucano.lengths import USUAL, count_long, long_said
from tucano.masking import NOT_MASKED
from tucano.prompts import Paraphrase, Prompt, Task, read_passages, reworded, write_prompts
from tucano.settings.data import PromptPlan
from tucano.specs.banks import JOINT
from tucano.specs.registry import spec_of

OWN_PASSAGES = Path(__file__).with_name("passages.txt")
"""Forty sentences of ordinary Portuguese, written for this project (CC0-1.0)."""

UNMASKED = f"real reviews: {NOT_MASKED}; do not publish prompts, or answers to them"


OF_FILES: Mapping[str, type[OlistSource | B2wSource | OwnSource]] = {
    "olist": OlistSource,
    "b2w": B2wSource,
    "jsonl": OwnSource,
}
WITH_TABLES = ("olist",)
"""Sources whose own tables the questions are about, where they are among several."""
Paths = tuple[str | None, ...]
"""Where the files of each source are; None for one that is generated."""
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
    paths: Paths = (None,),
    elsewhere: Elsewhere = HERE,
) -> DataReport:
    """Writes the prompt set into `folder` and returns its report; `paths` are the settings' own.

    Raises `UserError` for data that cannot be used.
    """
    files = PromptFiles(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with opened_sources(settings, paths, seed, folder) as sources:
        splits = Splitter(sources, settings, tasks, seed).split()
        judged = [*splits.validation, *splits.test]
        trained = [*splits.train, *_prompts(splits.demonstrations)]
        paraphrases = paraphrased(trained, sources, NearPrompts(judged), settings.paraphrases, seed)
        general = _general(settings, splits, elsewhere, seed)
        held_out = check(splits, paraphrases, tasks, folder)
        report = _report(settings, seed, sources, splits, held_out, general, paraphrases)
    if settings.general.share:
        write_prompts(files.general, (thought_through(prompt, settings.thinking, seed) for prompt in general.prompts))
    if settings.paraphrases:
        write_prompts(files.paraphrases, paraphrases)
    for name, prompts in _sets(splits).items():
        write_prompts(files.of(name), (thought_through(prompt, settings.thinking, seed) for prompt in prompts))
    systems = {task: spec_of(task).system_prompt for task in tasks}
    _write_json(files.system_prompts, told_to_think(systems, settings.thinking))
    shutil.copyfile(OWN_PASSAGES, files.passages)
    _write_json(files.report, asdict(report))
    return report


@contextmanager
def opened_sources(settings: PromptPlan, paths: Paths, seed: int, folder: Path) -> Iterator[list[SyntheticSource]]:
    """The sources that the settings name. The first that is opened writes its store into `folder`."""
    parts = list(zip(settings.parts, paths, strict=True))
    for store in PromptFiles(folder).stores:
        store.unlink(missing_ok=True)
    opened: dict[int, SyntheticSource] = {}
    with ExitStack() as stack:
        for number in sorted(range(len(parts)), key=lambda number: parts[number][0].source not in WITH_TABLES):
            part, place = parts[number]
            source = (
                SyntheticSource(folder, seed, settings.style)
                if place is None
                else OF_FILES[part.source](Path(place), folder, seed, settings.style, settings.unreadable)
            )
            opened[number] = stack.enter_context(closing(source))
        yield [opened[number] for number in range(len(parts))]


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


def _report(
    settings: PromptPlan,
    seed: int,
    sources: Sequence[SyntheticSource],
    splits: Splits,
    held_out: Counts,
    general: General,
    paraphrases: list[Paraphrase],
) -> DataReport:
    files = _sets(splits)
    shown = files["demonstrations"] + files["demonstrations_validation"]
    trained = files["train"] + files["demonstrations"]
    files |= {"general": general.prompts} if settings.general.share else {}
    files |= {"paraphrases": reworded(trained, paraphrases)} if settings.paraphrases else {}
    away = {"general, near a held-out text": general.turned_away} if general.turned_away else {}
    real = any(source.name != SyntheticSource.name for source in sources)
    warnings = [warning for source in sources for warning in source.warnings] + splits.warnings + _too_long(shown)
    warnings += [UNMASKED] * real + taken_off([*shown, *general.prompts], settings.thinking)
    warnings += [warning for warning in general.warnings if warning not in warnings]
    licences = {prompt.licence for prompts in files.values() for prompt in prompts}
    masked = sum((source.masked for source in sources), general.masked)
    defects = Counter(name for made in splits.demonstrations for name in made.defects)
    bad_rows = [row for source in sources for row in source.bad_rows]
    return DataReport(
        source=settings.label,
        seed=seed,
        licences=sorted(licences),
        prompts={name: _per_task(prompts) for name, prompts in files.items()},
        templates={name: _templates(prompts) for name, prompts in files.items() if name != "general"},
        held_out=held_out,
        masked=_sorted(masked),
        defects=_sorted(defects),
        flawed_demonstrations=sum(bool(made.defects) for made in splits.demonstrations),
        turned_away=_sorted(splits.turned_away) | away,
        of_source={f"{number} {sources[number - 1].name}": count for number, count in enumerate(splits.of_source, 1)},
        bad_rows=bad_rows + general.bad_rows,
        warnings=warnings + (_alone(trained, paraphrases) if settings.paraphrases else []),
    )


def _too_long(demonstrations: list[Prompt]) -> list[str]:
    """By their characters: a prompt set is made for no model in particular."""
    long = count_long((chat_of(one.task, one.user, one.demonstration or "") for one in demonstrations), USUAL)
    return [f"by their characters, {long_said(long, len(demonstrations), USUAL)}"] if long else []


def _general(settings: PromptPlan, splits: Splits, elsewhere: Elsewhere, seed: int) -> General:
    """Held out are the judged prompts and the passages by which forgetting is measured."""
    judged = [prompt.user for prompt in (*splits.validation, *splits.test)]
    held_out = NearDuplicates([*judged, *read_passages(OWN_PASSAGES)])
    count = settings.general.beside(len(splits.demonstrations))
    found = general_demonstrations(count, elsewhere, held_out, seed, settings.unreadable)
    return replace(found, warnings=[*found.warnings, UNMASKED]) if elsewhere.path else found


def _alone(trained: list[Prompt], paraphrases: list[Paraphrase]) -> list[str]:
    alone = len(trained) - len({paraphrase.id for paraphrase in paraphrases})
    said = f"data.paraphrases: {alone} of {len(trained)} training prompts and demonstrations keep their one wording, as"
    return [f"{said} nobody knows what of them is frame (own prompts)"] if alone else []


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _per_task(prompts: list[Prompt]) -> dict[str, int]:
    return _sorted(Counter(prompt.task for prompt in prompts))


def _templates(prompts: list[Prompt]) -> dict[str, int]:
    """Different templates per task; the parts of a composed one count each."""
    parts = {(prompt.task, part) for prompt in prompts for part in prompt.template.split(JOINT)}
    return _sorted(Counter(task for task, _ in parts))


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
