"""How near a query comes that is not the gold one: another fair reading of the question, the answer among further
columns or with other decimals, or the right tables and some of the conditions.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tucano.truth.reading import plain
from tucano.truth.sql import gives, runs
from tucano.truth.wording.sql_hedges import is_hedged

WIDER = 3
"""Further columns beside which people still find the answer."""
NEARLY = 0.85
TOPIC = 0.25
"""What such an answer is worth, and what one is at most that asks the right tables something else."""
NAMELESS = 0.88
"""What is left of a query whose sums and means have no names: a blemish to those who read the result."""


def nearness(reference: Mapping[str, Any], query: str, databases: Path, question: str) -> float:
    """1 for another fair reading, .85 for further columns or decimals, else, and where the further columns leave the
    answer open, .25 by what it shares with the gold query; 0 for a query that does not run."""
    gold = reference["sql"]
    others = filter(
        None, (once_per_order(gold), whom_it_counts(gold, plain(question)), paid_for(gold, plain(question)))
    )
    readings = [dict(reference), *({**reference, "sql": other} for other in others)]
    readings = [one for one in readings if runs(one, one["sql"], databases)]
    names = names_alone(gold, plain(question))
    if any(gives(one, query, databases) for one in readings) or (
        names
        and gives({**reference, "sql": names}, query, databases)
        and gives(reference, beside_its_key(query), databases, coarser=True)
    ):
        return 1.0
    if any(gives(one, query, databases, WIDER, coarser=True) and not is_hedged(query, one["sql"]) for one in readings):
        return NEARLY
    return TOPIC * _shared(query, reference["sql"]) ** 2 if runs(reference, query, databases) else 0.0


@lru_cache(maxsize=4096)
def naming(query: str) -> float:
    """1 where every column that aggregates has a name, else less."""
    try:
        tree = sqlglot.parse_one(query, dialect="sqlite")
    except (SqlglotError, ValueError, RecursionError):
        return 1.0
    bare = [column for column in getattr(tree, "selects", []) if column.find(exp.AggFunc) and not column.alias]
    return NAMELESS if bare else 1.0


@lru_cache(maxsize=4096)
def once_per_order(gold: str) -> str | None:
    """The mean of ratings over orders and not over their items, which the gold query joins; None for other queries."""
    try:
        tree = sqlglot.parse_one(gold, dialect="sqlite")
    except (SqlglotError, ValueError, RecursionError):
        return None
    average = tree.find(exp.Avg)
    joined = {table.name: table.alias_or_name for table in tree.find_all(exp.Table)}
    if average is None or not {"itens", "avaliacoes"} <= set(joined) or tree.args.get("group") or len(tree.selects) > 1:
        return None
    inside = tree.copy()
    inside.set("expressions", [exp.column("rowid", table=joined["avaliacoes"]), average.this.copy()])
    inside.set("distinct", exp.Distinct())
    return f"SELECT {tree.selects[0].sql('sqlite')} FROM ({inside.sql('sqlite')})"


_RATED = re.compile(r"^SELECT COUNT\(\*\) (FROM avaliacoes JOIN pedidos USING\(pedido_id\)(?! JOIN) .*)$", re.DOTALL)
_SOLD = re.compile(r"\bFROM itens\b(?!.*\b(?:produtos|itens|frete)\b)", re.DOTALL)


def whom_it_counts(gold: str, question: str) -> str | None:
    """The different people where the gold query counts their ratings and the question asks for people («quantos
    clientes deram nota 5»)."""
    found = _RATED.match(gold) if re.search(r"\bquantos clientes\b", question) else None
    return f"SELECT COUNT(DISTINCT cliente_id) {found[1]}" if found else None


def paid_for(gold: str, question: str) -> str | None:
    """What was paid where the gold query sums prices of items and the question asks for a revenue, which may be
    either; not for that of the items."""
    asked = re.search(r"\b(?:receita|fatura\w+)\b(?! d[aeo]s? (?:item|itens|produto))", question)
    if not asked or "SUM(preco)" not in gold or not _SOLD.search(gold):
        return None
    return _SOLD.sub("FROM pagamentos", gold).replace("SUM(preco)", "SUM(valor)")


_ASKS_WHICH = re.compile(
    r"\b(?:quais|que|qual|liste|mostre|traga|levante)(?: (?:foram|sao))?(?: [oa]s?)?(?: \d+)?(?: melhores)?"
    r" (?:estado|mes|categoria|tipo|produto)"
)
_ASKS_MEASURE = re.compile(r"\bquant[oa]s?\b|\bcom (?:[oa]s? )?(?:respectiv|seus?\b|suas?\b|total|valor)")


@lru_cache(maxsize=4096)
def names_alone(gold: str, question: str) -> str | None:
    """The names without what they are sorted by, where the question asks which ones these are and no more; None for
    other questions and queries."""
    if not _ASKS_WHICH.search(question) or _ASKS_MEASURE.search(question):
        return None
    try:
        tree = sqlglot.parse_one(gold, dialect="sqlite")
    except (SqlglotError, ValueError, RecursionError):
        return None
    order = tree.args.get("order")
    if order is None or not tree.args.get("group") or len(tree.selects) != 2 or tree.selects[0].find(exp.AggFunc):
        return None
    name, measure = tree.selects
    for key in order.expressions:
        if key.this.name == measure.alias:
            key.set("this", measure.unalias().copy())
    tree.set("expressions", [name])
    return tree.sql("sqlite")


@lru_cache(maxsize=4096)
def beside_its_key(query: str) -> str:
    """A query of names with what it sorts them by as a second column; as it is where it sorts by nothing."""
    try:
        tree = sqlglot.parse_one(query, dialect="sqlite")
    except (SqlglotError, ValueError, RecursionError):
        return query
    order = tree.args.get("order")
    if order is None or len(tree.selects) != 1:
        return query
    return tree.select(order.expressions[0].this.copy()).sql("sqlite")


def _shared(query: str, gold: str) -> float:
    """Share of tables, columns and constants that two queries have in common, of all that either has."""
    ours, theirs = _parts(query), _parts(gold)
    return len(ours & theirs) / len(ours | theirs) if theirs else 0.0


@lru_cache(maxsize=4096)
def _parts(query: str) -> frozenset[str]:
    try:
        tree = sqlglot.parse_one(query, dialect="sqlite")
    except (SqlglotError, ValueError, RecursionError):
        return frozenset()
    kinds = (exp.Table, exp.Column, exp.Literal, exp.AggFunc)
    return frozenset(
        f"{type(node).__name__}:{'' if isinstance(node, exp.AggFunc) else node.name.lower()}"
        for kind in kinds
        for node in tree.find_all(kind)
    )
