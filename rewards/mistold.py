"""Whether the text beside a query speaks of something else: of another state or month, or of another kind, such as a
category or a way of payment, whatever a column of the store holds.
"""

import re
from functools import lru_cache
from pathlib import Path

from rewards.parsing.prose import tells_of_others
from rewards.parsing.sql import FREE_STEPS, Query, names, run_query
from rewards.parsing.text import fold
from rewards.types import PromptLike

MOST_KINDS = 200
"""A column with more values names things, not kinds."""
FEWEST_LETTERS = 4
"""States and other short values are words of their own."""


def mistells(query: Query, prompt: PromptLike, databases: Path | None) -> bool:
    """Whether an answer's prose is about others than its question and its query."""
    about = f"{prompt.user} {query.text}"
    gold = prompt.reference.get("sql")
    if tells_of_others(query.prose, about):
        return True
    if not gold or databases is None:
        return False
    return tells_of_other_kinds(query.prose, about, gold, databases / prompt.reference["database"])


def tells_of_other_kinds(text: str, about: str, gold: str, database: Path) -> bool:
    """Whether a text names kinds of a column that the gold query reads, and `about` others of that column alone."""
    for pattern in _kinds(gold, database):
        told = set(pattern.findall(_spaced(text)))
        known = set(pattern.findall(_spaced(about)))
        if told and known and not told & known:
            return True
    return False


@lru_cache(maxsize=1024)
def _kinds(gold: str, database: Path) -> tuple[re.Pattern[str], ...]:
    """For each column that the gold query names, a pattern of all its values; longer ones first."""
    read = [name.partition(":") for name in sorted(names(gold))]
    tables = [name for place, _, name in read if place == "table"]
    found = []
    for column in (name for place, _, name in read if place == "column"):
        values = {value for table in tables for value in _values(database, table, column)}
        if values:
            ordered = sorted(map(re.escape, values), key=lambda value: (-len(value), value))
            found.append(re.compile(rf"(?<!\w)(?:{'|'.join(ordered)})(?!\w)"))
    return tuple(found)


def _values(database: Path, table: str, column: str) -> set[str]:
    # [t].[c] is never taken for a text, as "c" is where the table has no such column
    sql = f"SELECT DISTINCT [{table}].[{column}] FROM [{table}] WHERE typeof([{table}].[{column}]) = 'text'"
    result = run_query(database, f"{sql} LIMIT {MOST_KINDS + 1}", 10 * FREE_STEPS)
    if result is None or len(result.rows) > MOST_KINDS:
        return set()
    return {spaced for (value,) in result.rows if len(spaced := _spaced(value)) >= FEWEST_LETTERS}


def _spaced(text: str) -> str:
    return " ".join(fold(text).replace("_", " ").split())
