"""When a query's rows are those that the gold query gives, on every store of its question.

As multisets, column names ignored. The order of rows counts only where the gold query sorts, and never among ties. The
columns may stand in another order, and numbers may be rounded otherwise than in the gold query, unless the question
asks for just that.
"""

import glob
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlglot import exp

from rewards.parsing.sql import (
    FREE_STEPS,
    GOLD_FACTOR,
    PARSER_FAULTS,
    Result,
    Row,
    is_ordered,
    parse,
    run_query,
)

Arrangement = tuple[int, ...]
"""For each column of the gold query, which one of the answer holds it."""
Roundings = Callable[[int, int], "Rounding"]
"""How a column of the gold query and one of the answer are rounded."""

MOST_GOLD_STEPS = 50_000_000
MOST_ARRANGED = 6
"""Columns; wider results have to keep the gold query's order."""
MOST_BESIDE = 2
"""Columns that a near answer may have beside those asked for; one beside a single figure, which it else hides."""
COARSEST = 1
"""Decimals to which an answer may round on its own; a whole number in place of a mean of 4.27 is another number."""
MOST_LOST = 0.05
"""And how much of a number may get lost by it."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The gold query's rows on one store, in groups: the order of the groups is asked for, that within them is free.

    Of the last group only so many rows are wanted that there are `count` in all, no matter which.
    """

    groups: tuple[tuple[Row, ...], ...]
    count: int

    @property
    def width(self) -> int:
        return len(self.groups[0][0]) if self.count else 0

    @property
    def is_void(self) -> bool:
        """Whether the question has no answer in a store: whether that is then NULL or 0 is a matter of taste."""
        return self.count == 1 and all(cell is None for cell in self.groups[0][0])

    @property
    def is_zero(self) -> bool:
        """Whether nothing is counted in a store: an answer with GROUP BY then has no row at all, which is as right."""
        return self.count == 1 and all(cell == 0 for cell in self.groups[0][0])

    def column(self, place: int) -> "Expected":
        return Expected(tuple(tuple((row[place],) for row in group) for group in self.groups), self.count)


@dataclass(frozen=True, slots=True)
class Rounding:
    """The decimals that the gold query and the answer round one column to; None where they do not, or not visibly.
    is_rough: whole numbers are near enough as well."""

    gold: int | None = None
    ours: int | None = None
    is_rough: bool = False

    def slack(self, value: float) -> float:
        """By how much the answer may miss the gold query's value."""
        slack = 0.0 if self.gold is None else 0.5 * 10.0**-self.gold
        is_coarser = self.ours is not None and (self.gold is None or self.ours < self.gold)
        if self.ours is not None and is_coarser and (self.is_rough or self.ours >= COARSEST):
            slack += min(0.5 * 10.0**-self.ours, MOST_LOST * abs(value))
        return slack


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an answer's query: whether it ran, and whether its result is the gold one."""

    ran: bool
    equal: bool


def answers_gold(reference: Mapping[str, Any], sql: str, databases: Path | None, near: bool = False) -> Outcome:
    """An answer's query against the gold query of a sql_qa reference: it ran if it does on the reference's database,
    and is equal if it is on every store of the question. ValueError without the folder.

    What the question asks for besides the rows stands in `asks`: "columns" (their order), "rounding". near: further
    columns and any rounding that leaves a number recognisable are as good.
    """
    gold, asks = reference["sql"], frozenset(reference.get("asks", ()))
    rounding = _roundings(gold, sql, "rounding" in asks, near)
    orders: list[Arrangement] | None = None
    """Of the columns; not known before a store has rows for the question."""
    for number, store in enumerate(stores(_database(reference, databases))):
        steps, expected = gold_result(store, gold).steps, _expected(store, gold)
        if number and expected.is_void:
            continue
        result = run_query(store, sql, max(FREE_STEPS, GOLD_FACTOR * steps))
        if result is None:
            return Outcome(number > 0, False)
        if not expected.count or (number and expected.is_zero and not result.rows):
            if result.rows:
                return Outcome(True, False)
            continue
        if orders is None:
            further = (MOST_BESIDE if expected.count * expected.width > 1 else 1) if near else 0
            orders = list(_arrangements(expected, result.rows, rounding, "columns" in asks, further))
        orders = [order for order in orders if _fits_arranged(expected, result.rows, rounding, order)]
        if not orders:
            return Outcome(True, False)
    return Outcome(True, orders is not None or not near)


def _database(reference: Mapping[str, Any], databases: Path | None) -> Path:
    name = reference["database"]
    if databases is None:
        raise ValueError(f"the reference names the database {name!r}; give the folder that holds it as `databases`")
    if Path(name).name != name or name == "..":
        raise ValueError(
            f"the reference names the database {name!r}; a database is a file of the prompt set's own folder"
        )
    return databases / name


@lru_cache(maxsize=64)
def stores(database: Path) -> tuple[Path, ...]:
    """`x.sqlite` and, beside it, the further stores of the same questions: `x-1.sqlite`, `x-2.sqlite` …"""
    return database, *sorted(database.parent.glob(f"{glob.escape(database.stem)}-*{glob.escape(database.suffix)}"))


# The gold query


@lru_cache(maxsize=4096)
def gold_result(database: Path, sql: str) -> Result:
    """The result of a prompt's gold query. ValueError where it does not run: a fault of the prompt set."""
    if not database.is_file():
        raise ValueError(f"there is no database {database}; give the folder that holds it as `databases`")
    result = run_query(database, sql, MOST_GOLD_STEPS)
    if result is None:
        raise ValueError(f"the gold query does not run on {database} within the limits; mend the prompt set: {sql}")
    return result


@lru_cache(maxsize=4096)
def _expected(database: Path, sql: str) -> Expected:
    """What a prompt's gold query asks for on a store."""
    rows = gold_result(database, sql).rows
    if not is_ordered(sql):
        return unordered(rows)
    try:
        ranked = _ranking(parse(sql))
    except PARSER_FAULTS:
        ranked = None
    result = run_query(database, ranked[0], MOST_GOLD_STEPS) if ranked else None
    return in_order(rows) if ranked is None or result is None else _with_ties(rows, result.rows, ranked[1])


def unordered(rows: Sequence[Row]) -> Expected:
    return Expected((tuple(rows),) if rows else (), len(rows))


def in_order(rows: Sequence[Row]) -> Expected:
    """Every row at its place, as if there were no ties."""
    return Expected(tuple((row,) for row in rows), len(rows))


def _with_ties(rows: Sequence[Row], ranked: Sequence[Row], keys: int) -> Expected:
    """The rows of a query that sorts, and all of them before LIMIT with `keys` sort keys behind."""
    width = len(ranked[0]) - keys if ranked else 0
    groups: list[tuple[Row, ...]] = []
    for group in _runs(ranked, width):
        if sum(map(len, groups)) >= len(rows):
            break
        groups.append(group)
    expected = Expected(tuple(groups), len(rows))
    return expected if fits(expected, rows, (Rounding(),) * width) else in_order(rows)


def _runs(ranked: Sequence[Row], width: int) -> Iterator[tuple[Row, ...]]:
    """Neighbours with the same keys, up to float noise; the keys are cut off."""
    number, last = 0, None

    def run(row: Row) -> int:
        nonlocal number, last
        number += last is not None and not all(map(_is_same, last, row[width:]))
        last = row[width:]
        return number

    for _, rows in groupby(ranked, run):
        yield tuple(row[:width] for row in rows)


def _ranking(query: exp.Expression | None) -> tuple[str, int] | None:
    """A sorting query without its LIMIT, its sort keys as further columns, and their number; None where no such form is
    known: its rows then have one order only."""
    if not isinstance(query, exp.Select) or query.args.get("offset") or query.args.get("distinct"):
        return None
    keys = [_key(term.this, query) for term in query.args["order"].expressions]
    ranked = query.copy()
    ranked.set("limit", None)
    ranked = ranked.select(*(exp.alias_(key, f"_key{place}") for place, key in enumerate(keys)), copy=False)
    return ranked.sql("sqlite"), len(keys)


def _key(key: exp.Expression, query: exp.Select) -> exp.Expression:
    """A sort key as an expression that can stand among the columns: what a number or an alias means."""
    if isinstance(key, exp.Literal) and not key.is_string:
        return query.selects[int(key.this) - 1].unalias().copy()
    aliases = {column.alias.lower(): column.unalias() for column in query.selects if column.alias}

    def meant(node: exp.Expression) -> exp.Expression:
        is_alias = isinstance(node, exp.Column) and not node.table and node.name.lower() in aliases
        return exp.Paren(this=aliases[node.name.lower()].copy()) if is_alias else node

    return key.copy().transform(meant)


# Rounding


def _roundings(gold: str, sql: str, asked: bool, near: bool) -> Roundings:
    if asked:
        return lambda place, ours: Rounding()
    theirs, mine = _decimals_of(gold), _decimals_of(sql)

    def rounding(place: int, ours: int) -> Rounding:
        return Rounding(theirs[place] if place < len(theirs) else None, mine[ours] if ours < len(mine) else None, near)

    return rounding


@lru_cache(maxsize=4096)
def _decimals_of(sql: str) -> tuple[int | None, ...]:
    """What each column of a query is rounded to, as far as that can be read from it."""
    return _decimals(parse(sql))


def _decimals(query: exp.Expression | None) -> tuple[int | None, ...]:
    """Also in a table or a WITH that a query takes a column from."""
    if query is None:
        return ()
    source = query.args.get("from_")
    if source and len(query.selects) == 1 and query.is_star:
        inner = {cte.alias: cte.this for cte in query.find_all(exp.CTE)}
        return _decimals(source.this.this if isinstance(source.this, exp.Subquery) else inner.get(source.this.name))
    named = {alias.alias: alias.this for alias in query.find_all(exp.Alias) if isinstance(alias.this, exp.Round)}
    columns = (column.unalias() for column in query.selects)
    return tuple(_places(named.get(column.name) if isinstance(column, exp.Column) else column) for column in columns)


def _places(column: exp.Expression | None) -> int | None:
    if not isinstance(column, exp.Round):
        return None
    places = column.args.get("decimals")
    if places is None:
        return 0
    return int(places.name) if isinstance(places, exp.Literal) and places.name.isdigit() else None


# The answer


def _arrangements(
    expected: Expected, rows: Sequence[Row], rounding: Roundings, fixed: bool, further: int
) -> Iterator[Arrangement]:
    """The choices of the answer's columns of which each holds what is expected; `fixed` allows only their own order,
    `further` so many columns beside them."""
    width = len(rows[0]) if rows else 0
    if len(rows) != expected.count or not expected.width <= width <= expected.width + further:
        return iter(())
    if width > MOST_ARRANGED:
        return iter([tuple(range(expected.width))])
    choices = [
        [ours for ours in range(width) if _fits_arranged(column, rows, lambda _, own: rounding(place, own), (ours,))]  # noqa: B023
        for place, column in enumerate(map(expected.column, range(expected.width)))
    ]
    return (order for order in _distinct(choices) if not fixed or list(order) == sorted(order))


def _distinct(choices: Sequence[Sequence[int]], taken: Arrangement = ()) -> Iterator[Arrangement]:
    """One of each choice, none twice."""
    if not choices:
        yield taken
        return
    for place in choices[0]:
        if place not in taken:
            yield from _distinct(choices[1:], (*taken, place))


def _fits_arranged(expected: Expected, rows: Sequence[Row], rounding: Roundings, order: Arrangement) -> bool:
    if any(len(row) <= max(order) for row in rows):
        return False
    chosen = [tuple(row[place] for place in order) for row in rows]
    return fits(expected, chosen, tuple(map(rounding, range(len(order)), order)))


def fits(expected: Expected, rows: Sequence[Row], roundings: Sequence[Rounding]) -> bool:
    """Whether the rows, their columns in the gold query's order, are those expected; one rounding for each column."""
    if len(rows) != expected.count:
        return False
    start = 0
    for group in expected.groups:
        if not _are_of(group, rows[start : start + len(group)], roundings):
            return False
        start += len(group)
    return True


def _are_of(group: Sequence[Row], rows: Sequence[Row], roundings: Sequence[Rounding]) -> bool:
    """Whether the rows are among those of a group, each as often as there at most."""
    if len(group) == len(rows):
        is_rounded = [rounding.gold is not None or rounding.ours is not None for rounding in roundings]
        ours, theirs = (sorted(some, key=lambda row: _sort_key(row, is_rounded)) for some in (group, rows))
        return all(_fits(row, other, roundings) for row, other in zip(ours, theirs, strict=True))
    left = list(group)
    for row in rows:
        place = next((place for place, other in enumerate(left) if _fits(other, row, roundings)), None)
        if place is None:
            return False
        del left[place]
    return True


def _fits(gold: Row, row: Row, roundings: Sequence[Rounding]) -> bool:
    return len(gold) == len(row) and all(map(_is_same, gold, row, roundings))


def _is_same(gold: object, ours: object, rounding: Rounding = Rounding()) -> bool:
    if isinstance(gold, int | float) and isinstance(ours, int | float):
        return math.isclose(gold, ours, rel_tol=1e-6, abs_tol=1e-9 + (1 + 1e-6) * rounding.slack(gold))
    return gold == ours


def _sort_key(row: Row, is_rounded: Sequence[bool]) -> tuple[list[tuple[int, str, object]], list[float], list[float]]:
    """Sorts rows of any types: by all but the numbers first, then by these to six digits, so that float noise changes
    no order; the rounded ones, which may differ by more, come last.
    """
    others = [(place, type(cell).__name__, cell) for place, cell in enumerate(row) if not isinstance(cell, int | float)]
    numbers: tuple[list[float], list[float]] = ([], [])
    for cell, rounded in zip(row, is_rounded, strict=False):
        if isinstance(cell, int | float):
            numbers[rounded].append(float(f"{cell:.6g}"))
    return others, *numbers
