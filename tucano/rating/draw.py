"""The completions that people rate: drawn once from a finished run or from a file, and kept in the rating folder.

Every rater of a folder rates the same completions. Rewards of a run spread the draw over good and bad answers and go no
further: what is written holds no reward, and what a rater sees holds no model either.
"""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from tucano.artifacts.store import inspect, newest_first, read_manifest
from tucano.comparison.answers import Decoding, read_answers
from tucano.errors import UserError
from tucano.files.prompts import STORE, PromptFiles
from tucano.files.results import AnswerFiles
from tucano.masking import mask
from tucano.masking.prompts import masked_prompt
from tucano.preferences import ZERO
from tucano.prompts import TASKS, Prompt, Task, read_prompts
from tucano.rating.files import CandidateLine, Origin, check_ids, lines, parse, write
from tucano.rating.ratings import RATINGS
from tucano.rating.store import STORE_DUMP, keep, stores_in
from tucano.specs.registry import spec_of

CANDIDATES = "candidates.jsonl"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A completion to rate and where it comes from."""

    prompt: Prompt
    completion: str
    origin: Origin
    model: str

    @property
    def id(self) -> str:
        """Names prompt and completion without telling anything about them."""
        return hashlib.sha256(f"{self.prompt.id}\0{self.completion}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class CandidateSource:
    """Where completions are drawn from: `quality` is {candidate id: reward}, as far as known; `store` a SQLite file or
    its dump.

    `tested`: the prompts are a run's test set, which nothing may be trained on; `made_of`: {model: what the run made
    its answers from}, so that they are known again.
    """

    candidates: list[Candidate]
    stores: list[Path]
    quality: Mapping[str, float] = field(default_factory=dict)
    tested: bool = False
    made_of: Mapping[str, str] = field(default_factory=dict)


def read_source(place: Path, decoding: Decoding = "sampled") -> CandidateSource:
    """The storage folder of a finished run, or a JSONL file of completions with the store that they ask about beside
    it.
    """
    if place.is_dir():
        return _read_run(place, decoding)
    if not place.is_file():
        raise UserError(
            f"{place} does not exist; --from names the storage of a finished run, or a JSONL file of completions"
        )
    place = place.resolve()  # who names a link means the file
    stores = next(filter(None, (stores_in(place.parent, Path(name).suffix) for name in (STORE_DUMP, STORE))), [])
    return CandidateSource(read_candidates(place), stores)


def read_candidates(path: Path) -> list[Candidate]:
    """One completion a line: `{"prompt": {fields of Prompt}, "completion"}`, with `"origin"` (sampled) and `"model"`
    where known.

    Further fields are ignored, so a file of ratings can be rated again. Raises UserError naming the first line that is
    not that.
    """
    found = [
        parse(CandidateLine, line, f"{path} line {number}", "a completion with its prompt")
        for number, line in enumerate(lines(path), start=1)
    ]
    if not found:
        raise UserError(
            f"{path} holds no completions; write one a line, as " + '{"prompt": {...}, "completion": "..."}'
        )
    check_ids((line.prompt for line in found), path)
    return [Candidate(line.prompt, line.completion, line.origin, line.model) for line in found]


def write_candidates(path: Path, candidates: Iterable[Candidate]) -> None:
    """Whole or not at all."""
    write(path, "".join(json.dumps(asdict(candidate), ensure_ascii=False) + "\n" for candidate in candidates))


def draw(source: CandidateSource, prompts: int, completions: int, seed: int) -> list[Candidate]:
    """Up to `prompts` prompts of each task with up to `completions` different completions each.

    Prompts come at random, those with enough different completions first. Their completions are ranked by reward, cut
    into equally large ranges, and one of each range is taken: proportional strata, so the draw is as spread as the run
    itself and no wider.
    """
    rng = random.Random(seed)
    groups: dict[str, dict[str, Candidate]] = {}
    for candidate in rng.sample(source.candidates, len(source.candidates)):
        groups.setdefault(candidate.prompt.id, {})[candidate.id] = candidate
    chosen: list[Candidate] = []
    for task in TASKS:
        sorted_groups = (list(group.values()) for _, group in sorted(groups.items()))
        of_task = [group for group in sorted_groups if group[0].prompt.task == task]
        rng.shuffle(of_task)
        of_task.sort(key=lambda group: -min(len(group), completions))
        used: Counter[str] = Counter()
        for group in of_task[:prompts]:
            chosen += _spread(group, source.quality, completions, used)
    return chosen


def _spread(
    group: Sequence[Candidate], quality: Mapping[str, float], completions: int, used: Counter[str]
) -> Iterator[Candidate]:
    """One of each of `completions` ranges of quality; within a range, of the model that was drawn least for this
    task.
    """
    ranked = sorted(group, key=lambda candidate: quality.get(candidate.id, 0.0))
    ranges = min(completions, len(ranked))
    for low, high in pairwise(len(ranked) * edge // ranges for edge in range(ranges + 1)):
        taken = min(ranked[low:high], key=lambda candidate: used[candidate.model])
        used[taken.model] += 1
        yield taken


def open_folder(
    folder: Path,
    place: Path,
    prompts: int,
    completions: int,
    seed: int,
    read_from: Callable[[Path], CandidateSource] = read_source,
) -> list[Candidate]:
    """The completions of a rating folder; the first time they are drawn from `place`, and written there, masked, with
    their store.
    """
    path = folder / CANDIDATES
    if path.is_symlink() or path.exists():
        return _once_each(path, read_candidates(path))
    if (folder / RATINGS).exists() and (folder / RATINGS).resolve() != place.resolve():
        raise UserError(
            f"{folder} holds ratings of other completions; choose a new folder, or rate those again with --from"
            f" {folder / RATINGS}"
        )
    source = read_from(place)
    drawn = map(masked, draw(source, prompts, completions, seed))
    chosen = list({candidate.id: candidate for candidate in drawn}.values())  # what differed may have been masked
    keep_stores(folder, source, place, {candidate.prompt.task for candidate in chosen})
    with writing(folder):
        write_candidates(path, chosen)
    return chosen


def _once_each(path: Path, candidates: list[Candidate]) -> list[Candidate]:
    """UserError naming the first line that says again what stands above it: its ratings would count twice."""
    seen: set[str] = set()
    for number, candidate in enumerate(candidates, start=1):
        if candidate.id in seen:
            raise UserError(f"{path} line {number} has a completion that stands above it; remove one of the two lines")
        seen.add(candidate.id)
    return candidates


def keep_stores(folder: Path, source: CandidateSource, place: Path, tasks: Set[Task]) -> None:
    """Make the folder, with the store that the prompts of `tasks` ask about. UserError where they need one that is not
    there.
    """
    if not source.stores and any(spec_of(task).display.with_tables for task in tasks):
        raise UserError(
            f"{place} has SQL questions but no {STORE_DUMP} or {STORE} beside it; put the store that they ask about"
            " there"
        )
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for store in source.stores:
            keep(store, folder / store.with_suffix(Path(STORE_DUMP).suffix).name)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """UserError where the folder, or what stands in it, cannot be written."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{folder} cannot be written ({error.strerror}); choose another folder") from error


def masked(candidate: Candidate) -> Candidate:
    completion, model = (mask(text)[0] for text in (candidate.completion, candidate.model))
    return replace(candidate, prompt=masked_prompt(candidate.prompt), completion=completion, model=model)


def _read_run(storage: Path, decoding: Decoding) -> CandidateSource:
    """The answers of the run's newest comparison, of every arm: sampled, which is what GRPO ranks, or served."""
    found = _newest(storage, "answers")
    if found is None:
        raise UserError(
            f"{storage} holds no answers of a finished run; start one with tucano run laptop, or name another with"
            " --from"
        )
    folder, made_of = found
    data = _newest(storage, "data", made_of["prompts"])
    if data is None:
        raise UserError(f"{storage} has lost the prompts of its answers; the same tucano run makes them again")
    files = PromptFiles(data[0])
    prompts = {prompt.id: prompt for prompt in read_prompts(files.test)}
    answers = [
        answer
        for answer in read_answers(AnswerFiles(folder).answers)
        if answer.decoding == decoding and ZERO not in answer.completion  # which no rating folder may hold
    ]
    made = [Candidate(prompts[answer.prompt_id], answer.completion, "sampled", answer.arm) for answer in answers]
    quality = {candidate.id: answer.reward for candidate, answer in zip(made, answers, strict=True)}
    return CandidateSource(made, files.stores, quality, tested=True, made_of=made_of)


def stores_of_run(storage: Path) -> list[Path]:
    """The store of the storage's newest prompt set, and its further ones; none without a prompt set."""
    found = _newest(storage, "data")
    return PromptFiles(found[0]).stores if found else []


def _newest(storage: Path, stage: str, digest: str | None = None) -> tuple[Path, Mapping[str, str]] | None:
    """Folder of a stage's newest artifact, or of the one with that digest, and what it was made of. UserError for one
    that is not as it was made.
    """
    for folder in newest_first(storage, stage):
        manifest = read_manifest(folder)
        if manifest is not None and digest not in (None, manifest["digest"]):
            continue
        _, fault = inspect(folder)
        if manifest is None or fault is not None:
            raise UserError(f"{folder} cannot be used: {fault}; the same tucano run makes it again")
        return folder, manifest["inputs"]
    return None
