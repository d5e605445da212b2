"""The SQL query in a completion: found with sqlglot, run on SQLite inside tight limits.

A query can read and compute, nothing else. Its work is counted in steps of SQLite's virtual machine and never in time,
so that the same query gets the same verdict on a slow, a busy and a fast machine.
"""

import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from rewards.parsing.objects import is_parsable
from rewards.parsing.text import word_set

Row = tuple[Any, ...]

LONGEST_QUERY = 1024
"""Characters; sqlglot needs about 6 ms for the worst query of this length."""
MOST_PARSED = 2 * LONGEST_QUERY
"""Characters that are parsed in one completion, over all attempts to find its query."""
MOST_TABLES = 8
MOST_ROWS = 1000
MOST_CHARACTERS = 200_000
"""Characters and bytes in all cells of a result, so that neither it nor the cache of results grows large."""
FREE_STEPS = 200_000
"""Steps of SQLite's virtual machine that every answer may take, about 5 ms of work; or `GOLD_FACTOR` times the gold
query's.
"""
GOLD_FACTOR = 4
_STRIDE = 100
"""Steps between two looks at the budget."""

_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1000,  # so that no single step takes long, whatever it does to a text
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 2 * LONGEST_QUERY,
    sqlite3.SQLITE_LIMIT_COLUMN: 50,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 50,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 10,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 50,
}
_FUNCTIONS = word_set("""
    abs avg cast ceil ceiling char coalesce count cume_dist date datetime dense_rank first_value floor glob group_concat
    ifnull iif instr julianday lag last_value lead length like ln log log10 log2 lower ltrim max min mod nth_value ntile
    nullif percent_rank pow power rank replace round row_number rtrim sign sqrt strftime substr substring sum time total
    trim trunc typeof unicode unixepoch upper
    """)
"""What a query may call; printf, zeroblob and the like cost memory, random and load_extension worse."""
MOST_DATES = 4096
"""Calls of each date function whose values are kept: a store has few different days, and asking SQLite's own function
through Python costs ten times as much as the function itself.
"""
_TIME_FUNCTIONS = {"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1}
"""Where each takes its time."""
_CLOCKS = word_set("now subsec subsecond localtime utc")
"""Arguments that ask the clock or the time zone; newer SQLite takes the second and the third as now."""
_OTHER_DIALECT = re.compile("no such function|syntax error|unrecognized token")
"""What SQLite says about a query that it cannot read."""

_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\r?\n?(.*?)(?:```|\Z)", re.DOTALL)
_START = re.compile(r"\b(?:SELECT|WITH)\b", re.IGNORECASE)
_END = re.compile(r"'[^']*+'|(?P<end>;|\n[ \t\r]*\n|```)")
_FENCED_END = re.compile(r"'[^']*+'|(?P<end>;)")
_COMMENT = re.compile(r"'[^'\n]*+'|(?P<comment>--(?>(?:(?!```)[^\n])*)|/\*(?>(?:(?!\*/|```).)*)(?:\*/)?)", re.DOTALL)
_ALTERS = re.compile(
    r"(?:\A|[;\n])[ \t]*+(?:(?:DROP|ALTER|CREATE|TRUNCATE)\s+\w+\s+\w|TRUNCATE\s+\w+"
    r"|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|REPLACE\s+INTO|PRAGMA\s+\w+|ATTACH\s+DATABASE)\b",
    re.IGNORECASE,
)
"""A statement that is no query: prose begins with none."""

_OPTION = re.compile(
    r"(?im)(?<![ao] )\b(?:op[cç][aã]o|alternativa|resposta|vers[aã]o) (?:n\S{1,2} ?)?(?:\d|[a-d]\b)"
    r"|(?:\A|[.\n;])[ \t]{0,9}(?:=>|[&|/]|or:|ou:) ?\w[^|\n]{0,200}$"
)
"""How another answer begins («Alternativa 2: …»)."""

# Fuzzing met the first two only; the others are what a parser's bug raises, and one odd completion must not end a
# training run.
PARSER_FAULTS = (SqlglotError, RecursionError, ValueError, TypeError, AttributeError, IndexError, KeyError)


@dataclass(frozen=True, slots=True)
class Query:
    """A query as found, the prose around it and its code fence, its comments, and what else stands in its fence."""

    text: str
    prose: str
    comments: str = ""
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a query, and the steps of SQLite's virtual machine that it took, rounded up to a hundred."""

    rows: tuple[Row, ...]
    steps: int


def find_query(completion: str) -> Query | None:
    """The first query that sqlglot parses: in a code fence, else from SELECT or WITH to `;`, a blank line or the end.

    Last lines that are prose are dropped until the rest parses. What is commented out is no query. The time is bounded:
    only so many characters are ever parsed.
    """
    if not is_parsable(completion):
        return None
    parsed = 0
    bare = without_comments(completion)
    for start, end, fence in _statements(bare):
        statement = completion[start:end].rstrip()
        while statement:
            parsed += len(statement)
            if parsed > MOST_PARSED:
                return None
            if parse(statement):
                end = start + len(statement)
                taken = fence or slice(start, end)
                around = f"{completion[: taken.start]}\n{completion[taken.stop :]}"
                beside = f"{bare[taken.start : start]}\n{bare[end : taken.stop]}" if fence else ""
                found = (match["comment"] for match in _COMMENT.finditer(completion[taken]))
                comments = "\n".join(comment.strip("-/* \n") for comment in found if comment)
                return Query(statement, around, comments, beside.replace("```", " "))
            statement = statement.rpartition("\n")[0].rstrip()
    return None


def without_comments(text: str) -> str:
    """A text with SQL's comments as blanks and all else in its place."""
    return _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]) if match["comment"] else match[0], text)


def has_another(query: Query) -> bool:
    """Whether a second statement to choose from stands beside a query; the same one told again is none."""
    if _ALTERS.search(without_comments(f"{query.beside}\n{query.prose}")) or _OPTION.search(query.prose):
        return True
    further = (inside := find_query(query.beside)) or find_query(query.prose)
    if further is None or not (inside or any(name.startswith("table:") for name in names(further.text))):
        return False
    one, other = (" ".join(found.text.split()).rstrip("; ").casefold() for found in (query, further))
    return one != other


def _statements(completion: str) -> Iterator[tuple[int, int, slice | None]]:
    """Where a statement may stand: its start and end, and the code fence around it if there is one; fences come
    first.
    """
    for fence in _FENCE.finditer(completion):
        if start := _START.search(completion, fence.start(1), fence.end(1)):
            end = _end(_FENCED_END, completion, start.start(), fence.end(1))
            yield start.start(), end, slice(fence.start(), fence.end())
    for start in _START.finditer(completion):
        yield start.start(), _end(_END, completion, start.start(), len(completion)), None


def _end(ends: re.Pattern[str], completion: str, start: int, stop: int) -> int:
    return next((match.start() for match in ends.finditer(completion, start, stop) if match["end"]), stop)


@lru_cache(maxsize=512)
def parse(sql: str) -> exp.Expression | None:
    """The syntax tree of a query that selects something; None where sqlglot finds none or the text is too long."""
    if len(sql) > LONGEST_QUERY or sql.count("(") > 64:
        return None
    try:
        tree = sqlglot.parse_one(sql, dialect="sqlite")
    except PARSER_FAULTS:
        return None
    return tree if isinstance(tree, exp.Query) and tree.selects else None


@lru_cache(maxsize=4096)
def names(sql: str) -> frozenset[str]:
    """The tables and columns a query reads (`table:x`, `column:y`), without its CTEs and the aliases it sorts by."""
    tree = parse(sql)
    if tree is None:
        return frozenset()
    own = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    aliases = {alias.alias.lower() for alias in tree.find_all(exp.Alias)}
    tables = {table.name.lower() for table in tree.find_all(exp.Table)} - own
    columns = {shared.name.lower() for join in tree.find_all(exp.Join) for shared in join.args.get("using") or ()}
    for column in tree.find_all(exp.Column):
        name = column.name.lower()
        if name not in aliases or not column.find_ancestor(exp.Order, exp.Group, exp.Having):
            columns.add(name)
    return frozenset({f"table:{name}" for name in tables if name} | {f"column:{name}" for name in columns if name})


@lru_cache(maxsize=4096)
def is_ordered(sql: str) -> bool:
    """Whether a query fixes the order of its rows: an ORDER BY at its top level."""
    tree = parse(sql)
    return tree is not None and tree.args.get("order") is not None


@lru_cache(maxsize=256)
def run_query(database: Path, sql: str, most_steps: int = FREE_STEPS) -> Result | None:
    """The result of a query on a SQLite file, or None where it fails, reaches a limit, asks the clock or may not do
    what it does.

    A query that SQLite cannot read is tried once more as sqlglot translates it from PostgreSQL.
    """
    tree = parse(sql)
    if tree is None or sum(1 for _ in tree.find_all(exp.Table)) > MOST_TABLES:
        return None
    try:
        return _execute(database, sql, most_steps)
    except sqlite3.OperationalError as error:
        if not _OTHER_DIALECT.search(str(error)):
            return None
    except (sqlite3.Error, sqlite3.Warning, ValueError):  # ValueError: zero bytes and lone surrogates in the text
        return None
    try:
        return _execute(
            database,
            sqlglot.transpile(sql, read="postgres", write="sqlite", unsupported_level=ErrorLevel.IGNORE)[0],
            most_steps,
        )
    except (sqlite3.Error, *PARSER_FAULTS):
        return None


def _execute(database: Path, sql: str, most_steps: int) -> Result | None:
    """None for a result that is too large; sqlite3.OperationalError (interrupted) beyond the steps."""
    connection = _connection(database)
    steps = 0

    def is_over_budget() -> bool:
        nonlocal steps
        steps += _STRIDE
        return steps > most_steps

    connection.set_progress_handler(is_over_budget, _STRIDE)
    with closing(connection.execute(sql)) as cursor:
        rows = _fetch(cursor)
    return None if rows is None else Result(rows, steps + _STRIDE)


def _fetch(cursor: Iterable[Row]) -> tuple[Row, ...] | None:
    """All rows, or None where they are more than a result may hold."""
    rows: list[Row] = []
    characters = 0
    for row in cursor:
        rows.append(row)
        characters += sum(len(cell) for cell in row if isinstance(cell, str | bytes))
        if len(rows) > MOST_ROWS or characters > MOST_CHARACTERS:
            return None
    return tuple(rows)


_local = threading.local()


def _connection(database: Path) -> sqlite3.Connection:
    """This thread's connection, opened once; a forked child opens its own."""
    pool: dict[tuple[int, Path], sqlite3.Connection] = _local.__dict__.setdefault("pool", {})
    key = (os.getpid(), database)
    if key not in pool:
        pool[key] = _open(database)
    return pool[key]


def _open(database: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    calendar = sqlite3.connect(":memory:")
    for name, place in _TIME_FUNCTIONS.items():
        timeless = lru_cache(maxsize=MOST_DATES, typed=True)(_timeless(calendar, name, place))
        connection.create_function(name, -1, timeless, deterministic=True)
    connection.set_authorizer(_authorize)
    return connection


def _timeless(calendar: sqlite3.Connection, name: str, place: int) -> Callable[..., Any]:
    """SQLite's own function `name`, but ValueError where it would ask the machine's clock or its time zone, however
    that is spelt.
    """

    def call(*arguments: Any) -> Any:
        texts = [str(value, "latin-1") if isinstance(value, bytes) else str(value) for value in arguments]
        texts = [text.partition("\0")[0].lower() for text in texts]  # SQLite reads up to a zero byte
        if len(texts) <= place or not _CLOCKS.isdisjoint(texts):
            raise ValueError("a result must not depend on when and where it is computed")
        return calendar.execute(f"SELECT {name}({','.join('?' * len(arguments))})", arguments).fetchone()[0]

    return call


def _authorize(
    action: int, _first: str | None, function: str | None, _database: str | None, _trigger: str | None
) -> int:
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE):
        return sqlite3.SQLITE_OK
    allowed = action == sqlite3.SQLITE_FUNCTION and function in _FUNCTIONS
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY
