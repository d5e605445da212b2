"""Queries put otherwise: each gives the same on every database that keeps its keys."""

import re
from collections.abc import Callable, Iterable, Iterator

from sqlglot import exp

from benchmarks.sql_queries import Schema, first_changed, is_plain, tables_of, tree_of


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
    def of_a_column(node: exp.Expression) -> bool:
        return isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Literal)

    return lambda tree, schema: first_changed(tree, exp.EQ, make, of_a_column)


def _in_for_or(tree: exp.Query, schema: Schema) -> str | None:
    def of_one_column(node: exp.Expression) -> bool:
        sides = (node.this, node.expression)
        equal = all(isinstance(side, exp.EQ) and isinstance(side.expression, exp.Literal) for side in sides)
        return equal and sides[0].this == sides[1].this

    def joined(either: exp.Expression) -> exp.Expression:
        return exp.In(this=either.this.this, expressions=[either.this.expression, either.expression.expression])

    return first_changed(tree, exp.Or, joined, of_one_column)


def _between(tree: exp.Query, schema: Schema) -> str | None:
    def compared(both: exp.Expression) -> exp.Expression:
        low = exp.GTE(this=both.this.copy(), expression=both.args["low"])
        high = exp.LTE(this=both.this.copy(), expression=both.args["high"])
        return exp.Paren(this=exp.and_(low, high))

    return first_changed(tree, exp.Between, compared)


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
    one = exp.Count(this=exp.Literal.number(1))
    return first_changed(tree, exp.Count, lambda _: one, lambda node: isinstance(node.this, exp.Star))


def _count_key(tree: exp.Query, schema: Schema) -> str | None:
    tables = list(tree.find_all(exp.Table))
    key = schema.keys.get(tables[0].name.lower())
    if key is None or not is_plain(tree) or len(set(tables_of(tree).values())) < len(tables):
        return None
    name = f"{tables[0].alias}.{key}" if tables[0].alias else key
    if len(tables) > 1 and not tables[0].alias and sum(key in schema.columns[t.name.lower()] for t in tables) > 1:
        return None

    def of_all_rows(node: exp.Expression) -> bool:
        return isinstance(node.this, exp.Star) and node.find_ancestor(exp.Select) is tree

    return first_changed(tree, exp.Count, lambda _: exp.Count(this=exp.maybe_parse(name)), of_all_rows)


def _rounding(places: int | None) -> Callable[[exp.Query, Schema], str | None]:
    def rounded(value: exp.Expression) -> exp.Expression:
        return value if places is None else exp.Round(this=value, decimals=exp.Literal.number(places))

    def rewrite(tree: exp.Query, schema: Schema) -> str | None:
        of_a_round = first_changed(
            tree,
            exp.Round,
            lambda old: rounded(old.this),
            lambda node: isinstance(node.parent, exp.Select | exp.Alias),
        )
        if of_a_round is not None or places is None:
            return of_a_round
        return first_changed(tree, exp.Avg, rounded, lambda node: node.parent is tree)

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
    def is_alone(node: exp.Expression) -> bool:
        return not isinstance(node.parent, exp.And) and not isinstance(node.this, exp.And)

    return first_changed(tree, exp.And, lambda both: exp.And(this=both.expression, expression=both.this), is_alone)


TURNED = {exp.GT: exp.LT, exp.GTE: exp.LTE, exp.LT: exp.GT, exp.LTE: exp.GTE}
OPPOSITE = {exp.GT: exp.LTE, exp.GTE: exp.LT, exp.LT: exp.GTE, exp.LTE: exp.GT}
EDGE = {exp.GT: exp.GTE, exp.GTE: exp.GT, exp.LT: exp.LTE, exp.LTE: exp.LT}


def _comparison(make: Callable[[exp.Expression], exp.Expression]) -> Callable[[exp.Query, Schema], str | None]:
    def rewrite(tree: exp.Query, schema: Schema) -> str | None:
        found = (first_changed(tree, kind, make) for kind in EDGE)
        return next((query for query in found if query is not None), None)

    return rewrite


def _next_integer(tree: exp.Query, schema: Schema) -> str | None:
    def of_integers(node: exp.Expression) -> bool:
        return node.this.name in schema.integers and isinstance(node.expression, exp.Literal)

    def next_one(old: exp.Expression) -> exp.Expression:
        return exp.GTE(this=old.this, expression=exp.Literal.number(int(old.expression.this) + 1))

    return first_changed(tree, exp.GT, next_one, of_integers)


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
