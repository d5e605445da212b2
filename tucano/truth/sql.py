"""Whether the query of an answer gives what the gold query gives: both run on the one store, read-only, in bounded
steps and never by the clock."""

import math
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

LONGEST_QUERY = 2048
MOST_ROWS = 1000
MOST_STEPS = 5_000_000
_STRIDE = 1000
_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\n(.*?)```", re.DOTALL)
_QUERY = re.compile(r"\b(?:SELECT|WITH)\b[^;]*", re.IGNORECASE)
_CLOCK = re.compile(r"\bcurrent_|'(?:now|localtime|utc)'|\brandom", re.IGNORECASE)
_READ = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)

Rows = tuple[tuple[Any, ...], ...]


def right_answer(reference: Mapping[str, Any], completion: str, databases: Path | None) -> bool:
    """Whether the one query of a completion returns the rows of `reference["sql"]`, in any order unless that sorts.

    ValueError without `databases`, and where the gold query itself does not run.
    """
    if databases is None:
        raise ValueError(f"the reference names the database {reference['database']!r}; give its folder as `databases`")
    if Path(reference["database"]).name != reference["database"] or reference["database"] == "..":
        raise ValueError(f"{reference['database']!r}: a database is a file of the prompt set's own folder")
    database = databases / reference["database"]
    if not database.is_file():
        raise ValueError(f"there is no database {database}; give the folder that holds it as `databases`")
    gold = _rows(database, reference["sql"])
    if gold is None:
        raise ValueError(f"the gold query does not run on {database}; mend the prompt set: {reference['sql']}")
    query = query_of(completion)
    found = _rows(database, query) if query else None
    return found is not None and _same(gold, found, bool(re.search(r"\border\s+by\b", reference["sql"], re.IGNORECASE)))


def query_of(completion: str) -> str | None:
    """The query: in the first code fence, else from SELECT or WITH to `;`, a blank line or the end."""
    fenced = _FENCE.search(completion)
    found = _QUERY.search(fenced[1] if fenced else re.split(r"\n\s*\n", completion, maxsplit=1)[0])
    return found[0].strip() if found and len(found[0]) <= LONGEST_QUERY else None


@lru_cache(maxsize=4096)
def _rows(database: Path, query: str) -> Rows | None:
    if _CLOCK.search(query):
        return None
    steps = 0

    def is_over() -> bool:
        nonlocal steps
        steps += _STRIDE
        return steps > MOST_STEPS

    with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READ else sqlite3.SQLITE_DENY)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 10_000)
        connection.set_progress_handler(is_over, _STRIDE)
        for text in (query, query.rpartition("\n")[0]):
            try:
                rows = connection.execute(text).fetchmany(MOST_ROWS + 1)
            except (sqlite3.Error, sqlite3.Warning, ValueError):
                continue
            return tuple(rows) if len(rows) <= MOST_ROWS else None
    return None


def _same(gold: Rows, rows: Rows, ordered: bool) -> bool:
    if len(gold) != len(rows):
        return False
    pairs = (
        zip(gold, rows, strict=True) if ordered else zip(sorted(gold, key=_key), sorted(rows, key=_key), strict=True)
    )
    return all(len(one) == len(other) and all(map(_equal, one, other)) for one, other in pairs)


def _equal(one: object, other: object) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
    return one == other


def _key(row: Sequence[object]) -> list[tuple[str, str]]:
    return [("n", f"{cell:.6g}") if isinstance(cell, int | float) else (type(cell).__name__, str(cell)) for cell in row]
