"""The storage root: everything a run writes lies under one folder."""

import logging
import os
import re
import shlex
import socket
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Timer
from urllib.parse import unquote, urlsplit

from tucano.errors import UserError
from tucano.storage.folder import Folder, is_remote, remote_of

UNUSABLE = re.compile(r"[\x00-\x1f\x7f?\"]|::")
"""What the path of a storage root must not hold: `?` ends a database's address, and `::` chains file systems. Quotes, #
and spaces may.
"""
FOLDERS = (
    "artifacts", "locks", "logs", "looks", "mlflow", "monitoring", "overview", "prefect", "replies", "stack",
    "tried", "work",
)  # fmt: skip
"""What is made in a storage root."""
WILDCARDS = re.compile(r"[*?\[]")
"""A remote storage would remove everything that such an address matches."""
SILENT_SECONDS = 5
"""How long a remote storage may take to answer before that is said."""


def working_copy(storage: str) -> Path:
    """The storage root on this machine: the folder itself, or the one that is copied to remote storage."""
    if is_remote(storage):
        return Path("runs", re.sub(r"[^\w.-]+", "-", storage)).resolve()
    path = _path_of(storage) if storage.startswith("file:") else storage
    if "\0" in path:
        raise UserError(f"storage={storage!r} has a zero byte in its path, which no folder has; choose another")
    try:
        return Path(path).resolve()
    except RuntimeError:  # Python's word for it; OSError from 3.13 on
        raise UserError(
            f"storage={storage} leads through links that lead to each other; name the folder itself"
        ) from None


def _path_of(address: str) -> str:
    """What a `file:` address means. UserError for one that leads elsewhere, or nowhere in particular."""
    parts = urlsplit(address)
    if parts.netloc not in ("", "localhost") or not parts.path.startswith("/") or "?" in address or "#" in address:
        raise UserError(
            f"storage={address} is no address of a folder here; write the folder itself, or file:///… with %23 for #"
            " (a folder whose name begins with file: is ./file:…)"
        )
    try:
        return unquote(parts.path, errors="strict")
    except UnicodeDecodeError:
        raise UserError(
            f"storage={address} writes a name that is not UTF-8; choose a folder whose name is, or rename it"
        ) from None


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
    require_usable(root)
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        root.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"storage {root} cannot be written ({error.strerror}); choose another folder with --set storage=FOLDER"
        ) from error
    for place in (root / name for name in FOLDERS):
        if os.path.lexists(place) and not place.is_dir():
            raise UserError(f"{place} is no folder; move it away, and the same command makes one")
    if root.stat().st_mode & 0o067 == 0:
        os.umask(0o077)
    return root


def require_usable(root: Path) -> None:
    """UserError for a path that a database's address cannot hold: it would be another file's."""
    if found := UNUSABLE.search(str(root.absolute())):
        raise UserError(
            f"storage {str(root)!r} has {found[0]!r} in its path, which the databases in it cannot take; choose another"
            " folder, or rename it"
        )


def _require_remote(storage: str) -> None:
    if is_remote(storage) and WILDCARDS.search(storage):
        raise UserError(
            f"storage={storage} has one of * ? [ in its address, which stand for other names there; choose another"
        )
    name = f".write-test-{socket.gethostname()}-{os.getpid()}"
    try:
        place = remote_of(storage)
        if place is not None:
            with _waiting(storage, place):
                place.create(name, b"tucano")
                place.fs.rm_file(f"{place.root}/{name}")
    except Exception as error:  # every kind of storage raises its own kinds
        raise UserError(
            f"storage={storage} cannot be written ({type(error).__name__}: {error}); see docs/resume.md"
        ) from error


@contextmanager
def _waiting(storage: str, place: Folder) -> Iterator[None]:
    """Says whom a long silence waits for. What the file system's library reports of each of its tries is left out: the
    last one's error is the sentence.
    """
    library = logging.getLogger(type(place.fs).__module__.partition(".")[0])
    level = library.level
    said = f"tucano: storage={storage} does not answer yet; it is asked again for some time"
    timer = Timer(SILENT_SECONDS, partial(print, said, file=sys.stderr, flush=True))
    library.setLevel(logging.CRITICAL + 1)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        library.setLevel(level)


def require_whole(database: Path, holds: str) -> None:
    """UserError when an SQLite file is damaged; `holds` says what is lost with it. One that is not there, or is being
    written, is whole.
    """
    place = shlex.quote(str(database))
    if not os.path.lexists(database):
        return
    may_write = partial(os.access, mode=os.R_OK | os.W_OK, effective_ids=True)
    if database.is_file() and not (may_write(database) and may_write(database.parent)):
        raise UserError(
            f"{database} cannot be written, and every command writes to it; give yourself leave: "
            f"chmod u+rwX {shlex.quote(str(database.parent))} {place}"
        )
    found = _damage(database)
    if found is not None:
        raise UserError(
            f"{database} is damaged ({found}); it holds {holds}. Move it away, and the same command begins a new one: "
            f"mv {place} {place}.damaged"
        )


def _damage(database: Path) -> str | None:
    """What is wrong with an SQLite file."""
    if not database.is_file():
        return "it is no file"
    try:
        with closing(sqlite3.connect(database, timeout=20)) as connection:
            found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0]).splitlines()[-1]
    except sqlite3.OperationalError:
        return None
    except sqlite3.DatabaseError as error:
        found = str(error)
    return None if found == "ok" else found
