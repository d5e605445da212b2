"""How often the two judges of SQL answers are wrong: right queries judged wrong, wrong ones judged right.

    python -m benchmarks.sql_judgement [--spider FOLDER] [--write docs/rewards.md]

Half of the pairs are about the generator's own questions, half about those of Spider's development set in Portuguese
(a folder with dev.jsonl and tables.json; left out, with a line that says so, where there is none). Spider's databases
are made here from its schemas.

Equivalents are rewritten so that they give the same on every database that keeps its keys. Mutants change what is
asked. No judge decides which is which: a mutant is left out only where `is_same` proves by a written rule, from the
query and the schema alone, that no database can tell it from the gold query. Everything else counts, also what no
store at hand tells apart.
"""

import argparse
import json
import re
import sqlite3
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

import sqlglot
from sqlglot import exp

from data.generator.questions import AMOUNTS, ask
from data.generator.store import Store, generated_tables, write_store
from data.generator.suite import further_tables
from data.sources.synthetic import SyntheticSource
from rewards.parsing.sql import answers_gold, is_ordered, run_query
from rewards.parsing.sql_results import Rounding, arrangements, fits_arranged, in_order, unordered
from tucano.files.prompts import STORE
from tucano.truth.sql import right_answer

PAIRS = 1000
"""Of equivalents, and as many of mutants."""
CANDIDATES = 300
MOST_STORES = 24
SEED = 20261122
BOUNDARY = ("operator", "number one off", "limit one off")
BEGIN, END = "<!-- sql judgement -->", "<!-- end of sql judgement -->"


@dataclass(frozen=True)
class Schema:
    """What is known of a database without its rows: keys, types, and which values its columns take."""

    keys: Mapping[str, str]
    """{table: primary key}"""
    columns: Mapping[str, tuple[str, ...]]
    """{table: columns}"""
    parents: frozenset[tuple[str, str]]
    """(child, parent): every row of the child has its row of the parent."""
    values: Mapping[str, Sequence[str]]
    """{text column: values that occur}"""
    integers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Question:
    sql: str
    folder: Path
    schema: Schema = field(repr=False)

    @property
    def reference(self) -> dict[str, str]:
        return {"sql": self.sql, "database": STORE}


@dataclass(frozen=True)
class Pair:
    question: Question
    kind: str
    answer: str


# Judges


def as_before(question: Question, answer: str) -> bool:
    """How it was: the first store alone; the same columns, roundings and order of ties."""
    gold, ours = (run_query(question.folder / STORE, sql) for sql in (question.sql, answer))
    if gold is None or ours is None:
        return False
    expected = in_order(gold.rows) if is_ordered(question.sql) else unordered(gold.rows)

    def same(_place: int, _ours: int) -> Rounding:
        return Rounding()

    orders = arrangements(expected, ours.rows, same, fixed=True)
    return any(fits_arranged(expected, ours.rows, same, order) for order in orders)


JUDGES: dict[str, Callable[[Question, str], bool]] = {
    "before": as_before,
    "reward": lambda question, answer: answers_gold(question.reference, answer, question.folder).equal,
    "truth": lambda question, answer: right_answer(question.reference, f"```sql\n{answer}\n```", question.folder),
}


# Trees


def tree_of(sql: str) -> exp.Query:
    tree = sqlglot.parse_one(sql.rstrip("; "), dialect="sqlite")
    assert isinstance(tree, exp.Query), sql
    return tree


def changed(tree: exp.Query, kind: type, place: int, make: Callable[[exp.Expression], exp.Expression]) -> str:
    """The query with its `place`-th node of a kind replaced."""
    copy = tree.copy()
    node = list(copy.find_all(kind))[place]
    node.replace(make(node.copy()))
    return str(copy.sql("sqlite"))


def tables_of(tree: exp.Query) -> dict[str, str]:
    """{alias or name: table} of all scopes, in lower case."""
    return {table.alias_or_name.lower(): table.name.lower() for table in tree.find_all(exp.Table)}


def table_of(column: exp.Column, tree: exp.Query, schema: Schema) -> str | None:
    tables = tables_of(tree)
    if column.table:
        return tables.get(column.table.lower())
    return next((table for table in tables.values() if column.name.lower() in schema.columns.get(table, ())), None)


def is_plain(tree: exp.Query) -> bool:
    """One SELECT whose joins are all inner ones."""
    return isinstance(tree, exp.Select) and all(not join.side for join in tree.args.get("joins") or ())


def is_determined(tree: exp.Query, schema: Schema) -> bool:
    """Whether the gold query has one meaning: no LIMIT without an order, and no column beside GROUP BY that it does not
    fix.
    """
    for select in tree.find_all(exp.Select):
        if select.args.get("limit") and not select.args.get("order"):
            return False
        group = select.args.get("group")
        grouped = {key.name.lower() for key in group.expressions} if group else set()
        fixed = {
            table_of(key, tree, schema)
            for key in (group.expressions if group else ())
            if isinstance(key, exp.Column) and key.name.lower() == schema.keys.get(table_of(key, tree, schema) or "")
        }
        totals = any(column.find(exp.AggFunc) for column in select.selects)
        for column in select.selects if group or totals else ():
            bare = column.unalias()
            if not column.find(exp.AggFunc) and not (
                isinstance(bare, exp.Column) and (bare.name.lower() in grouped or table_of(bare, tree, schema) in fixed)
            ):
                return False
    return True


# Equivalents


def equivalents(sql: str, schema: Schema, kinds: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(kind, query that gives the same on every database of the schema)"""
    tree = tree_of(sql)
    for kind in kinds:
        if (found := REWRITES[kind](tree.copy(), schema)) is not None and found != tree.sql("sqlite"):
            yield kind, found


def _renamed(tree: exp.Query, schema: Schema) -> str | None:
    named = {table.alias.lower() for table in tree.find_all(exp.Table) if table.alias}
    aliases = {alias: f"tabela_{place}" for place, alias in enumerate(sorted(named))}
    for table in tree.find_all(exp.Table):
        if table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(aliases[table.alias.lower()])))
    for column in tree.find_all(exp.Column):
        if column.table.lower() in aliases:
            column.set("table", exp.to_identifier(aliases[column.table.lower()]))
    if isinstance(tree, exp.Select) and not aliases and not tree.args.get("joins"):
        tree.find(exp.Table).set("alias", exp.TableAlias(this=exp.to_identifier("tabela")))
    return str(tree.sql("sqlite"))


def _other_join_order(tree: exp.Query, schema: Schema) -> str | None:
    joins = tree.args.get("joins")
    if not is_plain(tree) or not joins or not (joins[0].args.get("on") or joins[0].args.get("using")):
        return None
    if tree.is_star:
        return None
    source = tree.args["from_"]
    first, second = source.this.copy(), joins[0].this.copy()
    source.set("this", second)
    joins[0].set("this", first)
    return str(tree.sql("sqlite"))


def _equality(make: Callable[[exp.EQ], exp.Expression]) -> Callable[[exp.Query, Schema], str | None]:
    def rewrite(tree: exp.Query, schema: Schema) -> str | None:
        for place, node in enumerate(tree.find_all(exp.EQ)):
            if isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Literal):
                return changed(tree, exp.EQ, place, make)
        return None

    return rewrite


def _in_for_or(tree: exp.Query, schema: Schema) -> str | None:
    for place, node in enumerate(tree.find_all(exp.Or)):
        sides = (node.this, node.expression)
        if all(isinstance(side, exp.EQ) and isinstance(side.expression, exp.Literal) for side in sides) and (
            sides[0].this == sides[1].this
        ):
            return changed(
                tree,
                exp.Or,
                place,
                lambda either: exp.In(
                    this=either.this.this, expressions=[either.this.expression, either.expression.expression]
                ),
            )
    return None


def _between(tree: exp.Query, schema: Schema) -> str | None:
    for place, _ in enumerate(tree.find_all(exp.Between)):
        return changed(
            tree,
            exp.Between,
            place,
            lambda both: exp.Paren(
                this=exp.and_(
                    exp.GTE(this=both.this.copy(), expression=both.args["low"]),
                    exp.LTE(this=both.this.copy(), expression=both.args["high"]),
                )
            ),
        )
    return None


def _derived(tree: exp.Query, schema: Schema) -> str | None:
    names = [column.alias_or_name for column in tree.selects]
    if tree.args.get("order") or tree.args.get("limit") or len(set(names)) < len(names):
        return None
    return f"SELECT * FROM ({tree.sql('sqlite')}) AS resultado"


def _with(tree: exp.Query, schema: Schema) -> str | None:
    inner = _derived(tree, schema)
    return inner and f"WITH resultado AS ({tree.sql('sqlite')}) SELECT * FROM resultado"


def _keyed_join(tree: exp.Query, schema: Schema) -> str | None:
    """IN (SELECT key …) for a join with a parent of which only columns in WHERE are used."""
    joins = tree.args.get("joins") or []
    where = tree.args.get("where")
    if not is_plain(tree) or not joins or where is None or not joins[-1].args.get("using"):
        return None
    parent, key = joins[-1].this.name.lower(), joins[-1].args["using"][0].name
    if schema.keys.get(parent) != key.lower():
        return None
    parts = list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
    moved = [part for part in parts if part.find(exp.Column).name.lower() in schema.columns[parent]]
    used = [column for column in tree.find_all(exp.Column) if column.name.lower() in schema.columns[parent]]
    if len(moved) != len(used) or not moved:
        return None
    kept = [part for part in parts if part not in moved]
    inner = f"SELECT {key} FROM {parent} WHERE {' AND '.join(part.sql('sqlite') for part in moved)}"
    tree.set("joins", joins[:-1])
    tree.set("where", None)
    tree = tree.where(" AND ".join([*(part.sql("sqlite") for part in kept), f"{key} IN ({inner})"]), dialect="sqlite")
    return str(tree.sql("sqlite"))


def _count_one(tree: exp.Query, schema: Schema) -> str | None:
    for place, node in enumerate(tree.find_all(exp.Count)):
        if isinstance(node.this, exp.Star):
            return changed(tree, exp.Count, place, lambda _: exp.Count(this=exp.Literal.number(1)))
    return None


def _count_key(tree: exp.Query, schema: Schema) -> str | None:
    tables = list(tree.find_all(exp.Table))
    key = schema.keys.get(tables[0].name.lower())
    if key is None or not is_plain(tree) or len(set(tables_of(tree).values())) < len(tables):
        return None
    name = f"{tables[0].alias}.{key}" if tables[0].alias else key
    if len(tables) > 1 and not tables[0].alias and sum(key in schema.columns[t.name.lower()] for t in tables) > 1:
        return None
    for place, node in enumerate(tree.find_all(exp.Count)):
        if isinstance(node.this, exp.Star) and node.find_ancestor(exp.Select) is tree:
            return changed(tree, exp.Count, place, lambda _: exp.Count(this=exp.maybe_parse(name)))
    return None


def _rounding(places: int | None) -> Callable[[exp.Query, Schema], str | None]:
    def rewrite(tree: exp.Query, schema: Schema) -> str | None:
        for place, node in enumerate(tree.find_all(exp.Round)):
            if isinstance(node.parent, exp.Select | exp.Alias):
                return changed(
                    tree,
                    exp.Round,
                    place,
                    lambda old: (
                        old.this if places is None else exp.Round(this=old.this, decimals=exp.Literal.number(places))
                    ),
                )
        for place, node in enumerate(tree.find_all(exp.Avg)):
            if isinstance(node.parent, exp.Select) and node.parent is tree and places is not None:
                return changed(
                    tree, exp.Avg, place, lambda old: exp.Round(this=old, decimals=exp.Literal.number(places))
                )
        return None

    return rewrite


def _tie_breaker(tree: exp.Query, schema: Schema) -> str | None:
    order = tree.args.get("order")
    if order is None or tree.is_star:
        return None
    order.append("expressions", exp.Ordered(this=exp.Literal.number(1), desc=False))
    return str(tree.sql("sqlite"))


def _columns_reversed(tree: exp.Query, schema: Schema) -> str | None:
    if not isinstance(tree, exp.Select) or len(tree.selects) < 2 or tree.is_star:
        return None
    tree.set("expressions", tree.expressions[::-1])
    return str(tree.sql("sqlite"))


def _named(tree: exp.Query, schema: Schema) -> str | None:
    if not isinstance(tree, exp.Select) or tree.is_star or any(column.alias for column in tree.selects):
        return None
    named = [exp.alias_(column.copy(), f"coluna_{place}") for place, column in enumerate(tree.selects)]
    tree.set("expressions", named)
    return str(tree.sql("sqlite"))


def _parts_turned(tree: exp.Query, schema: Schema) -> str | None:
    for place, node in enumerate(tree.find_all(exp.And)):
        if not isinstance(node.parent, exp.And) and not isinstance(node.this, exp.And):
            return changed(tree, exp.And, place, lambda both: exp.And(this=both.expression, expression=both.this))
    return None


TURNED = {exp.GT: exp.LT, exp.GTE: exp.LTE, exp.LT: exp.GT, exp.LTE: exp.GTE}
OPPOSITE = {exp.GT: exp.LTE, exp.GTE: exp.LT, exp.LT: exp.GTE, exp.LTE: exp.GT}
EDGE = {exp.GT: exp.GTE, exp.GTE: exp.GT, exp.LT: exp.LTE, exp.LTE: exp.LT}


def _comparison(make: Callable[[exp.Expression], exp.Expression]) -> Callable[[exp.Query, Schema], str | None]:
    def rewrite(tree: exp.Query, schema: Schema) -> str | None:
        for kind in EDGE:
            for place, _ in enumerate(tree.find_all(kind)):
                return changed(tree, kind, place, make)
        return None

    return rewrite


def _next_integer(tree: exp.Query, schema: Schema) -> str | None:
    for place, node in enumerate(tree.find_all(exp.GT)):
        if node.this.name in schema.integers and isinstance(node.expression, exp.Literal):
            return changed(
                tree,
                exp.GT,
                place,
                lambda old: exp.GTE(this=old.this, expression=exp.Literal.number(int(old.expression.this) + 1)),
            )
    return None


def _month_by_date(tree: exp.Query, schema: Schema) -> str | None:
    sql = str(tree.sql("sqlite"))
    found = re.sub(r"\bmes = ('\d{4}-\d\d')", r"STRFTIME('%Y-%m', mes || '-01') = \1", sql)
    return found if "pedidos" in schema.keys else None


REWRITES: dict[str, Callable[[exp.Query, Schema], str | None]] = {
    "aliases of tables": _renamed,
    "aliases of columns": _named,
    "join order": _other_join_order,
    "IN for =": _equality(lambda old: exp.In(this=old.this, expressions=[old.expression])),
    "BETWEEN for =": _equality(lambda old: exp.Between(this=old.this, low=old.expression, high=old.expression.copy())),
    "IN for OR": _in_for_or,
    "two comparisons for BETWEEN": _between,
    "derived table": _derived,
    "WITH": _with,
    "IN (SELECT) for a join": _keyed_join,
    "COUNT(1)": _count_one,
    "COUNT(key)": _count_key,
    "no ROUND": _rounding(None),
    "ROUND to 4": _rounding(4),
    "tie-breaker": _tie_breaker,
    "column order": _columns_reversed,
    "conditions turned": _parts_turned,
    "comparison turned": _comparison(lambda old: TURNED[type(old)](this=old.expression, expression=old.this)),
    "NOT the opposite": _comparison(
        lambda old: exp.Not(this=exp.Paren(this=OPPOSITE[type(old)](this=old.this, expression=old.expression)))
    ),
    ">= the next integer": _next_integer,
    "month by a date function": _month_by_date,
}


# Mutants


def mutants(sql: str, schema: Schema, rng: Random) -> Iterator[tuple[str, str]]:
    """(kind, query that asks something else)"""
    tree = tree_of(sql)
    for kind in EDGE:
        for place, node in enumerate(tree.find_all(kind)):
            if isinstance(node.expression, exp.Literal):
                yield "operator", changed(tree, kind, place, lambda old: EDGE[type(old)](**old.args))
    for place, node in enumerate(tree.find_all(exp.Literal)):
        if isinstance(node.parent, (*EDGE, exp.Between)) and not node.is_string:
            shift = rng.choice((-1, 1))
            yield "number one off", changed(tree, exp.Literal, place, lambda old, by=shift: _moved(old, by))  # type: ignore[misc]
        if isinstance(node.parent, exp.EQ | exp.NEQ | exp.In) and isinstance(node.parent.this, exp.Column):
            others = [value for value in schema.values.get(node.parent.this.name.lower(), ()) if value != node.this]
            if others and node.is_string:
                other = rng.choice(others)
                yield "another value", changed(tree, exp.Literal, place, lambda _, to=other: exp.Literal.string(to))  # type: ignore[misc]
    if (limit := tree.args.get("limit")) is not None:
        copy = tree.copy()
        count = int(limit.expression.this)
        copy.set("limit", exp.Limit(expression=exp.Literal.number(count + (1 if count < 2 else rng.choice((-1, 1))))))
        yield "limit one off", str(copy.sql("sqlite"))
    for place, _ in enumerate(tree.find_all(exp.And)):
        side = rng.choice(("this", "expression"))
        yield "condition dropped", changed(tree, exp.And, place, lambda both, kept=side: both.args[kept])  # type: ignore[misc]
    for place, where in enumerate(tree.find_all(exp.Where)):
        if not isinstance(where.this, exp.And):
            copy = tree.copy()
            list(copy.find_all(exp.Where))[place].pop()
            yield "condition dropped", str(copy.sql("sqlite"))
    for old, new in AGGREGATES:
        for place, _ in enumerate(tree.find_all(old)):
            yield "another aggregate", changed(tree, old, place, lambda call, other=new: other(this=call.this))  # type: ignore[misc]
    for place, join in enumerate(tree.find_all(exp.Join)):
        if not join.side and (join.args.get("on") or join.args.get("using")):
            copy = tree.copy()
            list(copy.find_all(exp.Join))[place].set("side", "LEFT")
            yield "LEFT JOIN", str(copy.sql("sqlite"))
    if (order := tree.args.get("order")) is not None:
        copy = tree.copy()
        first = copy.args["order"].expressions[0]
        first.set("desc", not order.expressions[0].args.get("desc"))
        first.set("nulls_first", not first.args["desc"])
        yield "another order", str(copy.sql("sqlite"))
    if isinstance(tree, exp.Select) and tree.args.get("distinct"):
        copy = tree.copy()
        copy.set("distinct", None)
        yield "DISTINCT dropped", str(copy.sql("sqlite"))


AGGREGATES = ((exp.Sum, exp.Avg), (exp.Avg, exp.Max), (exp.Min, exp.Max), (exp.Max, exp.Min))


def _moved(literal: exp.Expression, by: int) -> exp.Expression:
    value = float(literal.this) + by
    return exp.Literal.number(int(value) if value.is_integer() else value)


def is_same(kind: str, gold: str, mutant: str, schema: Schema) -> str | None:
    """Why no database of the schema can tell the mutant from the gold query; None where nothing proves that."""
    tree, other = tree_of(gold), tree_of(mutant)
    if kind == "LEFT JOIN":
        (join,) = [join for join in other.find_all(exp.Join) if join.side == "LEFT"]
        return _needless_left(join, other, schema)
    if kind in BOUNDARY:
        return _needless_boundary(tree, other)
    if kind == "another aggregate":
        group = tree.args.get("group")
        for key in group.expressions if group and not tree.args.get("joins") else ():
            if isinstance(key, exp.Column) and key.name.lower() in schema.keys.values():
                return "each group has one row"
    if kind == "another order":
        group = tree.args.get("group")
        if group is None and any(column.find(exp.AggFunc) for column in tree.selects):
            return "there is one row"
    if kind == "DISTINCT dropped":
        tables = list(tree.find_all(exp.Table))
        if len(tables) == 1 and any(c.name.lower() == schema.keys.get(tables[0].name.lower()) for c in tree.selects):
            return "the key makes rows different"
    return None


def _needless_left(join: exp.Join, tree: exp.Query, schema: Schema) -> str | None:
    select = join.find_ancestor(exp.Select)
    name, table = join.this.alias_or_name.lower(), join.this.name.lower()
    before = [t.name.lower() for t in select.find_all(exp.Table) if t is not join.this]
    if any((child, table) in schema.parents for child in before):
        return "every row has its parent"

    def reads(node: exp.Expression | None) -> bool:
        columns = node.find_all(exp.Column) if node is not None else ()
        return any(
            column.table.lower() == name if column.table else column.name.lower() in schema.columns.get(table, ())
            for column in columns
        )

    def drops(node: exp.Expression | None) -> bool:
        """Whether a condition is never true of a row without a partner."""
        if isinstance(node, exp.And | exp.Or):
            sides = (drops(node.this), drops(node.expression))
            return any(sides) if isinstance(node, exp.And) else all(sides)
        if isinstance(node, exp.Where | exp.Paren):
            return drops(node.this)
        return isinstance(node, (exp.EQ, exp.NEQ, exp.Like, exp.Between, *EDGE)) and reads(node)

    if drops(select.args.get("where")):
        return "WHERE drops rows without a partner"
    later = select.args["joins"][select.args["joins"].index(join) + 1 :]
    if any(reads(following.args.get("on")) for following in later):
        return "a later join drops rows without a partner"
    group = select.args.get("group")
    totals = [call for column in select.selects for call in column.find_all(exp.AggFunc)]
    having = select.args.get("having")
    if having is not None and reads(having) and not totals and not having.find(exp.Count, exp.Or):
        return "HAVING drops groups without a partner"
    if group is not None and having is not None and isinstance(having.this, exp.GT | exp.GTE | exp.EQ):
        least = float(having.this.expression.this) if isinstance(having.this.expression, exp.Literal) else 0
        if isinstance(having.this.this, exp.Count) and least >= (1 if isinstance(having.this, exp.GT) else 2):
            keyed = {(key.name.lower(), table_of(key, tree, schema)) for key in group.find_all(exp.Column)}
            if any(schema.keys.get(owner or "") == key for key, owner in keyed):
                return "HAVING drops the single row without a partner"
    if group is None and totals and all(reads(call) and not isinstance(call.this, exp.Star) for call in totals):
        return "aggregates pass over rows without a partner"
    return None


def _needless_boundary(tree: exp.Query, other: exp.Query) -> str | None:
    is_total = tree.args.get("group") is None and any(column.find(exp.AggFunc) for column in tree.selects)
    if is_total and tree.args.get("limit") != other.args.get("limit"):
        return "there is one row"
    ranges = [list(query.find_all(exp.Between)) for query in (tree, other)]
    for old, new in zip(*ranges, strict=True):
        lows = [float(node.args["low"].name) for node in (old, new) if isinstance(node.this, exp.Count)]
        if old != new and old.args["high"] == new.args["high"] and lows and max(lows) <= 1:
            return "a group has at least one row"
    comparisons = (list(query.find_all(*EDGE)) for query in (tree, other))
    for old, new in zip(*comparisons, strict=True):
        if old != new and _is_always(old) is not None and _is_always(old) == _is_always(new):
            return "a group has at least one row"
    return None


def _is_always(node: exp.Expression) -> bool | None:
    """Whether a condition on the rows of a group is true of all groups, or of none; None where that depends."""
    if not (
        isinstance(node.this, exp.Count) and isinstance(node.expression, exp.Literal) and node.find_ancestor(exp.Having)
    ):
        return None
    least = 1 if isinstance(node, exp.GTE | exp.LT) else 0
    return isinstance(node, exp.GT | exp.GTE) if float(node.expression.this) <= least else None


# The generator's own questions

OWN_KEYS = {"clientes": "cliente_id", "produtos": "produto_id", "pedidos": "pedido_id"}
OWN_COLUMNS = {
    "clientes": ("cliente_id", "estado"),
    "produtos": ("produto_id", "categoria"),
    "pedidos": ("pedido_id", "cliente_id", "mes", "status", "dias_atraso"),
    "itens": ("pedido_id", "produto_id", "preco", "frete"),
    "pagamentos": ("pedido_id", "tipo", "parcelas", "valor"),
    "avaliacoes": ("pedido_id", "nota"),
}
OWN_PARENTS = frozenset(
    {
        ("pedidos", "clientes"),
        ("itens", "pedidos"),
        ("itens", "produtos"),
        ("pagamentos", "pedidos"),
        ("avaliacoes", "pedidos"),
    }
)


def own_schema(store: Store) -> Schema:
    status = [row[0] for row in store.rows("SELECT DISTINCT status FROM pedidos")]
    values = {
        "estado": store.states,
        "categoria": store.categories,
        "mes": store.months,
        "tipo": store.payments,
        "status": status,
    }
    return Schema(OWN_KEYS, OWN_COLUMNS, OWN_PARENTS, values, frozenset({"dias_atraso", "parcelas", "nota"}))


def own_questions(folder: Path, count: int, seed: int) -> list[Question]:
    """Different gold queries of all splits."""
    with closing(SyntheticSource(folder, seed)) as source:
        rng, schema = Random(f"{seed}/own"), own_schema(source.store)
        asked: dict[str, Question] = {}
        while len(asked) < count:
            for pool in ("known", "validation", "test"):
                sql = ask(pool, source.store, rng).sql
                asked[sql] = Question(sql, folder, schema)
    return list(asked.values())[:count]


# Spider


def spider_questions(spider: Path, folder: Path, rng: Random) -> list[Question]:
    """Spider's gold queries that have one meaning, over stores made from its schemas."""
    schemas = {schema["db_id"]: schema for schema in json.loads((spider / "tables.json").read_text(encoding="utf-8"))}
    lines = (spider / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    golds: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        row = json.loads(line)
        sql = re.sub(r'"([^"]*)"', lambda found: "'" + found[1].replace("'", "''") + "'", row["query"]).rstrip("; ")
        if sql not in golds[row["db_id"]]:
            golds[row["db_id"]].append(sql)
    questions = []
    for name, queries in sorted(golds.items()):
        place = folder / name
        place.mkdir(parents=True)
        schema = Maker(schemas[name], queries, rng).write(place)
        for sql in queries:
            if run_query(place / STORE, sql) is not None and is_determined(tree_of(sql), schema):
                questions.append(Question(sql, place, schema))
    return questions


def _told_apart(store: sqlite3.Connection, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """The pairs of a gold query and a mutant that give other rows."""

    @cache
    def result(sql: str) -> list[str] | None:
        try:
            return sorted(map(repr, store.execute(sql).fetchmany(2000)))
        except sqlite3.Error:
            return None

    return {pair for pair in pairs if (ours := result(pair[1])) is not None and ours != result(pair[0])}


class Maker:
    """Databases of one schema; rows hold what the gold queries ask for together, and its neighbours."""

    WORDS = ("Ana", "Bruno", "Clara", "Davi", "Elisa", "Fabio", "Gil", "Helena", "Iris", "Joana")

    def __init__(self, schema: dict, queries: Sequence[str], rng: Random) -> None:
        self._rng = rng
        self._tables = [name.lower() for name in schema["table_names_original"]]
        self._columns: dict[str, dict[str, str]] = {
            table: {} for table in self._tables if not table.startswith("sqlite_")
        }
        places: list[tuple[str, str]] = []
        for (table, column), kind in zip(schema["column_names_original"], schema["column_types"], strict=True):
            places.append((self._tables[table], column.lower()) if table >= 0 else ("", ""))
            if table >= 0 and self._tables[table] in self._columns:
                self._columns[self._tables[table]][column.lower()] = kind
        self._keys = {places[key][0]: places[key][1] for key in schema["primary_keys"]}
        self._foreign = {places[child]: places[parent] for child, parent in schema["foreign_keys"]}
        self._queries = queries
        self._wanted: list[dict[str, str | float]] = []
        self._words: list[str] = []

    def _compared(self, query: str) -> Iterator[dict[str, str | float]]:
        """What one SELECT compares columns with: {column: value}."""
        for select in tree_of(query).find_all(exp.Select):
            profile: dict[str, str | float] = {}
            for node in select.find_all(exp.EQ, exp.NEQ, exp.Like, exp.Between, *EDGE):
                edges = (node.args.get("low"), node.args.get("high"))
                value = self._rng.choice(edges) if isinstance(node, exp.Between) else node.expression
                column = node.this.this if isinstance(node.this, exp.AggFunc) else node.this
                if isinstance(column, exp.Column) and isinstance(value, exp.Literal):
                    text = str(value.this).replace("%", "x" if self._rng.random() < 0.5 else "")
                    if column.name.lower() not in profile or self._rng.random() < 0.5:
                        profile[column.name.lower()] = text if value.is_string else float(value.this)
            if profile:
                yield profile

    def write(self, folder: Path) -> Schema:
        """As many of `CANDIDATES` databases as tell a mutant from its gold query that none before told, at most
        `MOST_STORES`; the mutants are of the kinds that are judged later, drawn anew where chance has a part.
        """
        rng, schema = Random(f"{SEED}/distil"), self._schema(self._rows() for _ in range(3))
        left = [(sql, mutant) for sql in self._queries for _, mutant in mutants(sql, schema, rng)]
        kept = 0
        for _ in range(CANDIDATES):
            with closing(self._stored(self._rows())) as store:
                told = _told_apart(store, left)
                if told and kept < MOST_STORES:
                    with closing(sqlite3.connect(folder / (f"store-{kept}.sqlite" if kept else STORE))) as file:
                        store.backup(file)
                    left = [pair for pair in left if pair not in told]
                    kept += 1
        return schema

    def _stored(self, rows: Mapping[str, list[dict[str, str | float | int]]]) -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:")
        for table, columns in self._columns.items():
            kinds = ", ".join(f'"{c}" {"NUMERIC" if k == "number" else "TEXT"}' for c, k in columns.items())
            connection.execute(f'CREATE TABLE "{table}" ({kinds})')
            cells = [tuple(row[column] for column in columns) for row in rows[table]]
            connection.executemany(f'INSERT INTO "{table}" VALUES ({",".join("?" * len(columns))})', cells)
        connection.commit()
        return connection

    def _schema(self, made: Iterable[Mapping[str, list[dict[str, str | float | int]]]]) -> Schema:
        values: dict[str, set[str]] = defaultdict(set)
        for rows in made:
            for table, columns in self._columns.items():
                for column in (column for column, kind in columns.items() if kind != "number"):
                    values[column] |= {str(row[column]) for row in rows[table]}
        return Schema(
            self._keys,
            {table: tuple(columns) for table, columns in self._columns.items()},
            frozenset((child, parent) for (child, _), (parent, _) in self._foreign.items() if child != parent),
            {column: sorted(found) for column, found in values.items()},
        )

    def _rows(self) -> dict[str, list[dict[str, str | float | int]]]:
        """Rows of every table, with what a few of the queries ask for; then the foreign keys, until those that point at
        foreign keys are right too.
        """
        rng = self._rng
        focus = rng.sample(self._queries, min(len(self._queries), rng.choice((1, 2, 4, 100))))
        self._wanted = [profile for query in focus for profile in self._compared(query)]
        self._words = rng.sample(self.WORDS, rng.randint(2, 6))
        sizes = {table: rng.choice((0, 3, 10, 25, 25, 40, 40)) for table in self._columns}
        sizes |= {parent: max(8, sizes[parent]) for parent, _ in self._foreign.values()}
        made = {table: [self._row(table, place) for place in range(size)] for table, size in sizes.items()}
        for table, key in self._keys.items():
            names = {key, *(column for (_, column), parent in self._foreign.items() if parent == (table, key))}
            asked = [profile[name] for profile in self._wanted for name in names if name in profile]
            keys = dict.fromkeys([*asked, *(row[key] for row in made.get(table, ()))])
            for row, value in zip(made.get(table, ()), keys, strict=False):
                row[key] = value
        for _ in range(3):
            for (child, column), (parent, key) in self._foreign.items():
                pool = [row[key] for row in made[parent]]
                if self._keys.get(child) == column:
                    chosen = list(dict.fromkeys(rng.sample(pool, len(pool))))
                    made[child] = made[child][: len(chosen)]
                else:
                    front = pool[: rng.choice((3, 6, 100))]
                    favourites = rng.sample(front, rng.randint(1, max(1, len(front) // 2)))
                    chosen = [
                        rng.choice(favourites if rng.random() < 0.6 else pool[: len(pool) - 3]) for _ in made[child]
                    ]
                for row, value in zip(made[child], chosen, strict=False):
                    row[column] = value
        return made

    def _row(self, table: str, place: int) -> dict[str, str | float | int]:
        rng = self._rng
        profile = rng.choice(self._wanted) if self._wanted and rng.random() < 0.8 else {}
        row: dict[str, str | float | int] = {}
        for column, kind in self._columns[table].items():
            if column == self._keys.get(table):
                row[column] = place + 1 if kind == "number" else f"{column[:3]}{place + 1}"
            elif column in profile and rng.random() < 0.85:
                value = profile[column]
                shift = rng.choice((0, 0, 1, -1))
                row[column] = value if isinstance(value, str) else int(value) + shift
            else:
                row[column] = self._value(column, kind)
        return row

    def _value(self, column: str, kind: str) -> str | int:
        rng = self._rng
        known = [profile[column] for profile in self._wanted if column in profile]
        if kind == "number":
            base = [int(value) for value in known if isinstance(value, float)]
            return rng.choice(base) + rng.randint(-3, 3) if base and rng.random() < 0.5 else rng.randint(1, 60)
        if kind == "time":
            return f"20{rng.randint(10, 12)}-0{rng.randint(1, 3)}-11"
        words = [str(value) for value in known if isinstance(value, str)]
        return rng.choice(words) if words and rng.random() < 0.5 else rng.choice(self._words)


# Pairs


def equivalent_pairs(questions: Sequence[Question], count: int, rng: Random) -> list[Pair]:
    """As many as wanted, of every kind in turn; half of them rewritten twice."""
    found: dict[str, list[Pair]] = defaultdict(list)
    for question in questions:
        for kind, once in equivalents(question.sql, question.schema, REWRITES):
            found[kind].append(Pair(question, kind, once))
            others = rng.sample([other for other in REWRITES if other != kind], len(REWRITES) - 1)
            for _, twice in islice(equivalents(once, question.schema, others), 1):
                found[kind].append(Pair(question, kind, twice))
    return _in_turn(found, count, rng)


def mutated_pairs(questions: Sequence[Question], count: int, rng: Random) -> tuple[list[Pair], Counter[str]]:
    """As many as wanted, of every kind in turn; and how many were left out, by the reason that proves them the same."""
    found: dict[str, list[Pair]] = defaultdict(list)
    same: Counter[str] = Counter()
    for question in questions:
        for kind, mutant in mutants(question.sql, question.schema, rng):
            if reason := is_same(kind, question.sql, mutant, question.schema):
                same[reason] += 1
            elif run_query(question.folder / STORE, mutant) is not None:
                found[kind].append(Pair(question, kind, mutant))
    return _in_turn(found, count, rng), same


def _in_turn(found: Mapping[str, list[Pair]], count: int, rng: Random) -> list[Pair]:
    piles = [rng.sample(pairs, len(pairs)) for _, pairs in sorted(found.items())]
    chosen: list[Pair] = []
    while len(chosen) < count and any(piles):
        chosen += [pile.pop() for pile in piles if pile][: count - len(chosen)]
    return chosen


# Other values


def other_values(questions: Sequence[Question], folder: Path, rng: Random) -> tuple[dict[str, int], dict[str, int]]:
    """Of answers that a judge calls right: how many there are, and how many filter on another value than the gold query
    and do give something else on one of five further perturbed databases, which no judge has seen. Each gold query is
    answered by itself and by up to ten queries with one other value.
    """
    tables = generated_tables(Random(f"{SEED}/store"))
    unseen = []
    for number in range(5):
        unseen.append(folder / f"unseen-{number}.sqlite")
        write_store(unseen[-1], further_tables(tables, AMOUNTS, Random(f"{SEED}/unseen-{number}")))
    right, other = dict.fromkeys(JUDGES, 0), dict.fromkeys(JUDGES, 0)
    for question in questions:
        answers = {question.sql: False}
        for _ in range(10):
            answers |= {
                sql: True for kind, sql in mutants(question.sql, question.schema, rng) if kind == "another value"
            }
        for answer, is_other in answers.items():
            differs = is_other and any(run_query(store, answer) != run_query(store, question.sql) for store in unseen)
            for name, judge in JUDGES.items():
                verdict = judge(question, answer)
                right[name] += verdict
                other[name] += verdict and differs
    return right, other


# The report


def rate(name: str, pairs: Sequence[Pair], verdict: bool) -> tuple[int, Counter[str]]:
    """How many pairs a judge calls `verdict`, all and by kind."""
    said = Counter(pair.kind for pair in pairs if JUDGES[name](pair.question, pair.answer) == verdict)
    return sum(said.values()), said


def percent(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.1f} % ({part} of {whole})"


@dataclass(frozen=True)
class Measured:
    """Errors of each judge, per source of questions."""

    equivalent: list[Pair]
    mutated: list[Pair]
    same: Counter[str]
    gold: dict[str, int]
    questions: int

    def lines(self, source: str) -> list[str]:
        boundary = [pair for pair in self.mutated if pair.kind in BOUNDARY]
        made = []
        for name in JUDGES:
            wrong, right, edge = (
                rate(name, self.equivalent, False)[0],
                rate(name, self.mutated, True)[0],
                rate(name, boundary, True)[0],
            )
            made.append(
                f"| {source} | {name} | {percent(wrong, len(self.equivalent))} | {percent(right, len(self.mutated))} | "
                f"{percent(edge, len(boundary))} | {self.gold[name]} of {self.questions} |"
            )
        return made


def measure(questions: Sequence[Question], pairs: int, rng: Random) -> Measured:
    mutated, same = mutated_pairs(questions, pairs, rng)
    gold = {name: sum(judge(question, question.sql) for question in questions) for name, judge in JUDGES.items()}
    return Measured(equivalent_pairs(questions, pairs, rng), mutated, same, gold, len(questions))


HEADER = (
    "| questions | judge | right, judged wrong | wrong, judged right | boundary, judged right | gold is right |\n"
    "|---|---|---|---|---|---|"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spider", type=Path, default=Path("../shared/data/benchmarks/spider_pt"))
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--write", type=Path, help="the page that shows the figures")
    parser.add_argument("--show", action="store_true", help="print what the judges get wrong")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "own").mkdir()
        own = own_questions(folder / "own", 300, SEED)
        measured = {"own": measure(own, arguments.pairs // 2, Random(SEED))}
        if (arguments.spider / "dev.jsonl").is_file():
            asked = spider_questions(arguments.spider, folder / "spider", Random(SEED))
            measured["Spider"] = measure(asked, arguments.pairs // 2, Random(SEED))
        else:
            print(f"Spider is left out: there is no {arguments.spider / 'dev.jsonl'}")
        lines = [HEADER]
        for source, found in measured.items():
            lines += found.lines(source)
        right, other = other_values(own[:100], folder, Random(SEED))
        shares = "; ".join(f"{judge} {percent(other[judge], right[judge])}" for judge in JUDGES)
        lines += ["", f"Answers judged right that filter on other values than the gold query: {shares}."]
        same = sum((found.same for found in measured.values()), Counter())
        left_out = "; ".join(f"{reason} ({count})" for reason, count in same.most_common())
        lines += ["", f"Left out as the same on every database: {left_out or 'none'}."]
        print("\n".join(lines))
        if arguments.show:
            show(measured)
    if arguments.write:
        page = arguments.write.read_text(encoding="utf-8")
        head, _, rest = page.partition(BEGIN)
        _, _, tail = rest.partition(END)
        arguments.write.write_text("".join((head, BEGIN, "\n", "\n".join(lines), "\n", END, tail)), encoding="utf-8")
    return 0


def show(measured: Mapping[str, Measured]) -> None:
    for source, found in measured.items():
        for name in ("reward", "truth"):
            for pairs, verdict in ((found.equivalent, False), (found.mutated, True)):
                print(source, name, "right judged wrong" if not verdict else "wrong judged right")
                for pair in pairs:
                    if JUDGES[name](pair.question, pair.answer) == verdict:
                        print(
                            f"  [{pair.kind}] {pair.question.folder.name}\n    {pair.question.sql}\n    {pair.answer}"
                        )


if __name__ == "__main__":
    sys.exit(main())
