"""Other fair readings of a question, as gold queries made of its own: each rated order once, customers for their
ratings, what was paid for what the items cost."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from sqlglot import exp

from rewards.parsing.sql import parse
from rewards.parsing.text import fold

_ITEMS, _RATINGS = "itens", "avaliacoes"
_CUSTOMERS = re.compile(r"\bquant\w+ (?:d?os )?clientes\b")
_REVENUE = re.compile(r"\b(?:receita|faturamento|faturou)\b(?! d[ao]s? (?:item|itens|produto))")


def readings(reference: Mapping[str, Any], question: str) -> Iterator[dict[str, Any]]:
    """The reference, and it with each other query that the question may mean."""
    asked = fold(question)
    yield dict(reference)
    for sql in (
        _by_order(reference["sql"]),
        _by_customer(reference["sql"]) if _CUSTOMERS.search(asked) else None,
        _by_payment(reference["sql"]) if _REVENUE.search(asked) else None,
    ):
        if sql:
            yield {**reference, "sql": sql}


def _tables(tree: exp.Expression) -> dict[str, str]:
    return {table.name.lower(): table.alias_or_name for table in tree.find_all(exp.Table)}


@lru_cache(maxsize=4096)
def _by_order(gold: str) -> str | None:
    """A mean of ratings that a join with the items repeats, in which each rating counts once."""
    tree = parse(gold)
    if not isinstance(tree, exp.Select) or len(tree.selects) != 1 or tree.args.get("group"):
        return None
    means, tables = list(tree.find_all(exp.Avg)), _tables(tree)
    if len(means) != 1 or not {_ITEMS, _RATINGS} <= set(tables) or not isinstance(means[0].this, exp.Column):
        return None
    rating = exp.column("rowid", table=tables[_RATINGS])  # an order may have two ratings, and both alike
    different = tree.copy().select(rating, means[0].this.copy(), append=False).distinct()
    return exp.select(tree.selects[0].copy()).from_(different.subquery("_orders")).sql("sqlite")


@lru_cache(maxsize=4096)
def _by_customer(gold: str) -> str | None:
    """The different customers where a query counts ratings of orders."""
    tree = parse(gold)
    if not isinstance(tree, exp.Select) or [column.sql() for column in tree.selects] != ["COUNT(*)"]:
        return None
    is_of_ratings = set(_tables(tree)) == {_RATINGS, "pedidos"}
    return tree.copy().select("COUNT(DISTINCT cliente_id)", append=False).sql("sqlite") if is_of_ratings else None


@lru_cache(maxsize=4096)
def _by_payment(gold: str) -> str | None:
    """What customers paid where a query sums the prices of the items."""
    tree = parse(gold)
    summed = [node.this.name for node in tree.find_all(exp.Sum)] if isinstance(tree, exp.Select) else []
    if tree is None or summed != ["preco"] or _ITEMS not in _tables(tree) or "produtos" in _tables(tree):
        return None

    def paid(node: exp.Expression) -> exp.Expression:
        if isinstance(node, exp.Table) and node.name.lower() == _ITEMS:
            return exp.to_table("pagamentos")
        return exp.column("valor") if isinstance(node, exp.Column) and node.name == "preco" else node

    return tree.transform(paid).sql("sqlite")
