"""What people taught in a rating folder, as training data: demonstrations that `data.source=jsonl` reads, and
preference pairs in the conversational form of TRL's DPOTrainer (prompt, chosen, rejected).

Nothing goes in without consent, nothing that is, or resembles, a prompt that models are judged by, and everything is
masked once more: a rating folder may come from anybody.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from data.own.export import row_of
from data.own.rows import LONGEST_TEXT
from data.separation import NearPrompts, normal_form
from tucano.artifacts.store import MANIFEST
from tucano.errors import UserError
from tucano.files.prompts import PromptFiles
from tucano.masking import mask
from tucano.masking.folding import Folded
from tucano.masking.prompts import masked_prompt
from tucano.preferences import UNLEARNABLE, ZERO, AnswerPair
from tucano.prompts import Prompt, read_prompts
from tucano.rating.choices import FIRST, TIE, majority, read_choices
from tucano.rating.draw import writing
from tucano.rating.files import write
from tucano.rating.pairs import PAIRS, read_pairs
from tucano.rating.ratings import RATINGS, rating_ledger
from tucano.specs.registry import spec_of

DEMONSTRATIONS = PromptFiles(Path()).demonstrations.name
PREFERENCES = "preferences.jsonl"
SOURCE = "corrected"
JUDGING = {"data": ("validation", "test"), "benchmark-set": ("test",)}
"""{stage: its sets of prompts that models are judged by}."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A better and a worse answer to a prompt. `written`: a person wrote the better one."""

    prompt: Prompt
    chosen: str
    rejected: str
    written: bool


@dataclass
class Learned:
    """`left_out`: why lessons are not among them, and how many."""

    demonstrations: list[Prompt] = field(default_factory=list)
    pairs: list[dict[str, Any]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def learn(folder: Path, storage: Path) -> Learned:
    """All lessons of a rating folder that may be trained on. UserError where the folder is none, or the storage holds
    no prompt set to keep apart from.
    """
    if not any((folder / name).exists() for name in (RATINGS, PAIRS)):
        raise UserError(f"{folder} holds no ratings; collect some with tucano rate {folder} --rater NAME --correct")
    held = judged_prompts(storage)
    found = Learned()
    taught: dict[str, Prompt] = {}
    for lesson in [*_corrections(folder, found), *_choices(folder, found)]:
        if (why := _obstacle(lesson, held)) is not None:
            found.left_out[why] += 1
            continue
        system = spec_of(lesson.prompt.task).system_prompt
        found.pairs.append(AnswerPair(system, lesson.prompt.user, lesson.chosen, lesson.rejected).row())
        if lesson.written:
            name = normal_form(lesson.prompt.user)
            found.left_out["corrected again later"] += name in taught
            taught[name] = replace(lesson.prompt, demonstration=lesson.chosen, source=SOURCE, template="")
    found.demonstrations = list(taught.values())
    found.left_out = +found.left_out
    return found


def write_learned(folder: Path, learned: Learned) -> None:
    """Both files, each whole; what an earlier call wrote is replaced."""
    rows = [{**row_of(prompt), "consent": True} for prompt in learned.demonstrations]
    for name, content in ((DEMONSTRATIONS, rows), (PREFERENCES, learned.pairs)):
        with writing(folder):
            write(folder / name, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content))


def judged_prompts(storage: Path) -> NearPrompts:
    """The validation and test prompts of every prompt set in a storage, and those of its benchmarks."""
    files = [
        PromptFiles(manifest.parent).of(name)
        for stage, names in JUDGING.items()
        for manifest in sorted(storage.glob(f"artifacts/{stage}/*/{MANIFEST}"))
        for name in names
    ]
    if not files:
        raise UserError(
            f"{storage} holds no prompt set, so nobody can tell which prompts are its test; name the storage of your"
            " runs with --storage"
        )
    try:
        return NearPrompts({prompt.user: prompt for path in files for prompt in _judging(path)}.values())
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        raise UserError(f"{storage} holds a damaged prompt set; the same tucano run makes it again") from None


def _judging(path: Path) -> list[Prompt]:
    """ValueError where the file is none or empty: then nobody can tell which prompts are the test's."""
    prompts = read_prompts(path) if path.is_file() else []
    if not prompts:
        raise ValueError(path)
    return prompts


def _obstacle(lesson: Lesson, held: NearPrompts) -> str | None:
    """Why a lesson is not trained on."""
    texts = (lesson.prompt.user, lesson.chosen, lesson.rejected, lesson.prompt.licence)
    if max(map(len, texts)) > LONGEST_TEXT:
        return "too long"
    if any(ZERO in text for text in texts):
        return "a zero byte"
    if held.near(lesson.prompt) or any(held.stand_in(Folded(text).text) for text in texts):
        return "a test prompt, or near one"
    if lesson.chosen == lesson.rejected or not lesson.chosen.strip():
        return "nothing is better"
    return None if AnswerPair("", lesson.prompt.user, lesson.chosen, lesson.rejected).is_learnable else UNLEARNABLE


def _corrections(folder: Path, found: Learned) -> Iterator[Lesson]:
    for record in rating_ledger(folder).read():
        if record.correction is None or record.rater_kind != "human":
            continue
        if record.consent:
            yield _masked(record.prompt, record.correction, record.completion, written=True)
        else:
            found.left_out["no consent"] += 1


def _choices(folder: Path, found: Learned) -> Iterator[Lesson]:
    """What most of those who agree chose of each pair."""
    if not (folder / PAIRS).exists():
        return
    said = read_choices(folder)
    willing = [record for record in said if record.consent]
    found.left_out["no consent"] += len({record.pair for record in said} - {record.pair for record in willing})
    chosen = majority(willing)
    for pair in read_pairs(folder):
        choice = chosen.get(pair.id, TIE)
        if pair.id in chosen and (choice == TIE or pair.tested):
            found.left_out["a tie" if choice == TIE else "a test prompt, or near one"] += 1
        elif choice != TIE:
            texts = (pair.first, pair.second)
            yield _masked(pair.prompt, *(texts if choice == FIRST else texts[::-1]), written=False)


def _masked(prompt: Prompt, chosen: str, rejected: str, written: bool) -> Lesson:
    shown = masked_prompt(prompt)
    name = f"taught-{hashlib.sha256(shown.user.encode()).hexdigest()[:12]}"  # an id of a stranger's may say anything
    return Lesson(replace(shown, id=name, licence=mask(prompt.licence)[0]), mask(chosen)[0], mask(rejected)[0], written)
