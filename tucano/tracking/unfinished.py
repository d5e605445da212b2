"""A new SQLite database of MLflow's is there once it is whole.

Its migrations take seconds and are no transaction: a process that ends between two of them, however it does, leaves
tables without the version that says so, and no later one can go on from there.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UNFINISHED = ".unfinished"


def make_whole(file: Path) -> None:
    """Make the database under another name, unless it is there. Others who want it at the same time wait, what a killed
    process has left is made anew, and one that a server has made meanwhile stays.
    """
    if file.exists():
        return
    from mlflow.store.db.utils import _initialize_tables
    from sqlalchemy import create_engine

    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(file.name + UNFINISHED)
    with _alone_in(file.parent):
        if not file.exists():
            for end in ("", "-journal", "-wal", "-shm"):
                part.with_name(part.name + end).unlink(missing_ok=True)
            engine = create_engine(f"sqlite:///{part}")
            _initialize_tables(engine)
            engine.dispose()
            if file.exists():
                part.unlink()
            else:
                part.replace(file)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)
