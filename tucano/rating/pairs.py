"""The pairs of a blind A/B: drawn once, of two models' answers to the same prompts.

What raters see is `pairs.jsonl` in the rating folder: prompt, first and second text. Which model wrote which stands in
the key beside the folder (`FOLDER.key.json`), which only its owner may read: a folder that is handed to a rater does
not hold it.
"""

import hashlib
import json
import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tucano.errors import UserError
from tucano.prompts import TASKS, Prompt
from tucano.rating.draw import Candidate, CandidateSource, keep_stores, masked, read_source, writing
from tucano.rating.files import lines, parse, read, write
from tucano.security.printable import short

PAIRS = "pairs.jsonl"
KEY = ".key.json"
DRAW_SEED = 7
SHOWN = 20
"""Names of models that a sentence repeats."""


LONGEST, MOST_SAME = 200, 1_000_000
Side = Annotated[str, Field(min_length=1, max_length=LONGEST, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""What a model is called where its answers are."""


class Pair(BaseModel):
    """Two answers to a prompt, in the order in which they are shown. `tested`: the prompt is of a run's test set, as
    one that does not say where it is from is taken to be.
    """

    model_config = ConfigDict(strict=True, frozen=True)

    prompt: Prompt
    first: str
    second: str
    tested: bool = True

    @property
    def id(self) -> str:
        """Names prompt and texts without telling anything about them."""
        return hashlib.sha256("\0".join((self.prompt.id, self.first, self.second)).encode()).hexdigest()[:16]


class Key(BaseModel):
    """Who wrote what. `sides`: the one whose win rate is told, and the other; `first`: {pair: the side that stands
    first}; `same`: prompts to which both gave one answer, which nobody is asked about; `seed`: that of the order of
    the sides; `made_of`: as in `CandidateSource`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sides: tuple[Side, Side]
    first: dict[str, str]
    same: int = Field(ge=0, le=MOST_SAME)
    seed: int
    made_of: dict[str, str]

    @model_validator(mode="after")
    def _sides_differ(self) -> Self:
        if self.sides[0] == self.sides[1]:
            raise ValueError("both sides are one model")
        return self


@dataclass(frozen=True)
class PairDraw:
    """What a new A/B is drawn from: the models' names in `place`, prompts per task, and the seed of the order of the
    sides (None: one that nobody knows beforehand).
    """

    place: Path
    sides: Sequence[str]
    prompts: int
    seed: int | None


def key_of(folder: Path) -> Path:
    """Beside the folder, not in it."""
    whole = folder.resolve()
    if not whole.name:
        raise UserError(f"{folder} is no rating folder; name one")
    return whole.with_name(f"{whole.name}{KEY}")


def open_pairs(folder: Path, drawing: PairDraw) -> list[Pair]:
    """The pairs of a folder; the first time they are drawn, and written there, masked, with their store and the key
    beside it.
    """
    path = folder / PAIRS
    if path.is_symlink() or path.exists():
        return _drawn_before(folder, drawing)
    place = key_of(folder)
    if place.is_symlink() or place.exists():
        raise UserError(
            f"{place} is the key of pairs that are not in {folder}; bring {PAIRS} back, or remove the key for a new A/B"
        )
    source = read_source(drawing.place, "served")
    pairs, key = _drawn(source, drawing)
    keep_stores(folder, source, drawing.place, {pair.prompt.task for pair in pairs})
    with writing(folder):
        write(place, key.model_dump_json(indent=1), mode=0o600)
        write(path, "".join(json.dumps(pair.model_dump(), ensure_ascii=False) + "\n" for pair in pairs))
    return pairs


def _drawn_before(folder: Path, drawing: PairDraw) -> list[Pair]:
    """The folder's pairs. UserError where other models are named than its key has."""
    pairs = read_pairs(folder)
    key = read_key(folder, pairs) if drawing.sides else None
    if key is not None and set(key.sides) != set(drawing.sides):
        raise UserError(
            f"{folder} holds an A/B of {short(key.sides[0])} and {short(key.sides[1])}; name another folder for these"
            " models, or go on with --ab alone"
        )
    return pairs


def read_pairs(folder: Path) -> list[Pair]:
    """UserError naming the first line that is no pair, or stands there twice."""
    path = folder / PAIRS
    found: dict[str, Pair] = {}
    for number, line in enumerate(lines(path), start=1):
        pair = parse(Pair, line, f"{path} line {number}", "a pair of answers")
        if pair.id in found:
            raise UserError(f"{path} line {number} stands there twice; remove one of them")
        found[pair.id] = pair
    return list(found.values())


def read_key(folder: Path, pairs: Sequence[Pair]) -> Key | None:
    """None where the key is elsewhere. UserError for one of other pairs."""
    path = key_of(folder)
    if not (path.is_symlink() or path.exists()):
        return None
    key = parse(Key, read(path), str(path), "the key of an A/B")
    if key.first.keys() != {pair.id for pair in pairs} or not set(key.first.values()) <= set(key.sides):
        raise UserError(f"{path} is not the key of the pairs in {folder}; bring back the one that was drawn with them")
    return key


def _drawn(source: CandidateSource, drawing: PairDraw) -> tuple[list[Pair], Key]:
    one, other = _sides(source, drawing)
    common = _by_prompt(source, one), _by_prompt(source, other)
    chosen = _chosen([candidate.prompt for name, candidate in common[0].items() if name in common[1]], drawing.prompts)
    if not chosen:
        raise UserError(
            f"{short(one)} and {short(other)} have no prompt in common in {drawing.place}; choose two others"
        )
    seed = secrets.randbits(32) if drawing.seed is None else drawing.seed
    texts = {prompt.id: tuple(masked(answers[prompt.id]).completion for answers in common) for prompt in chosen}
    asked = [prompt for prompt in chosen if len(set(texts[prompt.id])) == 2]
    pairs: list[Pair] = []
    first: dict[str, str] = {}
    for prompt, swaps in zip(asked, _swaps(asked, seed), strict=True):
        both = texts[prompt.id][::-1] if swaps else texts[prompt.id]
        shown = masked(common[0][prompt.id]).prompt
        pair = Pair(prompt=shown, first=both[0], second=both[1], tested=source.tested)
        first[pair.id] = other if swaps else one
        pairs.append(pair)
    made_of = {side: source.made_of[side] for side in (one, other) if side in source.made_of}
    return pairs, Key(sides=(one, other), first=first, same=len(chosen) - len(asked), seed=seed, made_of=made_of)


def _sides(source: CandidateSource, drawing: PairDraw) -> tuple[str, str]:
    known = list(dict.fromkeys(candidate.model for candidate in source.candidates))
    sides = tuple(drawing.sides)
    if (
        len(sides) != 2
        or len(set(sides)) != 2
        or not set(sides) <= {name for name in known if 0 < len(name) <= LONGEST}
    ):
        raise UserError(
            f"--ab names two models whose answers are in {drawing.place}, the challenger first, like --ab seed-42"
            f" champion; it has: {short(', '.join(known[:SHOWN]))}"
        )
    return sides[0], sides[1]


def _by_prompt(source: CandidateSource, side: str) -> dict[str, Candidate]:
    """The first answer of a model to each prompt."""
    mine = (candidate for candidate in reversed(source.candidates) if candidate.model == side)
    return {candidate.prompt.id: candidate for candidate in mine}


def _chosen(prompts: Sequence[Prompt], most: int) -> list[Prompt]:
    """Up to so many of each task, at random."""
    rng = random.Random(DRAW_SEED)
    shuffled = rng.sample(prompts, len(prompts))
    return [prompt for task in TASKS for prompt in [one for one in shuffled if one.task == task][:most]]


def _swaps(prompts: Sequence[Prompt], seed: int) -> list[bool]:
    """Whether each pair's sides are swapped: half of them, to within one, in each task, so that who always takes the
    first text favours nobody.
    """
    rng = random.Random(seed)
    by_task = {task: [place % 2 == 0 for place in range(sum(p.task == task for p in prompts))] for task in TASKS}
    for swaps in by_task.values():
        rng.shuffle(swaps)
    return [by_task[prompt.task].pop() for prompt in prompts]
