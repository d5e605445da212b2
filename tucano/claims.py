"""Who is at work, known by a lock that goes with the process, however it ends.

    locks/mlflow/4f0c…     a locked file, for as long as a process fills the MLflow run of that name

A file that nobody holds was left by a process that was killed: what it was at is not being done by anybody.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def claimed(folder: Path, name: str) -> Iterator[None]:
    """Claim a name for the time being. The file takes its place once it is locked, so an unlocked one is always an
    abandoned one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{name}-{os.getpid()}"
    with draft.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        draft.replace(folder / name)
        try:
            yield
        finally:
            (folder / name).unlink(missing_ok=True)


def abandoned(folder: Path) -> Iterator[str]:
    """The names that were claimed by processes which are dead. One that was given out is not given out again."""
    for path in sorted(folder.glob("[!.]*")):
        with path.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield path.name
            path.unlink(missing_ok=True)
