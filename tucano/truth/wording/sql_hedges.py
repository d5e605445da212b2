"""Whether a query leaves open which of its columns is the answer.

People find an answer beside a superfluous column. Beside other measures of the same kind («SUM(valor > 100), SUM(valor
>= 100)»; number, sum, mean and maximum at once) they would have to know the answer to find it.
"""

from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

_CONDITIONS = (exp.Predicate, exp.Case, exp.If)


def is_hedged(query: str, gold: str) -> bool:
    """Whether a query measures more than the gold one does, and neither sorts by one of its measures nor adds no more
    than how many there are to another measure (or another measure to how many there are)."""
    ours, theirs = _parsed(query), _parsed(gold)
    if ours is None or theirs is None:
        return False
    measures = _measures(ours)
    if len(measures) <= max(1, len(_measures(theirs))) or _sorts_by(ours, measures):
        return False
    return len(measures) > 2 or sum(map(_is_number, measures)) != 1 or any(map(_is_conditional, measures))


@lru_cache(maxsize=4096)
def _parsed(query: str) -> exp.Query | None:
    try:
        tree = sqlglot.parse_one(query, dialect="sqlite")
    except (SqlglotError, ValueError, RecursionError):
        return None
    return tree if isinstance(tree, exp.Query) else None


def _measures(tree: exp.Query) -> list[exp.Expression]:
    """The different columns of the result that are worked out, here or in a query inside; all of these for «*»."""
    inside = {
        column.alias_or_name: column.unalias()
        for select in tree.find_all(exp.Select)
        for column in select.selects
        if select is not tree and _is_worked_out(column)
    }
    columns = [*inside.values()] if tree.is_star else [column.unalias() for column in tree.selects]
    found = {
        column.sql(): inside.get(column.name, column) if isinstance(column, exp.Column) else column
        for column in columns
        if _is_worked_out(column) or any(part.name in inside for part in column.find_all(exp.Column))
    }
    return [*found.values()]


def _is_worked_out(column: exp.Expression) -> bool:
    return column.find(exp.AggFunc, exp.Query, *_CONDITIONS) is not None


def _is_conditional(measure: exp.Expression) -> bool:
    return measure.find(exp.Filter, exp.Query, *_CONDITIONS) is not None


def _is_number(measure: exp.Expression) -> bool:
    """Whether a measure says how many there are."""
    return isinstance(measure, exp.Count)


def _sorts_by(tree: exp.Query, measures: list[exp.Expression]) -> bool:
    """Whether the rows are sorted by one of the measures first: by that the query says which one it is about."""
    order = tree.args.get("order")
    if order is None or not order.expressions or tree.is_star:
        return False
    key = order.expressions[0].this
    names = {column.alias: column.unalias() for column in tree.selects if column.alias}
    if isinstance(key, exp.Literal) and key.name.isdigit() and 0 < int(key.name) <= len(tree.selects):
        key = tree.selects[int(key.name) - 1].unalias()
    elif isinstance(key, exp.Column):
        key = names.get(key.name, key)
    return _is_worked_out(key) or key in measures
