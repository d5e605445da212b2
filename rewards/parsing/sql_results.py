"""When the rows of an answer are those that the gold query gives.

As multisets, column names ignored. The order of rows counts only where the gold query sorts, and never among ties. The
columns may stand in another order, and numbers may be rounded otherwise than in the gold query, unless the question
asks for just that.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlglot import exp

Row = tuple[Any, ...]
Arrangement = tuple[int, ...]
"""For each column of the gold query, which one of the answer holds it."""

MOST_ARRANGED = 6
"""Columns; wider results have to keep the gold query's order."""
COARSEST = 1
"""Decimals to which an answer may round on its own; a whole number in place of a mean of 4.27 is another number."""
MOST_LOST = 0.05
"""And how much of a number may get lost by it."""


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a query, and the steps of SQLite's virtual machine that it took, rounded up to a hundred."""

    rows: tuple[Row, ...]
    steps: int


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
    """The decimals that the gold query and the answer round one column to; None where they do not, or not visibly."""

    gold: int | None = None
    ours: int | None = None

    def slack(self, value: float) -> float:
        """By how much the answer may miss the gold query's value."""
        slack = 0.0 if self.gold is None else 0.5 * 10.0**-self.gold
        if self.ours is not None and self.ours >= COARSEST and (self.gold is None or self.ours < self.gold):
            slack += min(0.5 * 10.0**-self.ours, MOST_LOST * abs(value))
        return slack


# The gold query


def unordered(rows: Sequence[Row]) -> Expected:
    return Expected((tuple(rows),) if rows else (), len(rows))


def in_order(rows: Sequence[Row]) -> Expected:
    """Every row at its place, as if there were no ties."""
    return Expected(tuple((row,) for row in rows), len(rows))


def with_ties(rows: Sequence[Row], ranked: Sequence[Row], keys: int) -> Expected:
    """The rows of a query that sorts, and all of them before LIMIT with `keys` sort keys behind, as `ranking` asks."""
    width = len(ranked[0]) - keys if ranked else 0
    groups: list[tuple[Row, ...]] = []
    taken = 0
    for group in _runs(ranked, width):
        if taken >= len(rows):
            break
        groups.append(group)
        taken += len(group)
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


def ranking(query: exp.Expression) -> tuple[str, int] | None:
    """A sorting query without its LIMIT, its sort keys as further columns, and their number; None where it has no keys
    or no such form is known.
    """
    order = query.args.get("order")
    if order is None or query.args.get("offset"):
        return None
    ranked = query.copy()
    ranked.set("limit", None)
    if isinstance(query, exp.Select) and not query.args.get("distinct"):
        keys = [_key(term.this, query) for term in order.expressions]
        ranked = ranked.select(*(exp.alias_(key, f"_key{place}") for place, key in enumerate(keys)), copy=False)
        return ranked.sql("sqlite"), len(keys)
    ranked.set("order", None)
    keys = [_output(term.this, query) for term in order.expressions]
    columns = exp.Select().select("*", *(exp.alias_(key, f"_key{place}") for place, key in enumerate(keys)))
    return columns.from_(ranked.subquery("_rows")).order_by(*_terms(order)).sql("sqlite"), len(keys)


def _key(key: exp.Expression, query: exp.Select) -> exp.Expression:
    """A sort key as an expression that can stand among the columns: what a number or an alias means."""
    if isinstance(key, exp.Literal) and not key.is_string:
        return query.selects[int(key.this) - 1].unalias().copy()
    aliases = {column.alias.lower(): column.unalias() for column in query.selects if column.alias}

    def meant(node: exp.Expression) -> exp.Expression:
        is_alias = isinstance(node, exp.Column) and not node.table and node.name.lower() in aliases
        return exp.Paren(this=aliases[node.name.lower()].copy()) if is_alias else node

    return key.copy().transform(meant)


def _output(key: exp.Expression, query: exp.Expression) -> exp.Expression:
    """A sort key as a column of the query's result."""
    if isinstance(key, exp.Literal) and not key.is_string:
        return exp.column(query.selects[int(key.this) - 1].alias_or_name)
    return exp.column(key.name) if isinstance(key, exp.Column) else key.copy()


def _terms(order: exp.Expression) -> Iterator[exp.Expression]:
    for place, term in enumerate(order.expressions):
        sorted_by = term.copy()
        sorted_by.set("this", exp.column(f"_key{place}"))
        yield sorted_by


def decimals(query: exp.Expression | None) -> tuple[int | None, ...]:
    """What each column of a query is rounded to, as far as that can be read from it; also in a table or a WITH that it
    takes a column from.
    """
    if query is None:
        return ()
    source = query.args.get("from_")
    inner = {cte.alias: cte.this for cte in query.find_all(exp.CTE)}
    if source and len(query.selects) == 1 and query.is_star:
        table = source.this
        return decimals(table.this if isinstance(table, exp.Subquery) else inner.get(table.name))
    named = {alias.alias: alias.this for alias in query.find_all(exp.Alias) if isinstance(alias.this, exp.Round)}
    columns = (column.unalias() for column in query.selects)
    return tuple(_decimals(named.get(column.name) if isinstance(column, exp.Column) else column) for column in columns)


def _decimals(column: exp.Expression | None) -> int | None:
    if not isinstance(column, exp.Round):
        return None
    places = column.args.get("decimals")
    if places is None:
        return 0
    return int(places.name) if isinstance(places, exp.Literal) and places.name.isdigit() else None


# The answer


def arrangements(
    expected: Expected, rows: Sequence[Row], rounding: Callable[[int, int], Rounding], fixed: bool
) -> list[Arrangement]:
    """The orders of the answer's columns in which each column holds what is expected; `fixed` allows only its own."""
    if len(rows) != expected.count or any(len(row) != expected.width for row in rows):
        return []
    places = range(expected.width)
    if fixed or expected.width > MOST_ARRANGED:
        choices = [[place] for place in places]
    else:
        choices = [
            [
                ours
                for ours in places
                if fits(expected.column(place), _arranged(rows, (ours,)), (rounding(place, ours),))
            ]
            for place in places
        ]
    return list(_distinct(choices))


def fits_arranged(
    expected: Expected, rows: Sequence[Row], rounding: Callable[[int, int], Rounding], order: Arrangement
) -> bool:
    if any(len(row) != len(order) for row in rows):
        return False
    return fits(expected, _arranged(rows, order), tuple(map(rounding, range(len(order)), order)))


def _arranged(rows: Sequence[Row], order: Arrangement) -> list[Row]:
    return [tuple(row[place] for place in order) for row in rows]


def _distinct(choices: Sequence[Sequence[int]], taken: Arrangement = ()) -> Iterator[Arrangement]:
    """One of each choice, none twice."""
    if not choices:
        yield taken
        return
    for place in choices[0]:
        if place not in taken:
            yield from _distinct(choices[1:], (*taken, place))


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
    others: list[tuple[int, str, object]] = []
    numbers: tuple[list[float], list[float]] = ([], [])
    for place, (cell, rounded) in enumerate(zip(row, is_rounded, strict=True)):
        if isinstance(cell, int | float):
            numbers[rounded].append(float(f"{cell:.6g}"))
        else:
            others.append((place, type(cell).__name__, cell))
    return others, *numbers
