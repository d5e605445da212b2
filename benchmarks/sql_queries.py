"""A query as a tree, and what can be known of it from the schema alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp


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


def first_changed(
    tree: exp.Query,
    kind: type,
    make: Callable[[exp.Expression], exp.Expression],
    where: Callable[[exp.Expression], bool] = lambda node: True,
) -> str | None:
    """The query with the first of its nodes of a kind replaced that `where` is true of; None where there is none."""
    for place, node in enumerate(tree.find_all(kind)):
        if where(node):
            return changed(tree, kind, place, make)
    return None


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
