"""The store that a rating folder's SQL prompts ask about, from its dump: somebody else's SQL.

It runs in memory, with leave to create tables and indexes and to insert rows, inside limits of size and time. Nothing
else of SQLite can be reached: no other file, no setting, no trigger, no virtual table.
"""

import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tucano.errors import UserError
from tucano.files.prompts import STORE
from tucano.rating.files import MOST_BYTES, opened, read, write
from tucano.security.printable import short

STORE_DUMP = "store.sql"
MOST_PAGES = 2**16
"""Of 4 KB, in memory."""
MOST_SECONDS = 60.0
MOST_TABLES = 200
"""And indexes."""
LONGEST_CELL = 1_000_000
LONGEST_SHOWN = 80
_STRIDE = 10_000
"""Steps of SQLite's virtual machine between two looks at the clock."""
_OF_A_STORE = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_INSERT,
    sqlite3.SQLITE_REINDEX,
    sqlite3.SQLITE_TRANSACTION,
)
_CREATE = (sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_INDEX)
_BOOKKEEPING = {
    (sqlite3.SQLITE_UPDATE, "sqlite_master"),  # what creating a table writes
    (sqlite3.SQLITE_DELETE, "sqlite_sequence"),  # what a dump does to the counters of AUTOINCREMENT
    (sqlite3.SQLITE_PRAGMA, "foreign_keys"),  # how a dump of the sqlite3 program begins
}
_TO_LOOK = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ)
_FUNCTIONS = ("replace", "char")
"""The sqlite3 program writes line breaks with them."""
_TO_DUMP = ("quote", "table_info")
"""What Python's `iterdump` asks for."""


@contextmanager
def rating_store(folder: Path) -> Iterator[Path]:
    """A temporary folder that holds the rating set's stores as SQLite files; empty where the set has no dump."""
    with tempfile.TemporaryDirectory(prefix="tucano-audit-") as name:
        fill(Path(name), folder)
        yield Path(name)


def fill(place: Path, folder: Path, called: str = STORE) -> None:
    """Put the rating set's stores there as SQLite files; the first one's name is `called`, as the others' begin."""
    for dump in stores_in(folder, Path(STORE_DUMP).suffix):
        name = dump.stem.replace(Path(STORE).stem, Path(called).stem, 1)
        with closing(load(read(dump), dump)) as store, closing(sqlite3.connect(place / f"{name}.sqlite")) as file:
            store.backup(file)


def stores_in(folder: Path, suffix: str) -> list[Path]:
    """The store of a folder and the further ones of the same questions, as dumps (.sql) or SQLite files (.sqlite); none
    without the first.
    """
    first = folder / f"{Path(STORE).stem}{suffix}"
    if not (first.is_symlink() or first.exists()):
        return []
    return [first, *sorted(folder.glob(f"{first.stem}-*{suffix}"))]


def load(dump: str, where: Path) -> sqlite3.Connection:
    """The store in memory. UserError for a dump that does anything but fill tables; `where` names it."""
    connection = sqlite3.connect(":memory:")
    connection.execute(f"PRAGMA max_page_count = {MOST_PAGES}")
    made = 0

    def is_allowed(
        action: int, name: str | None, function: str | None, _database: str | None, _trigger: str | None
    ) -> bool:
        nonlocal made
        made += action in _CREATE
        if made > MOST_TABLES:
            return False
        if action == sqlite3.SQLITE_FUNCTION:
            return function in _FUNCTIONS
        return action in _OF_A_STORE or action in _CREATE or (action, name) in _BOOKKEEPING

    _confine(connection, is_allowed)
    try:
        connection.executescript(dump)
        if connection.in_transaction:
            raise ValueError("it ends within a transaction, so its end is missing")
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:  # ValueError: a zero byte too
        connection.close()
        raise UserError(
            f"{where} is no store: {short(str(error))}. It may create tables and indexes and insert rows, "
            f"{MOST_TABLES} tables and {MOST_PAGES * 4 // 1024} MB at most; mend it"
        ) from None
    return connection


def keep(store: Path, dump: Path) -> None:
    """Write the dump of a store (a SQLite file, or a dump already) where a rating folder keeps it. UserError for what
    is no store.
    """
    if store.resolve() == dump.resolve():
        return
    text = read(store) if store.suffix == dump.suffix else _dumped(store)
    load(text, store).close()
    write(dump, text)


def _dumped(store: Path) -> str:
    with opened(store, os.O_RDONLY) as file:
        size = os.fstat(file.fileno()).st_size
    if size > MOST_BYTES:
        raise UserError(f"{store} has more than {MOST_BYTES // 2**20} MB; a smaller store is enough to rate answers")
    with closing(_read_only(store)) as connection:
        _confine(
            connection,
            lambda action, name, function, *_: action in _TO_LOOK or name in _TO_DUMP or function in _TO_DUMP,
        )
        try:
            return "".join(f"{statement}\n" for statement in connection.iterdump())
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            raise UserError(
                f"{store} is no store: {short(str(error))}; it may hold ordinary tables and indexes"
            ) from None


def tables(folder: Path) -> list[tuple[str, list[str], list[str]]]:
    """(table, columns, values of its first row) of the folder's store, by name: which columns there are and how values
    are written.
    """
    with rating_store(folder) as place:
        if not (place / STORE).is_file():
            return []
        with closing(_read_only(place / STORE)) as connection:
            _confine(connection, lambda action, _, function, *__: action in _TO_LOOK or function in _FUNCTIONS)
            try:
                names = [
                    name
                    for (name,) in connection.execute(
                        "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
                    )
                ]
                return [_table(connection, name) for name in names]
            except sqlite3.Error as error:
                raise UserError(f"{folder / STORE_DUMP} cannot be shown: {short(str(error))}; mend it") from None


def _table(connection: sqlite3.Connection, name: str) -> tuple[str, list[str], list[str]]:
    quoted = name.replace('"', '""')
    rows = connection.execute(f'SELECT * FROM "{quoted}" LIMIT 1')
    columns = [description[0] for description in rows.description]
    return name, columns, ["NULL" if value is None else str(value)[:LONGEST_SHOWN] for value in next(rows, ())]


Allowed = Callable[[int, str | None, str | None, str | None, str | None], bool]
"""What SQLite asks an authorizer: the kind of action, two names, the database, and the trigger or view that wants
it.
"""


def _confine(connection: sqlite3.Connection, is_allowed: Allowed) -> None:
    """Bound what statements may do from here on, how long they take and how large a cell becomes."""
    deadline = time.monotonic() + MOST_SECONDS

    def authorize(action: int, first: str | None, second: str | None, database: str | None, source: str | None) -> int:
        leave = time.monotonic() < deadline and is_allowed(action, first, second, database, source)
        return sqlite3.SQLITE_OK if leave else sqlite3.SQLITE_DENY

    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_CELL)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.set_authorizer(authorize)
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STRIDE)


def _read_only(store: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{store.resolve().as_uri()}?mode=ro", uri=True)
