"""The rating set: completions with people's 1-5 ratings, and the store that its SQL prompts ask about."""

import json
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from tucano.errors import UserError
from tucano.files.prompts import STORE
from tucano.prompts import TASKS, Prompt, jsonl_lines

Origin = Literal["sampled", "written"]
RaterKind = Literal["human", "model"]

RATINGS = "ratings.jsonl"
STORE_DUMP = "store.sql"


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    """One completion with the mean of its ratings (1-5), who gave them, as {rater: kind}, and what each gave, as {rater: rating}."""

    prompt: Prompt
    completion: str
    origin: Origin
    rating: float
    raters: dict[str, RaterKind]
    given: dict[str, int]


def read_ratings(folder: Path) -> list[RatedAnswer]:
    """All rated completions in the order of the file; the ratings of one completion by several raters are averaged.

    Each line of ratings.jsonl is `{"prompt": {fields of Prompt}, "completion", "origin", "model", "rating", "rater", "rater_kind"}`.
    Raises UserError naming file and line where a line is not that.
    """
    path = folder / RATINGS
    if not path.is_file():
        raise UserError(f"{path} does not exist; audit.ratings must name a folder that holds {RATINGS}")
    answers: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in read_records(path):
        answers.setdefault((record["prompt"].id, record["completion"]), []).append(record)
    return [_averaged(records) for records in answers.values()]


def read_records(path: Path) -> list[dict[str, Any]]:
    """The lines of a ratings file as they stand, each `prompt` made a Prompt. Raises UserError naming the first line that is no rating."""
    return [parse_rating(line, f"{path} line {number}") for number, line in enumerate(jsonl_lines(path), start=1)]


def parse_rating(line: str, where: str) -> dict[str, Any]:
    """One line of a ratings file; `where` names it in the UserError for one that is no rating."""
    try:
        record: dict[str, Any] = json.loads(line)
        record["prompt"] = Prompt(**record["prompt"])
        valid = (
            record["prompt"].task in TASKS
            and isinstance(record["completion"], str)
            and record["rating"] in (1, 2, 3, 4, 5)
            and isinstance(record["rater"], str)
            and record["origin"] in get_args(Origin)
            and record["rater_kind"] in get_args(RaterKind)
        )
    except (json.JSONDecodeError, KeyError, TypeError) as fault:
        raise UserError(f"{where} is not a rating ({fault}); rate it again or remove the line") from fault
    if not valid:
        raise UserError(f"{where} has a value out of range: rating 1-5, origin sampled or written, rater_kind human or model")
    return record


def _averaged(records: Sequence[dict[str, Any]]) -> RatedAnswer:
    first = records[0]
    return RatedAnswer(
        prompt=first["prompt"],
        completion=first["completion"],
        origin=first["origin"],
        rating=sum(record["rating"] for record in records) / len(records),
        raters={record["rater"]: record["rater_kind"] for record in records},
        given={record["rater"]: record["rating"] for record in records},
    )


@contextmanager
def rating_store(folder: Path) -> Iterator[Path]:
    """A temporary folder that holds the rating set's store as a SQLite file; empty where the set has no dump."""
    dump = folder / STORE_DUMP
    with tempfile.TemporaryDirectory(prefix="tucano-audit-") as name:
        if dump.is_file():
            connection = sqlite3.connect(Path(name) / STORE)
            try:
                connection.executescript(dump.read_text(encoding="utf-8"))
            finally:
                connection.close()
        yield Path(name)
