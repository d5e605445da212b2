"""Databases for questions whose own are not at hand: rows made from a schema, and from what the gold queries look for.

The idea is that of test suites for SQL (Zhong et al. 2020, arXiv 2010.02840): a wrong query may give the right rows on
one database by luck, hardly on several. Columns that queries or keys join share their values, and every value that a
query compares with stands in its column, beside others next to it.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import sqlglot
from scipy.cluster.hierarchy import DisjointSet
from sqlglot import exp
from sqlglot.errors import SqlglotError

Column = tuple[str, str]
"""Table and column, both in lower case."""
Value = str | int | float | None

LARGEST_WHOLE = 2**53
"""From here on a number is a float in SQLite too: its whole numbers have 64 bits."""
KEYS = 30
"""Different values that joined columns share."""
LEAST_ROWS, MOST_ROWS = 14, 28
SOUGHT = 0.55
"""How often a cell holds something that a query looks for."""
WORDS = (
    "Alfa", "Beta", "Gama", "Delta", "Ipê", "Jacarandá", "Cedro", "Aroeira", "Norte", "Sul", "Leste", "Oeste", "Aurora",
    "Bonança", "Serra", "Campo", "Lagoa", "Ribeira", "Estrela", "Vitória", "Palmeira", "Horizonte", "Diamante",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a schema: its name, its columns in order with their types, and the primary key's columns."""

    name: str
    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Schema:
    """A database's tables, and the pairs (column, the column that it refers to)."""

    name: str
    tables: tuple[Table, ...]
    links: tuple[tuple[Column, Column], ...]

    def ddl(self) -> str:
        return "\n".join(
            f"CREATE TABLE {_quoted(table.name)} ("
            + ", ".join(f"{_quoted(name)} {_AFFINITY.get(kind, 'TEXT')}" for name, kind in table.columns)
            + ");"
            for table in self.tables
        )

    def shown(self) -> str:
        """The schema as a prompt shows it: a line per table."""
        return "\n".join(f"{table.name}({', '.join(name for name, _ in table.columns)})" for table in self.tables)


_AFFINITY = {"number": "NUMERIC"}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@dataclass(slots=True)
class Sought:
    """What queries look for: {column: values}, the pairs of columns that they join or put side by side, and the columns
    that they reckon with.
    """

    values: defaultdict[Column, set[Value]] = field(default_factory=lambda: defaultdict(set))
    joined: set[tuple[Column, Column]] = field(default_factory=set)
    numbers: set[Column] = field(default_factory=set)


def sought(schema: Schema, queries: Iterable[str]) -> Sought:
    """Read from the queries' comparisons; a query that sqlglot cannot read adds nothing."""
    found = Sought()
    for query in queries:
        try:
            tree = sqlglot.parse_one(query, dialect="sqlite")
        except (SqlglotError, RecursionError, ValueError):
            continue
        for node in tree.find_all(exp.Binary, exp.Between, exp.In):
            _compare(schema, tree, node, found)
        for mean in tree.find_all(exp.Avg, exp.Sum):
            found.numbers |= set(_meant(schema, tree, mean.this))
        for both in tree.find_all(exp.SetOperation):
            for one, two in zip(both.this.selects, both.expression.selects, strict=False):
                _join(_meant(schema, both.this, one), _meant(schema, both.expression, two), found)
    return found


def _join(some: Sequence[Column], others: Sequence[Column], found: Sought) -> None:
    found.joined |= {(one, two) for one in some for two in others}


def _compare(schema: Schema, tree: exp.Expression, node: exp.Expression, found: Sought) -> None:
    """One comparison of a column: with literals, or with another column."""
    mine = _meant(schema, tree, node.this)
    others = [node.args.get(name) for name in ("expression", "low", "high", "query")]
    others += node.args.get("expressions") or []
    for other in others:
        if isinstance(other, exp.Subquery | exp.Query):
            inner = other.unnest() if isinstance(other, exp.Subquery) else other
            is_key = inner.selects and isinstance(inner.selects[0].unalias(), exp.Column)
            _join(mine, _meant(schema, tree, inner.selects[0]) if is_key else [], found)
        elif isinstance(other, exp.Column) and isinstance(node, exp.EQ):
            literal = [] if _meant(schema, tree, other) else [other.name]  # "double quotes" around a text
            _join(mine, _meant(schema, tree, other), found)
            for column in mine:
                found.values[column] |= set(literal)
        else:
            for column in mine:
                found.values[column] |= set(_literals(other))


def _literals(node: exp.Expression | None) -> list[Value]:
    """A literal's value, and for a number its neighbours; the text of a LIKE pattern without its marks."""
    if isinstance(node, exp.Neg):
        return [-value for value in _literals(node.this) if isinstance(value, int | float)]
    if isinstance(node, exp.Column):
        return [node.name.strip("%")]
    if not isinstance(node, exp.Literal):
        return []
    if node.is_string:
        text = str(node.this).replace("%", "").replace("_", "a")
        return [text, f"{text} {WORDS[0]}"] if "%" in node.this else [text]
    number = float(node.this)
    is_whole = number.is_integer() and abs(number) < LARGEST_WHOLE
    return [int(number) + step for step in (-1, 0, 1)] if is_whole else [number, number + 0.5]


def _meant(schema: Schema, tree: exp.Expression, node: exp.Expression | None) -> list[Column]:
    """The columns that an expression may mean; one for most, none for a literal."""
    column = node.find(exp.Column) if node is not None else None
    if column is None:
        return []
    aliases = {table.alias_or_name.lower(): table.name.lower() for table in tree.find_all(exp.Table)}
    named = aliases.get(column.table.lower()) if column.table else None
    used = {named} if named else set(aliases.values())
    return [
        (table.name.lower(), name.lower())
        for table in schema.tables
        for name, _ in table.columns
        if table.name.lower() in used and name.lower() == column.name.lower()
    ]


# Rows


def fill(
    schema: Schema, wanted: Sought, rng: Random, size: int = 1, with_gaps: bool = False
) -> dict[str, list[tuple[Value, ...]]]:
    """{table: rows}, `size` times as many as the least. `with_gaps` leaves some cells without a value, never those of
    keys and joins.
    """
    domain = _domains(schema, wanted)
    pools: dict[Column, list[Value]] = {}
    held: dict[Column, list[Value]] = {}
    rows: dict[str, list[tuple[Value, ...]]] = {}
    parents = dict(schema.links)
    for table in _parents_first(schema):
        own = table.name.lower()
        count = size * rng.randint(LEAST_ROWS, MOST_ROWS)
        cells: list[list[Value]] = []
        for name, declared in table.columns:
            column = (own, name.lower())
            group = domain.get(column)
            kind = "number" if column in wanted.numbers else declared
            if group is None:
                unique = table.key == (name,)
                cells.append(_plain(kind, wanted.values[column], count, rng, unique, with_gaps and not unique))
                continue
            if group not in pools:
                values = set[Value]().union(*(wanted.values[one] for one, of in domain.items() if of == group))
                pools[group] = _plain(kind, values, size * KEYS, rng, True, False)
            choice = held.get(parents.get(column, column)) or pools[group]
            cells.append(_keys(choice, wanted.values[column], count, rng, unique=table.key == (name,)))
            held[column] = cells[-1]
        count = min(map(len, cells), default=0)
        rows[table.name] = list(dict.fromkeys(zip(*(some[:count] for some in cells), strict=True)))
    return rows


def _keys(choice: Sequence[Value], values: Iterable[Value], count: int, rng: Random, unique: bool) -> list[Value]:
    """Values of a key: each at most once, or some often and some never; often what queries look for."""
    different = list(dict.fromkeys(choice))
    if unique:
        return rng.sample(different, min(count, len(different)))
    wanted = [value for value in different if value in set(values)]
    some = rng.sample(different, max(1, len(different) * 2 // 3))
    shares = [1 / (1 + place) for place in range(len(some))]
    return [
        rng.choice(wanted) if wanted and rng.random() < SOUGHT else rng.choices(some, shares)[0] for _ in range(count)
    ]


def _plain(kind: str, values: Iterable[Value], count: int, rng: Random, unique: bool, with_gaps: bool) -> list[Value]:
    """Values of one column: those that queries look for, and others of the same kind."""
    wanted = sorted(set(map(_as_number, values)) if kind == "number" else values, key=str)
    if unique:
        others = [_invented(kind, number, rng) for number in range(count)]
        found = list(dict.fromkeys([*wanted, *others]))[:count]
        rng.shuffle(found)
        return found
    others = [_invented(kind, rng.randrange(1000), rng) for _ in range(6)]
    cells: list[Value] = []
    for _ in range(count):
        cell = rng.choice(wanted) if wanted and rng.random() < SOUGHT else rng.choice(others)
        cells.append(None if with_gaps and rng.random() < 0.04 else cell)
    return cells


def _as_number(value: Value) -> Value:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def _invented(kind: str, number: int, rng: Random) -> Value:
    if kind == "number":
        return number + 1 if number < KEYS else rng.choice([rng.randint(1, 100), rng.randint(1, 5000) / 2])
    if kind == "time":
        return f"{rng.randint(1990, 2020)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
    if kind == "boolean":
        return rng.choice(["T", "F"])
    return f"{WORDS[number % len(WORDS)]} {number // len(WORDS) + 1}" if number >= len(WORDS) else WORDS[number]


def _domains(schema: Schema, wanted: Sought) -> dict[Column, Column]:
    """{column: one for all columns that keys and joins bind together}, for bound ones alone."""
    pairs = [*schema.links, *sorted(wanted.joined)]
    bound: DisjointSet[Column] = DisjointSet(column for one, two in pairs for column in (two, one))
    for one, two in pairs:
        bound.merge(one, two)
    return {column: bound[column] for column in bound}


def _parents_first(schema: Schema) -> list[Table]:
    """The tables, each after those that it refers to, as far as there is such an order."""
    needs: Mapping[str, set[str]] = {
        table.name.lower(): {two[0] for one, two in schema.links if one[0] == table.name.lower() != two[0]}
        for table in schema.tables
    }
    left, ordered, placed = list(schema.tables), list[Table](), set[str]()
    while left:
        table = next((table for table in left if needs[table.name.lower()] <= placed), left[0])
        left.remove(table)
        ordered.append(table)
        placed.add(table.name.lower())
    return ordered


def write_store(path: Path, schema: Schema, rows: Mapping[str, Sequence[tuple[Value, ...]]]) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # what a crash leaves of it is no artifact
        connection.executescript(schema.ddl())
        for table, cells in rows.items():
            if cells:
                marks = ",".join("?" * len(cells[0]))
                connection.executemany(f"INSERT INTO {_quoted(table)} VALUES ({marks})", cells)
        connection.commit()
