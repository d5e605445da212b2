"""Queries that people call right though their result is not the gold one: the answer stands among further columns, or
is rounded otherwise; or they read the question in another fair way.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from pathlib import Path
from typing import Any

from sqlglot import exp

from rewards.parsing.sql import (
    FREE_STEPS,
    GOLD_FACTOR,
    Outcome,
    answers_gold,
    decimals_of,
    expected_on,
    gold_result,
    parse,
    run_query,
    stores,
)
from rewards.parsing.sql_results import MOST_LOST, Arrangement, Expected, Rounding, Row, fits
from rewards.parsing.text import fold

MOST_BESIDE = 3
"""Columns beside those that were asked for; more are no answer but a table to search in."""
MOST_RIVALS = 2
"""Aggregates beside those of the gold query; two of them only behind the answer, where a single figure is asked for."""
WIDEST = 3
"""Columns of a gold query for which this is looked at."""
NAMELESS = 0.87
"""Credit of a query with a column that is worked out and has no name: a blemish to raters (of 153 right ones five are
rated 5; of 261 with names 226)."""
_ITEMS, _RATINGS = "itens", "avaliacoes"


@dataclass(frozen=True, slots=True)
class Rough(Rounding):
    """Any rounding that leaves the number recognisable: whole numbers too."""

    def slack(self, value: float) -> float:
        own = 0.5 if self.ours is None else 0.5 * 10.0**-self.ours
        return Rounding.slack(self, value) + (min(own, MOST_LOST * abs(value)) if self.ours is not None else 0.0)


def meant(reference: Mapping[str, Any], sql: str, databases: Path | None, question: str = "") -> Outcome:
    """`answers_gold`, also for another fair reading of the question, and for the names alone of a ranking where it
    asks for no amounts."""
    outcome = answers_gold(reference, sql, databases)
    if outcome.ran and not outcome.equal:
        others = _readings(reference, databases, question)
        if is_ranking(reference["sql"]) and not _AMOUNTS.search(fold(question)) and (shown := with_measure(sql)):
            sql = shown
        return Outcome(True, any(answers_gold(one, sql, databases).equal for one in (reference, *others)))
    return outcome


def is_near(reference: Mapping[str, Any], sql: str, databases: Path | None, question: str = "") -> bool:
    """Whether a query that runs gives the gold rows and, at most, further columns beside them or other decimals, on
    every store of the question."""
    if databases is None or _hedges(reference["sql"], sql):
        return False
    return any(_holds(one, sql, databases) for one in (reference, *_readings(reference, databases, question)))


@lru_cache(maxsize=4096)
def naming(sql: str) -> float:
    """Credit of a query for the names of the columns that it works out («AVG(nota) AS nota_media»)."""
    tree = parse(sql)
    columns = tree.selects if isinstance(tree, exp.Query) else []
    is_bare = any(not isinstance(column, exp.Alias) and column.find(exp.AggFunc) for column in columns)
    return NAMELESS if is_bare else 1.0


def _holds(reference: Mapping[str, Any], sql: str, databases: Path) -> bool:
    gold = reference["sql"]
    places: list[Arrangement] | None = None
    for number, store in enumerate(stores(databases / reference["database"])):
        steps, expected = gold_result(store, gold).steps, expected_on(store, gold)
        if number and expected.is_void:
            continue
        result = run_query(store, sql, max(FREE_STEPS, GOLD_FACTOR * steps))
        if result is not None and number and expected.is_zero and not result.rows:
            continue
        if result is None or len(result.rows) != expected.count:
            return False
        if not expected.count:
            continue
        width = len(result.rows[0])
        if places is None:
            if not expected.width <= width <= expected.width + MOST_BESIDE or expected.width > WIDEST:
                return False
            asked = range(expected.width)
            in_order = "columns" in reference.get("asks", ())
            places = [one for one in permutations(range(width), len(asked)) if not in_order or sorted(one) == list(one)]
            if expected.width == expected.count == 1 and rivals(gold, sql) == MOST_RIVALS:
                places = [(_first(sql),)]
        places = [one for one in places if width > max(one) and _fits(expected, result.rows, one, (gold, sql))]
        if not places:
            return False
    return places is not None


_COMPARISONS = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ, exp.NEQ, exp.Between, exp.In, exp.Like)


def rivals(gold: str, sql: str) -> int:
    """How many more different aggregates a query has than the gold one: each may be meant as the answer."""
    return _aggregates(sql) - _aggregates(gold)


@lru_cache(maxsize=4096)
def _aggregates(sql: str) -> int:
    """How many different aggregates a query has."""
    return len({_plain(node, is_shape=False) for node in _nodes(sql, exp.AggFunc)})


def _hedges(gold: str, sql: str) -> bool:
    """Whether a query leaves open what its answer is: many aggregates, or one under several conditions
    («SUM(valor>100), SUM(valor>=100)»)."""
    return rivals(gold, sql) > MOST_RIVALS or _alike(sql) > _alike(gold)


@lru_cache(maxsize=4096)
def _alike(sql: str) -> int:
    """How many aggregates and parts of a query are another one but for the values and comparisons of its conditions."""
    nodes = _nodes(sql, exp.AggFunc, exp.Filter, exp.Select)
    return len({_plain(node, is_shape=False) for node in nodes}) - len({_plain(node, is_shape=True) for node in nodes})


def _plain(node: exp.Expression, is_shape: bool) -> str:
    """A part of a query without names of tables and columns' aliases; as a shape without the values compared."""

    def plain(part: exp.Expression) -> exp.Expression | None:
        if isinstance(part, exp.Alias):
            return part.this.transform(plain)
        if isinstance(part, exp.Column):
            return exp.column(part.name)
        if is_shape and isinstance(part, _COMPARISONS):
            return exp.EQ(this=part.this.transform(plain), expression=exp.Literal.number(0))
        return None if isinstance(part, exp.TableAlias) else part

    return node.transform(plain).sql()


def _nodes(sql: str, *kinds: type[exp.Expression]) -> list[exp.Expression]:
    tree = parse(sql)
    return list(tree.find_all(*kinds)) if tree is not None else []


def _first(sql: str) -> int:
    """Which column of a query is its first aggregate; the first of all where none is."""
    tree = parse(sql)
    columns = tree.selects if isinstance(tree, exp.Select) else []
    return next((place for place, column in enumerate(columns) if column.find(exp.AggFunc)), 0)


def _fits(expected: Expected, rows: tuple[Row, ...], places: Arrangement, queries: tuple[str, str]) -> bool:
    theirs, ours = map(decimals_of, queries)
    roundings = tuple(
        Rough(theirs[place] if place < len(theirs) else None, ours[own] if own < len(ours) else None)
        for place, own in enumerate(places)
    )
    return fits(expected, [tuple(row[place] for place in places) for row in rows], roundings)


def _readings(reference: Mapping[str, Any], databases: Path | None, question: str) -> list[dict[str, Any]]:
    """The reference with other fair readings of its question as gold queries: a mean of ratings over the different
    orders; customers instead of their ratings, where it asks for customers; what was paid instead of what the items
    cost, where it asks for a revenue."""
    gold = reference["sql"]
    asked = fold(question)
    others = (
        by_order(gold),
        by_customer(gold) if _CUSTOMERS.search(asked) else None,
        by_payment(gold) if _REVENUE.search(asked) else None,
    )
    return [
        {**reference, "sql": other}
        for other in filter(None, others)
        if databases is not None and run_query(databases / reference["database"], other) is not None
    ]


_CUSTOMERS = re.compile(r"\bquant\w+ (?:d?os )?clientes\b")
_REVENUE = re.compile(r"\b(?:receita|faturamento|faturou)\b(?! d[ao]s? (?:item|itens|produto))")
_AMOUNTS = re.compile(
    r"\bquant[oa]s?\b|\b(?:de|em|por|para) cada\b|\brespectiv|\b(?:com|e) (?:[ao]s?|seus?|suas?|qual (?:[eo]"
    r"|foi [ao]) )"
    r" ?(?:seus? |suas? )?(?:tota|valor|receita|numero|quantidade|media|soma)"
)
"""What asks for the figures of a ranking as well."""


@lru_cache(maxsize=4096)
def is_ranking(gold: str) -> bool:
    """Whether a gold query ranks names by a measure («que estados …?»)."""
    tree = parse(gold)
    if not isinstance(tree, exp.Select) or not all(map(tree.args.get, ("group", "order", "limit"))):
        return False
    name, *measures = tree.selects
    return isinstance(name, exp.Column) and len(measures) == 1 and measures[0].find(exp.AggFunc) is not None


@lru_cache(maxsize=4096)
def with_measure(sql: str) -> str | None:
    """A query for names alone with what it sorts them by beside them: the measure has to be right, not the order
    by chance."""
    tree = parse(sql)
    if not isinstance(tree, exp.Select) or len(tree.selects) != 1:
        return None
    if order := tree.args.get("order"):
        key = order.expressions[0].this
        return tree.select((key.this if isinstance(key, exp.Neg) else key).copy()).sql("sqlite")
    inner = tree.find(exp.Subquery)
    if inner is None or not isinstance(inner.this, exp.Select):
        return None
    name = inner.this.selects[0].alias_or_name
    return inner.this.sql("sqlite") if tree.sql("sqlite") == f"SELECT {name} FROM {inner.sql('sqlite')}" else None


@lru_cache(maxsize=4096)
def by_customer(gold: str) -> str | None:
    """The different customers where a query counts ratings of orders («quantos clientes deram nota 1»)."""
    tree = parse(gold)
    tables = [table.name.lower() for table in tree.find_all(exp.Table)] if tree is not None else []
    counts = isinstance(tree, exp.Select) and [column.sql() for column in tree.selects] == ["COUNT(*)"]
    if not counts or sorted(tables) != [_RATINGS, "pedidos"] or not isinstance(tree, exp.Select):
        return None
    return tree.copy().select("COUNT(DISTINCT cliente_id)", append=False).sql("sqlite")


@lru_cache(maxsize=4096)
def by_payment(gold: str) -> str | None:
    """What customers paid where a query sums the prices of the items («receita» may be either)."""
    tree = parse(gold)
    tables = {table.name.lower() for table in tree.find_all(exp.Table)} if tree is not None else set()
    summed = [node.this.name for node in tree.find_all(exp.Sum)] if isinstance(tree, exp.Select) else []
    if summed != ["preco"] or _ITEMS not in tables or "produtos" in tables or tree is None:
        return None

    def paid(node: exp.Expression) -> exp.Expression:
        if isinstance(node, exp.Table) and node.name.lower() == _ITEMS:
            return exp.to_table("pagamentos")
        return exp.column("valor") if isinstance(node, exp.Column) and node.name == "preco" else node

    return tree.transform(paid).sql("sqlite")


@lru_cache(maxsize=4096)
def by_order(gold: str) -> str | None:
    """A mean of ratings that a join with the items repeats, in which each rating counts once («quem comprou dois» rated
    once); None for any other query."""
    tree = parse(gold)
    means = list(tree.find_all(exp.Avg)) if isinstance(tree, exp.Select) else []
    if not isinstance(tree, exp.Select) or len(tree.selects) != 1 or len(means) != 1 or tree.args.get("group"):
        return None
    tables = {table.name.lower(): table.alias_or_name for table in tree.find_all(exp.Table)}
    if not {_ITEMS, _RATINGS} <= set(tables) or not isinstance(means[0].this, exp.Column):
        return None
    rating = exp.column("rowid", table=tables[_RATINGS])  # an order may have two ratings, and both alike
    different = tree.copy().select(rating, means[0].this.copy(), append=False).distinct()
    return exp.select(tree.selects[0].copy()).from_(different.subquery("_orders")).sql("sqlite")
