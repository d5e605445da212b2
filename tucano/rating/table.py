"""The rated answers that come with the program, in compressed tables."""

import lzma
from collections.abc import Iterator
from pathlib import Path

from tucano.rating.files import Line, RatingLine, parse
from tucano.rating.ratings import RatedAnswer, answers_of

DATA = Path(__file__).parents[2] / "data"
TABLE = DATA / "rated.jsonl.xz"
"""The spent rating sets, of prompts that the program makes. A line for each rating: set (from 1), author, rater,
rater_kind, rating, origin, prompt, completion.
"""
TONES = DATA / "tones.jsonl.xz"
"""Answers to prompts as other shops write them, two raters each: tone in the place of the set."""


class TableLine(RatingLine):
    """A rating in the table."""

    set: int
    author: str
    """Who wrote the answer: a model, or a writer who was told how good to be."""


class ToneLine(RatingLine):
    """A rating of an answer to a prompt of another shop."""

    tone: str


def read_sets() -> dict[int, list[RatedAnswer]]:
    """The rated answers of each set, by its number, in the order in which they were shown. Their queries are run on the
    stores of the set that the audit reads (`tucano.project.COMMITTED_RATINGS`).
    """
    sets: dict[int, list[RatingLine]] = {}
    for line in _lines(TABLE, TableLine):
        sets.setdefault(line.set, []).append(line)
    return {number: answers_of(lines, TABLE) for number, lines in sets.items()}


def read_tones() -> dict[str, list[RatedAnswer]]:
    """The rated answers of each tone, by its name."""
    tones: dict[str, list[RatingLine]] = {}
    for line in _lines(TONES, ToneLine):
        tones.setdefault(line.tone, []).append(line)
    return {tone: answers_of(lines, TONES) for tone, lines in tones.items()}


def _lines(table: Path, kind: type[Line]) -> Iterator[Line]:
    with lzma.open(table, "rt", encoding="utf-8") as lines:
        for number, text in enumerate(lines, start=1):
            yield parse(kind, text, f"{table} line {number}", "a rating")
