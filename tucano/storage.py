"""The storage root: everything a run writes lies under one folder.

`Place` is a folder in any storage that fsspec reaches. What is written to one is complete when its manifest, sent last,
is there.
"""

import fcntl
import os
import re
import shlex
import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from fsspec.core import url_to_fs

from tucano.errors import UserError

UNSAFE_NAME = re.compile(r"[\x00-\x1f\x7f\\:]")
"""Characters that part a path, name a drive or end a name somewhere."""
UNUSABLE = re.compile(r"[\x00-\x1f\x7f?\"]|::")
"""What the path of a storage root must not hold: `?` ends a database's address, and `::` chains file systems. Quotes, #
and spaces may.
"""
FILLED = "locks/mlflow"
"""Below a storage root: the MLflow runs that processes of this machine are filling (tucano/claims.py)."""
WILDCARDS = re.compile(r"[*?\[]")
"""A remote storage would remove everything that such an address matches."""


class Place:
    """A folder at a local path or an fsspec URL; names are relative to it, with slashes."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.fs, self.root = url_to_fs(url)

    def names(self, folder: str) -> list[str]:
        """What lies directly in a folder, sorted; nothing where there is none."""
        self.fs.invalidate_cache()
        try:
            found = {path.rstrip("/").rpartition("/")[2] for path in self.fs.ls(self._path(folder), detail=False)}
            return sorted(found - {".", ".."})
        except FileNotFoundError:
            return []

    def read(self, name: str) -> bytes:
        return self.fs.cat_file(self._path(name))

    def create(self, name: str, content: bytes) -> None:
        """Write a file that must not exist yet; FileExistsError when it does."""
        self.fs.makedirs(self._path(""), exist_ok=True)
        self.fs.pipe_file(self._path(name), content, mode="create")

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whether or not it exists."""
        target = self._path(name)
        self.fs.makedirs(target.rpartition("/")[0], exist_ok=True)
        self.fs.pipe_file(target, content)

    def push(self, folder: Path, name: str, last: str) -> None:
        """Upload a folder; its file `last`, which makes it complete, is taken away first and sent last."""
        if last in self.names(name):
            self.fs.rm_file(self._path(f"{name}/{last}"))
        files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / last]
        for path in [*files, folder / last]:
            target = self._path(f"{name}/{path.relative_to(folder).as_posix()}")
            self.fs.makedirs(target.rpartition("/")[0], exist_ok=True)
            self.fs.put_file(str(path), target)

    def pull(self, name: str, folder: Path) -> None:
        """Download a folder; it stands in its place only once it is there whole."""
        draft = folder.with_name(f"{folder.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)  # not through a link that somebody has put there
        for path, about in self.fs.find(self._path(name), detail=True).items():
            if path.endswith("/"):  # some stores keep an object for a folder
                continue
            target = draft / self._below(path, name, is_link=about.get("islink", False))
            target.parent.mkdir(parents=True, exist_ok=True)
            self.fs.get_file(path, str(target))
        draft.replace(folder)

    def _below(self, path: str, name: str, is_link: bool) -> str:
        """The name of an object relative to its folder. Whoever writes the storage chooses it: UserError where it leads
        out of the folder.
        """
        folder = f"{self._path(name)}/"
        relative = path.removeprefix(folder)
        parts = relative.split("/")
        if (
            is_link
            or not path.startswith(folder)
            or UNSAFE_NAME.search(relative)
            or not {"", ".", ".."}.isdisjoint(parts)
        ):
            raise UserError(f"{self.url}: its object {path!r} would be written outside the folder {name}; remove it")
        return relative

    def remove(self, name: str, first: str | None = None) -> None:
        """Delete a folder if it is there, its file `first` before the others, so that a half-deleted one is visibly
        incomplete.
        """
        if first is not None and first in self.names(name):
            self.fs.rm_file(self._path(f"{name}/{first}"))
        if self.names(name):
            self.fs.rm(self._path(name), recursive=True)

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}".rstrip("/")


def remote_of(storage: str) -> Place | None:
    """The remote storage, where `storage` is the URL of one."""
    return Place(storage) if "://" in storage and not storage.startswith("file://") else None


def working_copy(storage: str) -> Path:
    """The storage root on this machine: the folder itself, or the one that is copied to remote storage."""
    if "://" in storage and not storage.startswith("file://"):
        return Path("runs", re.sub(r"[^\w.-]+", "-", storage)).resolve()
    return Path(storage.removeprefix("file://")).resolve()


def writable(storage: str) -> Path:
    """The storage root on this machine, made if needed. UserError when it, or the remote storage, cannot be written."""
    _require_remote(storage)
    root = working_copy(storage)
    probe = root / f".write-test-{os.getpid()}"
    try:
        private(root)
        probe.write_bytes(b"tucano")
        probe.unlink()
    except OSError as error:
        raise UserError(
            f"storage={storage} cannot be written ({error.strerror}); choose another folder with --set storage=FOLDER"
        ) from error
    return root


def private(root: Path) -> Path:
    """A storage root, made for its user alone where it does not exist: what runs write quotes data. UserError for an
    unusable path.

    What this process makes from then on is its user's alone too, if others may not read the root: then who may pass
    through it (PostgreSQL's user) finds nothing open there.
    """
    found = UNUSABLE.search(str(root.absolute()))
    if found:
        raise UserError(
            f"storage {str(root)!r} has {found[0]!r} in its path, which the databases in it cannot take; choose another"
            " folder"
        )
    root.parent.mkdir(parents=True, exist_ok=True)
    root.mkdir(mode=0o700, exist_ok=True)
    if root.stat().st_mode & 0o067 == 0:
        os.umask(0o077)
    return root


def _require_remote(storage: str) -> None:
    if remote_of(storage) is not None and WILDCARDS.search(storage):
        raise UserError(
            f"storage={storage} has one of * ? [ in its address, which stand for other names there; choose another"
        )
    name = f".write-test-{socket.gethostname()}-{os.getpid()}"
    try:
        place = remote_of(storage)
        if place is not None:
            place.create(name, b"tucano")
            place.fs.rm_file(f"{place.root}/{name}")
    except Exception as error:  # every kind of storage raises its own kinds
        raise UserError(
            f"storage={storage} cannot be written ({type(error).__name__}: {error}); see docs/resume.md"
        ) from error


@contextmanager
def owned(root: Path, wait: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hold a folder for one run at a time; the lock goes with the process, however it ends.

    Where somebody else holds it: UserError, or `wait` hears so and it is waited for.
    """
    root.mkdir(parents=True, exist_ok=True)
    with (root / "owner.lock").open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            owner = file.read().strip()
            if wait is None:
                raise UserError(
                    f"storage {root} is in use by another run (process {owner}); wait for it, or use --set"
                    " storage=FOLDER"
                ) from None
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
    with (root / "in-use.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            wait(f"storage {root} is being tidied up; this goes on when that has ended")
            fcntl.flock(file, fcntl.LOCK_SH)
        yield


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Hold a storage that no run is at work in, of this machine's: UserError where there is one. A run that begins
    meanwhile waits.
    """
    with (root / "in-use.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"storage {root} is in use by a run; wait until it has ended, then try again") from None
        with owned(root):
            yield


def require_whole(database: Path, holds: str) -> None:
    """UserError when an SQLite file is damaged; `holds` says what is lost with it. One that is not there, or is being
    written, is whole.
    """
    if not database.is_file():
        return
    try:
        with closing(sqlite3.connect(database, timeout=20)) as connection:
            found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0]).splitlines()[-1]
    except sqlite3.OperationalError:
        return
    except sqlite3.DatabaseError as error:
        found = str(error)
    if found != "ok":
        place = shlex.quote(str(database))
        raise UserError(
            f"{database} is damaged ({found}); it holds {holds}. Move it away, and the same command begins a new one: "
            f"mv {place} {place}.damaged"
        )
