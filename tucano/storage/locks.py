"""Who is at work, known by locks that go with their process, however it ends.

    owner.lock             held by the one run that owns a folder
    in-use.lock            shared by all that work in a storage, held alone by who tidies it up
    locks/mlflow/4f0c…     held for as long as a process fills the MLflow run of that name

A file under `locks` that nobody holds was left by a process that was killed: what it was at is not being done by
anybody.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tucano.errors import UserError
from tucano.storage.places import require_file

FILLED = "locks/mlflow"
"""Below a storage root: the MLflow runs that processes of this machine are filling (tucano/storage/locks.py)."""
IN_USE, OWNER = "in-use.lock", "owner.lock"


def is_storage(root: Path) -> bool:
    """Whether a run, or `tucano up`, has worked in a folder: each leaves its lock."""
    return any((root / name).is_file() for name in (IN_USE, OWNER, f"stack/{OWNER}"))


@contextmanager
def owned(root: Path, wait: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hold a folder for one run at a time; the lock goes with the process, however it ends.

    Where somebody else holds it: UserError, or `wait` hears so and it is waited for.
    """
    root.mkdir(parents=True, exist_ok=True)
    with _opened(root / OWNER) as file:
        if not _locked(file, fcntl.LOCK_EX):
            file.seek(0)
            owner = file.read().strip()
            if wait is None:
                raise UserError(
                    f"storage {root} is in use by another run (process {owner}); wait for it, or use --set"
                    " storage=FOLDER"
                )
            wait(f"process {owner} is at it as well ({root.name}); this run goes on when that one has ended")
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


@contextmanager
def shared(root: Path, wait: Callable[[str], None]) -> Iterator[None]:
    """Work in a storage beside others, and keep `alone` out until it ends. While that one is at it, `wait` hears so,
    once.
    """
    root.mkdir(parents=True, exist_ok=True)
    with _opened(root / IN_USE) as file:
        if not _locked(file, fcntl.LOCK_SH):
            wait(f"storage {root} is being tidied up; this goes on when that has ended")
            fcntl.flock(file, fcntl.LOCK_SH)
        yield


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Hold a storage that no run is at work in, of this machine's: UserError where there is one. A run that begins
    meanwhile waits.
    """
    with _opened(root / IN_USE) as file:
        if not _locked(file, fcntl.LOCK_EX):
            raise UserError(f"storage {root} is in use by a run; wait until it has ended, then try again")
        with owned(root):
            yield


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
    for path in sorted(path for path in folder.glob("[!.]*") if path.is_file()):
        with path.open() as file:
            if _locked(file, fcntl.LOCK_EX):
                yield path.name
                path.unlink(missing_ok=True)


def is_claimed(folder: Path, name: str) -> bool:
    """Whether a living process of this machine has claimed a name."""
    try:
        with (folder / name).open() as file:
            return not _locked(file, fcntl.LOCK_SH)
    except FileNotFoundError:
        return False


def _locked(file: IO[str], how: int) -> bool:
    """Whether the lock could be had at once."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _opened(lock: Path) -> IO[str]:
    require_file(lock)
    return lock.open("a+", encoding="utf-8")
