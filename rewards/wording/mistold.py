"""What the text beside a query is worth, and whether it speaks of something else: of another state or month, or of
another kind, such as a category or a way of payment, where the gold query asks for one by `column = 'text'` or `IN`.
"""

import re
from functools import lru_cache
from pathlib import Path

from sqlglot import exp

from rewards.parsing.prose import stands, tells_of_others
from rewards.parsing.sql import FREE_STEPS, Query, parse, run_query
from rewards.parsing.text import fold, originality, portuguese, words
from rewards.types import PromptLike, clip
from rewards.wording.beside import denies_all, retracts, without_notes

FEWEST_WORDS = 10
"""Words of an explanation that earns all."""
MOST_KINDS = 200
"""A column with more values names things, not kinds."""
FEWEST_LETTERS = 5
"""Shorter values, like «moda» or «loja», may be any word of an explanation. They count where they are asked for."""
INFLECTED = 6
"""Letters from which on a word counts with any ending: «cancelado», «cancelados»."""
_UNDER = (exp.Not, exp.NEQ, exp.Or, exp.Case, exp.If, exp.Subquery, exp.CTE, exp.Having)
"""What asks for a kind below one of these may rightly be explained by others."""
_DENIED = r"\b(?:nao|nem|sem|exceto|fora|menos|alem|salvo|nenhum\w*|diferente\w*)(?: [\w-]+){0,3} $"
_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?$")


def explains(prose: str, prompt: PromptLike) -> float:
    """How much the prose beside a query explains: Portuguese words of its own, ten for all."""
    tokens = words(prose)
    own = portuguese(tokens) * (originality(tokens, prompt.user) > 0)
    return clip(len(tokens) / FEWEST_WORDS) * own


def takes_itself_back(query: Query) -> bool:
    """Whether prose or comments say of a query that it is none to use, or prose only what it does not do."""
    prose = without_notes(query.prose)
    return not stands(prose) or retracts(f"{prose}\n{without_notes(query.comments)}") or denies_all(prose)


def mistells(query: Query, prompt: PromptLike, databases: Path | None) -> bool:
    """Whether an answer's prose is about others than its question and its query."""
    if tells_of_others(query.prose, f"{prompt.user} {query.text}"):
        return True
    gold = prompt.reference.get("sql")
    database = prompt.reference.get("database")
    if not gold or not database or databases is None:
        return False
    return tells_of_other_kinds(query.prose, prompt.user, gold, databases / database)


def tells_of_other_kinds(text: str, question: str, gold: str, database: Path) -> bool:
    """Whether a text names kinds of a column that the gold query asks for by name, and none of those that it asks for
    or the question names.
    """
    prose = _spaced(text)
    about = _spaced(question)
    for asked, others in _kinds(gold, database):
        told = {value for value, pattern in others.items() if _told(pattern, prose)}
        known = {value for value, pattern in others.items() if pattern.search(about)}
        if told - known and not told & known and not any(pattern.search(prose) for pattern in asked):
            return True
    return False


def _told(pattern: re.Pattern[str], spaced: str) -> bool:
    """Whether a value stands in a text and is not denied within the hundred characters before it."""
    found = pattern.finditer(spaced)
    return any(not re.search(_DENIED, spaced[max(0, one.start() - 100) : one.start()]) for one in found)


@lru_cache(maxsize=1024)
def _kinds(gold: str, database: Path) -> tuple[tuple[list[re.Pattern[str]], dict[str, re.Pattern[str]]], ...]:
    """For each column that the gold query asks for: patterns of what it asks, and of the store's other values."""
    tree = parse(gold)
    if tree is None:
        return ()
    tables = {table.name for table in tree.find_all(exp.Table)}
    asked: dict[str, set[str]] = {}
    for node in tree.find_all(exp.EQ, exp.In):
        sides = [node.this, *node.expressions, node.args.get("expression")]
        texts = {_spaced(side.name) for side in sides if isinstance(side, exp.Literal) and side.is_string}
        column = next((side.name for side in sides if isinstance(side, exp.Column)), "")
        if texts and column and not node.find_ancestor(*_UNDER):
            asked.setdefault(column, set()).update(texts)
    return tuple(
        (
            [_pattern(text) for text in texts],
            {
                value: _pattern(value)
                for table in tables
                for value in _values(database, table, column)
                if not any(set(value.split()) <= set(text.split()) for text in texts)
            },
        )
        for column, texts in asked.items()
    )


def _pattern(value: str) -> re.Pattern[str]:
    """A value as words of a text, long ones with any ending, «alimentos bebidas» also as «alimentos e bebidas»."""
    words = [
        rf"{re.escape(word.rstrip('s')[:-1])}\w{{0,3}}"
        if len(word) >= INFLECTED and word.isalpha()
        else re.escape(word)
        for word in value.split()
    ]
    return re.compile(rf"(?<!\w){' (?:(?:e|de|da|do) )?'.join(words)}(?!\w)")


def _values(database: Path, table: str, column: str) -> set[str]:
    # [t].[c] is never taken for a text, as "c" is where the table has no such column
    sql = f"SELECT DISTINCT [{table}].[{column}] FROM [{table}] WHERE typeof([{table}].[{column}]) = 'text'"
    result = run_query(database, f"{sql} LIMIT {MOST_KINDS + 1}", 10 * FREE_STEPS)
    if result is None or len(result.rows) > MOST_KINDS:
        return set()
    values = {_spaced(value) for (value,) in result.rows}
    return {value for value in values if len(value) >= FEWEST_LETTERS and not _DATE.match(value)}


def _spaced(text: str) -> str:
    return " ".join(re.sub(r"[_.,;:!?()\"']", " ", fold(text)).split())
