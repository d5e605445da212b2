"""A new SQLite database of MLflow's is made whole or made again.

Its migrations take seconds and are no transaction: a process that ends between two of them, however it does, leaves
tables without the version that says so, and no later one can go on from there.
"""

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tucano.storage.places import require_file

MARK = ".unfinished"


@contextmanager
def made_whole(file: Path | None) -> Iterator[None]:
    """Make a database inside of this. Until it is done a file stands beside it; what is found beside such a file holds
    nothing yet and is made anew. Others who want it at the same time wait. None: no file of ours.
    """
    mark = file.with_name(file.name + MARK) if file else None
    if file is None or mark is None or (file.exists() and not mark.exists()):
        yield
        return
    try:
        is_left = not _made(mark)
    except OSError:
        yield  # whoever opens the database says why
        return
    with mark.open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if is_left and mark.exists() and not _holds_runs(file):  # else somebody has made it meanwhile
            for part in (file, *(file.with_name(file.name + end) for end in ("-journal", "-wal", "-shm"))):
                part.unlink(missing_ok=True)
        yield
        mark.unlink(missing_ok=True)


def _made(mark: Path) -> bool:
    """Whether the mark was not there. UserError for a pipe or a folder in its place."""
    mark.parent.mkdir(parents=True, exist_ok=True)
    require_file(mark)
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _holds_runs(file: Path) -> bool:
    """Whether somebody has worked with it all the same: such a database is never taken away."""
    if not file.exists():
        return False
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            runs, experiments = (
                connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("runs", "experiments")
            )
    except sqlite3.Error:
        return False
    return bool(runs or experiments > 1)
