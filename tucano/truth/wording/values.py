"""Whether an explanation is about another value of a column than its query: «automotivo» where toys were asked for.

States and months have their own reader (places.py), which knows their names.
"""

from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from pathlib import Path

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tucano.truth.reading import sentences, word_set, words
from tucano.truth.sql import LEAST_STEPS, rows_of

MOST_VALUES = 200
"""A column with more is no list of kinds, but of names or remarks."""
SHORTEST = 5
"""Characters; a shorter value may be any word («moda», «loja»), and counts only where it is asked for."""
LONG = 6
"""Characters of a word whose ending does not count: «entregue» is «entregues»."""
NEAR = 4
"""Words from a denial to what it denies."""

Value = tuple[str, ...]
"""The beginnings of a value's words."""
_DENIALS = word_set("nao nem sem exceto fora menos alem salvo nenhum nenhuma diferente diferentes")
_LINKS = word_set("e de da do das dos")


def tells_of_another_value(prose: str, question: str, query: str, store: Path) -> bool:
    """Whether a text names a value that a column of the store has, and none that the query or the question asks for.

    Of the query only those columns count that it holds to a text, or to several: what it leaves out, compares within
    another query or counts by cases may rightly be told.
    """
    told_of = _read(prose)
    asked_of = _read(question)
    for asked, values in _held(query, store):
        about = asked | {value for value in values if _stands(value, asked_of, denied=True)}
        told = {value for value in values - about if _stands(value, told_of)}
        if told and not any(_stands(value, told_of, denied=True) for value in about):
            return True
    return False


def _read(text: str) -> list[list[tuple[str, bool]]]:
    """Of each sentence its words, without ending and without links, each with whether it is denied."""
    found = []
    for sentence in sentences(text.replace("_", " "), whole=True):
        plain = words(sentence)
        denied = [bool(_DENIALS & set(plain[max(0, place - NEAR) : place])) for place in range(len(plain))]
        pairs = zip(plain, denied, strict=True)
        found.append([(_bare(word), is_denied) for word, is_denied in pairs if word not in _LINKS])
    return found


def _stands(value: Value, text: list[list[tuple[str, bool]]], denied: bool = False) -> bool:
    """Whether a value stands in one sentence; `denied`: also where that denies it."""
    return any(
        tuple(word for word, _ in sentence[begin : begin + len(value)]) == value
        for sentence in text
        for begin, (_, is_denied) in enumerate(sentence)
        if denied or not is_denied
    )


@lru_cache(maxsize=4096)
def _held(query: str, store: Path) -> tuple[tuple[Set[Value], Set[Value]], ...]:
    """For each column that the query holds to texts: these, and all that the store has in it."""
    try:
        tree = sqlglot.parse_one(query, dialect="sqlite")
    except (SqlglotError, RecursionError, ValueError):
        return ()
    where = tree.args.get("where")
    asked: dict[str, set[Value]] = {}
    for condition in _conjuncts(where.this) if where else ():
        for column, text in _texts(condition):
            if value := _value(text):
                asked.setdefault(column, set()).add(value)
    tables = {table.name for table in tree.find_all(exp.Table)}
    found = ((texts, _of_store(store, sorted(tables), column)) for column, texts in asked.items())
    return tuple((texts, {one for one in values if not _is_part(one, texts)} | texts) for texts, values in found)


def _conjuncts(condition: exp.Expression) -> Iterator[exp.Expression]:
    if isinstance(condition, exp.And):
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition.unnest()


def _texts(condition: exp.Expression) -> Iterator[tuple[str, str]]:
    """(column, text) of `column = 'text'` and `column IN ('text', …)`."""
    if isinstance(condition, exp.EQ | exp.In):
        sides = [condition.this, *(condition.expressions or [condition.args.get("expression")])]
        for column in (side for side in sides if isinstance(side, exp.Column)):
            yield from ((column.name, side.name) for side in sides if isinstance(side, exp.Literal) and side.is_string)


def _of_store(store: Path, tables: Sequence[str], column: str) -> Set[Value]:
    """What stands in a column, without what may be any word and what is a month or a day; nothing of too many."""
    found: set[Value] = set()
    for table in tables:
        asked = exp.Column(this=exp.to_identifier(column, quoted=True), table=exp.to_identifier(table, quoted=True))
        source = exp.to_identifier(table, quoted=True).sql("sqlite")
        query = f"SELECT DISTINCT {asked.sql('sqlite')} FROM {source} LIMIT {MOST_VALUES + 1}"
        result = rows_of(store, query, 10 * LEAST_STEPS)
        if result is not None and len(result[0]) <= MOST_VALUES:
            texts = (text for (text,) in result[0] if isinstance(text, str) and len(text) >= SHORTEST)
            found |= {_value(text) for text in texts if not text[:4].isdigit()}
    return found - {()}


def _is_part(value: Value, texts: Set[Value]) -> bool:
    return any(set(value) <= set(text) for text in texts)


def _value(text: str) -> Value:
    return tuple(_bare(word) for word in words(text.replace("_", " ")) if word not in _LINKS)


def _bare(word: str) -> str:
    """A word without its ending, where it is long."""
    return word.rstrip("s")[:-1] if len(word) >= LONG and word.isalpha() else word
