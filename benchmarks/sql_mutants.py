"""Queries that ask something else, and the written rules by which one of them provably does not."""

from collections.abc import Iterator
from random import Random

from sqlglot import exp

from benchmarks.sql_equivalents import EDGE
from benchmarks.sql_queries import Schema, changed, table_of, tree_of

BOUNDARY = ("operator", "number one off", "limit one off")


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
