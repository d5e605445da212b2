"""The rating sets that come with the program and are spent, in one compressed table."""

import lzma
from pathlib import Path

from tucano.rating.files import RatingLine, parse
from tucano.rating.ratings import RatedAnswer, answers_of

TABLE = Path(__file__).parents[2] / "data" / "rated.jsonl.xz"
"""A line for each rating: set (from 1), author, rater, rater_kind, rating, origin, prompt, completion."""


class TableLine(RatingLine):
    """A rating in the table."""

    set: int
    author: str
    """Who wrote the answer: a model, or a writer who was told how good to be."""


def read_sets() -> dict[int, list[RatedAnswer]]:
    """The rated answers of each set, by its number, in the order in which they were shown. Their queries are run on the
    stores of the set that the audit reads (`tucano.project.COMMITTED_RATINGS`).
    """
    sets: dict[int, list[RatingLine]] = {}
    with lzma.open(TABLE, "rt", encoding="utf-8") as lines:
        for number, text in enumerate(lines, start=1):
            line = parse(TableLine, text, f"{TABLE} line {number}", "a rating")
            sets.setdefault(line.set, []).append(line)
    return {number: answers_of(lines, TABLE) for number, lines in sets.items()}
