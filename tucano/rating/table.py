"""The rated answers that come with the program, in compressed tables."""

import lzma
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TypeVar

from tucano.rating.files import RatingLine, parse
from tucano.rating.ratings import RatedAnswer, answers_of

R = TypeVar("R", bound=RatingLine)
G = TypeVar("G", bound=Hashable)
DATA = Path(__file__).parents[2] / "data"
TABLE = DATA / "rated.jsonl.xz"
"""The spent rating sets, of prompts that the program makes. A line for each rating: set (from 1), author (a model, or a
writer who was told how good to be), rater, rater_kind, rating, origin, prompt, completion.
"""
HELD_OUT = DATA / "held_out.jsonl.xz"
"""The same of sets that no judge has learned from."""
TONES = DATA / "tones.jsonl.xz"
"""Answers to prompts as other shops write them, two raters each: tone in the place of the set."""
HELD_OUT_TONES = DATA / "held_out_tones.jsonl.xz"
"""The same of tones that no judge has learned from."""


class TableLine(RatingLine):
    """A rating in the table."""

    set: int


class ToneLine(RatingLine):
    """A rating of an answer to a prompt of another shop."""

    tone: str


def read_sets(table: Path = TABLE) -> dict[int, list[RatedAnswer]]:
    """The rated answers of each set, by its number, in the order in which they were shown. Their queries are run on the
    stores of the set that the audit reads (`tucano.project.COMMITTED_RATINGS`).
    """
    return _grouped(table, TableLine, lambda line: line.set)


def read_tones(table: Path = TONES) -> dict[str, list[RatedAnswer]]:
    """The rated answers of each tone, by its name."""
    return _grouped(table, ToneLine, lambda line: line.tone)


def _grouped(table: Path, kind: type[R], group_of: Callable[[R], G]) -> dict[G, list[RatedAnswer]]:
    groups: dict[G, list[R]] = {}
    with lzma.open(table, "rt", encoding="utf-8") as lines:
        for number, text in enumerate(lines, start=1):
            line = parse(kind, text, f"{table} line {number}", "a rating")
            groups.setdefault(group_of(line), []).append(line)
    return {group: answers_of(found, table) for group, found in groups.items()}
