"""When a query's rows are those that the gold query gives, on every store of its question.

As multisets, column names ignored. The order of rows counts only where the gold query sorts, and never among ties. The
columns may stand in another order, and numbers may be rounded otherwise than in the gold query, unless the question
asks for just that.
"""

import glob
import math
from collections.abc import Iterator, Mapping, Sequence
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
Slack = tuple[float, float]
"""By how much a number of a column may miss the gold query's: absolutely, and on top as far as that is not more than
`MOST_LOST` of it."""

MOST_GOLD_STEPS = 50_000_000
MOST_ARRANGED = 6
"""Columns; wider results have to keep the gold query's order."""
MOST_BESIDE = 3
"""Columns that a near answer may have beside those asked for; more are a table to search in."""
FINEST = 6
"""Decimals from which on a number is taken for one that nobody rounded."""
MOST_LOST = 0.05
"""How much of a number may get lost by a rounding of the answer's own."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What counts besides the rows: the order of the columns, the roundings. near: further columns and whole numbers
    for others are as good."""

    columns: bool = False
    rounding: bool = False
    near: bool = False


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
    asked = Asked("columns" in asks, "rounding" in asks, near)
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
        orders = list(_arrangements(expected, result.rows, asked)) if orders is None else orders
        orders = [order for order in orders if fits(expected, _arranged(result.rows, order), asked)]
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
    return expected if fits(expected, rows) else in_order(rows)


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


# The answer


def _arrangements(expected: Expected, rows: Sequence[Row], asked: Asked) -> Iterator[Arrangement]:
    """The choices of the answer's columns of which each holds what is expected."""
    width = min(map(len, rows), default=0)
    further = MOST_BESIDE if asked.near else 0
    if len(rows) != expected.count or not expected.width <= width <= expected.width + further:
        return iter(())
    if width > MOST_ARRANGED:
        return iter([tuple(range(expected.width))])
    columns = [expected.column(place) for place in range(expected.width)]
    choices = [[ours for ours in range(width) if fits(one, _arranged(rows, (ours,)), asked)] for one in columns]
    return (order for order in _distinct(choices) if not asked.columns or list(order) == sorted(order))


def _distinct(choices: Sequence[Sequence[int]], taken: Arrangement = ()) -> Iterator[Arrangement]:
    """One of each choice, none twice."""
    if not choices:
        yield taken
        return
    for place in choices[0]:
        if place not in taken:
            yield from _distinct(choices[1:], (*taken, place))


def _arranged(rows: Sequence[Row], order: Arrangement) -> list[Row]:
    """The chosen columns; a row that is too short stays short."""
    return [tuple(row[place] for place in order if place < len(row)) for row in rows]


def fits(expected: Expected, rows: Sequence[Row], asked: Asked = Asked(rounding=True)) -> bool:
    """Whether the rows, their columns in the gold query's order, are those expected."""
    if len(rows) != expected.count or any(len(row) != expected.width for row in rows):
        return False
    gold = [row for group in expected.groups for row in group]
    slacks = [
        _slack(theirs, ours, asked)
        for theirs, ours in zip(zip(*gold, strict=True), zip(*rows, strict=True), strict=True)
    ]
    start = 0
    for group in expected.groups:
        if not _are_of(group, rows[start : start + len(group)], slacks):
            return False
        start += len(group)
    return True


def _slack(gold: Row, ours: Row, asked: Asked) -> Slack:
    """What the roundings that two columns show allow: half of the gold query's last decimal, and half of the answer's
    where it has fewer, but whole numbers for others only where that is near enough."""
    theirs, mine = _decimals(gold), _decimals(ours)
    if asked.rounding or not any(isinstance(cell, float) for cell in gold):
        return 0.0, 0.0
    is_coarser = mine is not None and (theirs is None or mine < theirs) and (mine > 0 or asked.near)
    return 0.0 if theirs is None else 0.5 * 10.0 ** -(
        theirs or 2
    ), 0.5 * 10.0**-mine if mine is not None and is_coarser else 0.0


def _decimals(cells: Row) -> int | None:
    """To how many decimals all numbers of a column are rounded; None where they do not look rounded."""
    numbers = [cell for cell in cells if isinstance(cell, int | float)]
    return next((places for places in range(FINEST) if all(round(one, places) == one for one in numbers)), None)


def _are_of(group: Sequence[Row], rows: Sequence[Row], slacks: Sequence[Slack]) -> bool:
    """Whether the rows are among those of a group, each as often as there at most."""
    left = sorted(group, key=_sort_key)
    for row in sorted(rows, key=_sort_key):
        place = next((place for place, other in enumerate(left) if all(map(_is_same, other, row, slacks))), None)
        if place is None:
            return False
        del left[place]
    return True


def _is_same(gold: object, ours: object, slack: Slack = (0.0, 0.0)) -> bool:
    if isinstance(gold, int | float) and isinstance(ours, int | float):
        allowed = slack[0] + min(slack[1], MOST_LOST * abs(gold))
        return math.isclose(gold, ours, rel_tol=1e-6, abs_tol=1e-9 + (1 + 1e-6) * allowed)
    return gold == ours


def _sort_key(row: Row) -> list[tuple[str, str, float]]:
    """Sorts rows of any types, so that those that may be the same come about as early."""
    return [
        ("", "", float(cell)) if isinstance(cell, int | float) else (type(cell).__name__, str(cell), 0.0)
        for cell in row
    ]
