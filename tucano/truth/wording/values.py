"""Whether an explanation is about another value of a column than its query: «automotivo» where toys were asked for.

States and months have their own reader (places.py), which knows their names.
"""

from collections.abc import Iterator, Set
from functools import lru_cache
from pathlib import Path

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tucano.truth.reading import words
from tucano.truth.sql import LEAST_STEPS, rows_of

MOST_VALUES = 200
"""A column with more is no list of kinds, but of names or remarks."""
SHORTEST = 4
"""Characters; a shorter value may be any word."""


def tells_of_another_value(prose: str, question: str, query: str, store: Path) -> bool:
    """Whether a text names values that a column of the store has, and none that the question or the query is about.

    query: one that SQLite reads; its columns are those that it compares with a text.
    """
    for asked, values in _compared(query, store):
        about = asked | _named(values, question)
        if (told := _named(values, prose)) and not told & about:
            return True
    return False


def _named(values: Set[str], text: str) -> Set[str]:
    spaced = f" {' '.join(words(text.replace('_', ' ')))} "
    return {value for value in values if f" {value} " in spaced}


@lru_cache(maxsize=4096)
def _compared(query: str, store: Path) -> tuple[tuple[Set[str], Set[str]], ...]:
    """For each column that the query compares with texts: these, and all that the store has in it."""
    try:
        tree = sqlglot.parse_one(query, dialect="sqlite")
    except (SqlglotError, RecursionError, ValueError):
        return ()
    asked: dict[str, set[str]] = {}
    for column, text in _comparisons(tree):
        asked.setdefault(column, set()).add(_plain(text))
    tables = {table.name for table in tree.find_all(exp.Table)}
    found = (
        (texts, set().union(*(_values(store, table, column) for table in tables))) for column, texts in asked.items()
    )
    return tuple((texts, values) for texts, values in found if values)


def _comparisons(tree: exp.Expression) -> Iterator[tuple[str, str]]:
    """(column, text) of every `column = 'text'` and `column IN ('text', …)`."""
    for node in tree.find_all(exp.EQ, exp.In):
        sides = [node.this, *(node.expressions if isinstance(node, exp.In) else [node.expression])]
        for column in (side for side in sides if isinstance(side, exp.Column)):
            yield from ((column.name, side.name) for side in sides if isinstance(side, exp.Literal) and side.is_string)


def _values(store: Path, table: str, column: str) -> Set[str]:
    """What stands in a column, as words; nothing where it is not this table's, or has too many."""
    asked = exp.Column(this=exp.to_identifier(column, quoted=True), table=exp.to_identifier(table, quoted=True))
    sql = f"SELECT DISTINCT {asked.sql('sqlite')} FROM {exp.to_identifier(table, quoted=True).sql('sqlite')}"
    result = rows_of(store, f"{sql} LIMIT {MOST_VALUES + 1}", 10 * LEAST_STEPS)
    if result is None or len(result[0]) > MOST_VALUES:
        return frozenset()
    return {plain for (value,) in result[0] if isinstance(value, str) and len(plain := _plain(value)) >= SHORTEST}


def _plain(value: str) -> str:
    return " ".join(words(value.replace("_", " ")))
