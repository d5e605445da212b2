"""Whether an answer holds the right query: truth's own judge, which shares the stores with the reward and no code.

It is stricter about the form: one query, in SQLite's own words, that the answer itself stands by. What the query gives
has to be what the gold query gives, on every store of the question. Work is counted in steps, never in time.
"""

import os
import re
import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice, permutations
from math import isclose
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

Row = tuple[Any, ...]

LONGEST_ANSWER = 16_384
LONGEST_QUERY = 2_000
"""Characters."""
MOST_TRIED = 40
"""Texts of one answer that are tried as a query."""
MOST_ROWS = 2_000
MOST_ORDERS = 720
"""Orders of columns that are tried: all of up to six columns."""
LEAST_STEPS = 300_000
STEPS_FACTOR = 5
"""An answer may take so many steps of SQLite's virtual machine, or so many times the gold query's."""
MOST_STEPS = 50_000_000
STRIDE = 100
PLACES = 2
"""Decimals that an answer may round to where the question asks for no rounding."""
MOST_COARSE = 0.05
"""Share of a number that a coarser rounding may take or give."""

_FENCE = re.compile(
    r"```[ \t]*(?:(?!(?:SELECT|WITH)\b)\w[\w+#.-]*(?=[ \t]*\r?\n)|sql\w*\b)?\s*(.*?)(?:```|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""Any word may label a block of code on its first line; before a query on the same line only SQL's own."""
_REMARK = re.compile(r"--([^\n]*)|/\*((?>(?:[^*]|\*(?!/))*))(?:\*/)?")
_ABOVE = re.compile(rf"\A\s*(?:(?:{_REMARK.pattern})\s*)+")
"""Remarks in a query, and those above it."""
_BEGINS = re.compile(r"\b(?:SELECT|WITH)\b", re.IGNORECASE)
_FROM = re.compile(r"\bFROM\b", re.IGNORECASE)
"""A query that reads nothing is a guess, right or not («SELECT 1»)."""
_ENDS = re.compile(r";|\n[ \t\r]*\n|\Z")
_REDUCING = (exp.Sum, exp.Avg)
_REFUSED = frozenset({
    "load_extension", "random", "randomblob", "readfile", "writefile", "edit", "fts3_tokenizer", "zeroblob", "printf",
    "format", "current_date", "current_time", "current_timestamp",
})  # fmt: skip
_DATES = {"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1}
"""Where each takes its time; without one it asks the clock."""
_CLOCK = frozenset({"now", "subsec", "subsecond", "localtime", "utc"})


def right_answer(reference: Mapping[str, Any], completion: str, databases: Path | None) -> bool:
    """Whether the answer holds one query that is right on the reference's database and on every further store beside it
    (`x.sqlite`, `x-1.sqlite` …).

    `asks` of the reference may hold "columns" (in just that order) and "rounding" (just so). ValueError for a
    reference without its database, and for a gold query that does not run on it.
    """
    first, query = _asked(reference, completion, databases)
    return query is not None and _is_met(reference, query, first)


def query_of(reference: Mapping[str, Any], completion: str, databases: Path | None) -> str | None:
    """The one query that the answer stands by. ValueError as above."""
    return _asked(reference, completion, databases)[1]


def gives(reference: Mapping[str, Any], query: str, databases: Path, wider: int = 0, coarser: bool = False) -> bool:
    """Whether a query gives what the gold query does, on every store; with so many further columns at most, and where
    `coarser` with any rounding that a number is recognised by."""
    return _is_met(reference, query, databases / reference["database"], wider, coarser)


def runs(reference: Mapping[str, Any], query: str, databases: Path) -> bool:
    return rows_of(databases / reference["database"], query, LEAST_STEPS) is not None


def _asked(reference: Mapping[str, Any], completion: str, databases: Path | None) -> tuple[Path, str | None]:
    name = reference["database"]
    if databases is None or Path(name).name != name or not (databases / name).is_file():
        raise ValueError(
            f"the gold query asks {name!r}, which has to be a file of the folder `databases` ({databases})"
        )
    return databases / name, _only_query(completion, databases / name)


def _is_met(reference: Mapping[str, Any], query: str, first: Path, wider: int = 0, coarser: bool = False) -> bool:
    gold = reference["sql"]
    if not _FROM.search(query):
        return False
    asks = reference.get("asks", ())
    slack = 0.0 if "rounding" in asks else max(_slack(gold), min(_slack(query), 0.5 * 10.0**-PLACES))
    slack = max(_slack(gold), _slack(query)) if coarser else slack
    orders: list[Sequence[int]] | None = None
    for store in [first, *_further(first)]:
        wanted = _wanted(store, gold)
        if store != first and wanted.is_void:
            continue
        result = rows_of(store, query, max(LEAST_STEPS, STEPS_FACTOR * wanted.steps))
        if result is None:
            return False
        if not wanted.count or (store != first and wanted.is_zero and not result[0]):
            if result[0]:
                return False
            continue
        width = len(result[0][0]) if result[0] else 0
        if not wanted.width <= width <= wanted.width + wider:
            return False
        if orders is None:
            free = permutations(range(width), wanted.width)
            orders = (
                list(combinations(range(width), wanted.width)) if "columns" in asks else list(islice(free, MOST_ORDERS))
            )
        orders = [order for order in orders if wanted.is_met(result[0], order, slack, coarser)]
        if not orders:
            return False
    return True


@lru_cache(maxsize=64)
def _further(first: Path) -> list[Path]:
    return sorted(path for path in first.parent.iterdir() if re.fullmatch(rf"{re.escape(first.stem)}-\w+", path.stem))


# The query in the answer


def _only_query(completion: str, store: Path) -> str | None:
    """The answer's query; None where it holds none, two different ones, or says that it is wrong."""
    if len(completion) > LONGEST_ANSWER:
        return None
    blocks = [_ABOVE.sub("", found[1]).lstrip() for found in _FENCE.finditer(completion)]
    fenced = [block for block in blocks if _BEGINS.match(block)]
    bare = _bare(_FENCE.sub("\n\n", completion), store)
    queries = {" ".join(query.split()).rstrip("; "): query.rstrip("; \r\n") for query in (*fenced, *bare)}
    if len(queries) != 1:
        return None
    (query,) = queries.values()
    return query if _reads(store, query) else None


def _bare(text: str, store: Path) -> list[str]:
    """The queries that stand in a text. What SQLite cannot read is prose."""
    queries, place, tried = [], 0, 0
    for begin in _BEGINS.finditer(text):
        if begin.start() < place or tried >= MOST_TRIED:
            continue
        end = _ENDS.search(text, begin.start())
        assert end is not None, "the end of the text is one"
        query = text[begin.start() : end.start()].rstrip()
        while query and tried < MOST_TRIED and not _reads(store, query):
            tried += 1
            query = query.rpartition("\n")[0].rstrip()
        if query:
            queries.append(query)
            place = begin.start() + len(query)
    return queries


def _reads(store: Path, query: str) -> bool:
    """Whether SQLite reads a text as one query about this store."""
    if len(query) > LONGEST_QUERY or not _BEGINS.match(query):
        return False
    try:
        _connection(store, os.getpid(), threading.get_ident()).execute(f"EXPLAIN {query}").close()
    except (sqlite3.Error, sqlite3.Warning, ValueError):  # ValueError: zero bytes and lone surrogates
        return False
    return True


# The gold query


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the gold query gives on one store: segments of rows whose order within is free, and how many rows in all."""

    segments: tuple[tuple[Row, ...], ...]
    count: int
    width: int
    steps: int
    is_void: bool
    """The question has no answer here: NULL alone."""
    is_zero: bool
    """Nothing is counted here: a query with GROUP BY has no row then, and is as right."""

    def is_met(self, rows: Sequence[Row], order: Sequence[int], slack: float, coarser: bool = False) -> bool:
        """Whether these are the rows, their columns taken in that order; of the last segment only some are needed."""
        if len(rows) != self.count:
            return False
        left = [tuple(row[place] for place in order) for row in rows]
        for segment in self.segments:
            if not _among(segment, left[: len(segment)], slack, MOST_COARSE if coarser else 1.0):
                return False
            del left[: len(segment)]
        return True


@lru_cache(maxsize=4096)
def _wanted(store: Path, gold: str) -> Wanted:
    result = rows_of(store, gold.rstrip("; \n"), MOST_STEPS)
    if result is None:
        raise ValueError(f"the gold query does not run on {store}; mend the prompt set: {gold}")
    rows, steps = result
    segments = _segments(store, gold, rows)
    is_void = len(rows) == 1 and set(rows[0]) == {None}
    is_zero = len(rows) == 1 and set(rows[0]) == {0}
    return Wanted(tuple(segments), len(rows), len(rows[0]) if rows else 0, steps, is_void, is_zero)


def _segments(store: Path, gold: str, rows: tuple[Row, ...]) -> list[tuple[Row, ...]]:
    """The rows cut wherever the gold query's own order is free: nowhere if it does not sort.

    Ties are sorted both ways. Where both ways have had the same rows, a tie ends.
    """
    if not rows or not (both := _both_ways(gold)):
        return [rows] if rows else []
    up, down = (rows_of(store, query, MOST_STEPS) for query in both)
    if up is None or down is None:
        return [(row,) for row in rows]
    segments: list[tuple[Row, ...]] = []
    begin, ahead = 0, Counter[Row]()
    for end, (one, other) in enumerate(zip(up[0], down[0], strict=True), start=1):
        ahead[one] += 1
        ahead[other] -= 1
        if not any(ahead.values()):
            segments.append(up[0][begin:end])
            begin, ahead = end, Counter()
            if end >= len(rows):
                break
    return segments


@lru_cache(maxsize=4096)
def _both_ways(gold: str) -> tuple[str, str] | None:
    """A sorting query without its LIMIT, ties sorted by all columns upwards, and downwards; None without a sort."""
    tree = _tree(gold)
    if tree is None or tree.args.get("order") is None or tree.args.get("offset"):
        return None
    ways = []
    for descending in (False, True):
        way = tree.copy()
        way.set("limit", None)
        columns = [exp.Literal.number(place) for place in range(1, len(tree.selects) + 1)]
        for column in columns if not tree.is_star else []:
            way.args["order"].append(
                "expressions", exp.Ordered(this=column, desc=descending, nulls_first=not descending)
            )
        ways.append(way.sql("sqlite"))
    return ways[0], ways[1]


def _tree(sql: str) -> exp.Query | None:
    try:
        tree = sqlglot.parse_one(sql, dialect="sqlite")
    except (SqlglotError, RecursionError, ValueError):
        return None
    return tree if isinstance(tree, exp.Query) else None


@lru_cache(maxsize=4096)
def _slack(sql: str) -> float:
    """Half a unit of the coarsest place that a query rounds its result to; 0 where it rounds nothing. What a sum or a
    mean is made of is no result: a mean of rounded numbers is another number."""
    tree = _tree(sql)
    if tree is None:
        return 0.0
    made = [column for column in tree.selects if column.find(*_REDUCING)]
    places = [
        found.args.get("decimals")
        for part in made or [tree]
        for found in part.find_all(exp.Round)
        if not found.find_ancestor(*_REDUCING)
    ]
    return max(
        (0.5 * 10.0 ** -int(place.name if place and place.name.isdigit() else 0) for place in places), default=0.0
    )


# Rows


def _among(segment: Sequence[Row], rows: Sequence[Row], slack: float, share: float) -> bool:
    """Whether each row has one of its own in the segment: all but numbers equal, these up to `slack`."""
    own: defaultdict[Row, list[Row]] = defaultdict(list)
    for words, numbers in sorted(map(_split, segment), key=lambda row: row[1]):
        own[words].append(numbers)
    for words, numbers in sorted(map(_split, rows), key=lambda row: row[1]):
        left = own[words]
        found = next((place for place, other in enumerate(left) if _near(other, numbers, slack, share)), None)
        if found is None:
            return False
        del left[found]
    return True


def _split(row: Row) -> tuple[Row, Row]:
    """Everything but the numbers, at its place, and the numbers."""
    is_number = [isinstance(cell, int | float) for cell in row]
    words = tuple(None if number else (cell,) for cell, number in zip(row, is_number, strict=True))
    return words, tuple(cell for cell, number in zip(row, is_number, strict=True) if number)


def _near(gold: Row, ours: Row, slack: float, share: float) -> bool:
    return all(
        isclose(
            one, two, rel_tol=1e-6, abs_tol=1e-9 + min(slack, share * abs(one) if share < 1 else slack) * (1 + 1e-6)
        )
        for one, two in zip(gold, ours, strict=True)
    )


# SQLite


def rows_of(store: Path, query: str, most_steps: int) -> tuple[tuple[Row, ...], int] | None:
    """The rows of a query and its steps; None where it fails, takes more steps, or gives too many rows."""
    connection = _connection(store, os.getpid(), threading.get_ident())
    steps = 0

    def is_too_much() -> bool:
        nonlocal steps
        steps += STRIDE
        return steps > most_steps

    connection.set_progress_handler(is_too_much, STRIDE)
    try:
        with closing(connection.execute(query)) as cursor:
            rows = tuple(islice(cursor, MOST_ROWS + 1))
    except (sqlite3.Error, sqlite3.Warning, ValueError):
        return None
    return (rows, steps) if len(rows) <= MOST_ROWS else None


@lru_cache(maxsize=64)
def _connection(store: Path, _process: int, _thread: int) -> sqlite3.Connection:
    """To read one store; no process and no thread uses another's."""
    connection = sqlite3.connect(f"{store.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 4 * LONGEST_QUERY)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50)
    calendar = sqlite3.connect(":memory:")
    for name, place in _DATES.items():
        connection.create_function(name, -1, _without_clock(calendar, name, place), deterministic=True)
    connection.set_authorizer(_may)
    return connection


def _without_clock(calendar: sqlite3.Connection, name: str, place: int) -> Callable[..., Any]:
    """SQLite's function of that name; it fails where it would ask the clock or the time zone."""

    @lru_cache(maxsize=4096, typed=True)
    def call(*given: Any) -> Any:
        texts = {str(part, "latin-1") if isinstance(part, bytes) else str(part) for part in given}
        if len(given) <= place or any(text.split("\0")[0].lower() in _CLOCK for text in texts):
            raise ValueError("the same tomorrow and elsewhere")
        return calendar.execute(f"SELECT {name}({','.join('?' * len(given))})", given).fetchone()[0]

    return call


def _may(action: int, _one: str | None, function: str | None, _database: str | None, _source: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if str(function).lower() in _REFUSED else sqlite3.SQLITE_OK
    is_reading = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE)
    return sqlite3.SQLITE_OK if is_reading else sqlite3.SQLITE_DENY
