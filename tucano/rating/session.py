"""One rater's way through the completions of a rating folder: blind, in an order of their own, every rating on disk at
once.

What a rater sees is a `View`, and a view holds nothing of reward, model or origin. Where somebody stands follows from
the ratings on disk alone, so that a session goes on where it stopped, however it stopped. Raters may share a folder at
the same time.
"""

import fcntl
import json
import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from tucano.errors import UserError
from tucano.prompts import TASKS, Task
from tucano.rating.draw import Candidate
from tucano.rating.files import MOST_BYTES, RaterKind, RatingLine, lines, opened, write
from tucano.rating.ratings import RATINGS, parse_rating, read_records
from tucano.security.printable import printable

CHOICES = (1, 2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class Item:
    """One completion as a rater sees it. `id` only names it in the answer."""

    id: str
    task: Task
    prompt: str
    completion: str


@dataclass(frozen=True, slots=True)
class View:
    """What is to be rated now (None: everything is rated), how far the rater is, and the rating they gave last."""

    item: Item | None
    rated: int
    total: int
    last: int | None


def own_order(candidates: Sequence[Candidate], rater: str) -> list[Candidate]:
    """Task after task, so that a rater keeps one part of the guide in mind; tasks and completions in an order of this
    rater's own.

    Completions of one prompt do not stand together: each is to be rated by itself.
    """
    rng = random.Random(rater)
    present = [task for task in TASKS if any(candidate.prompt.task == task for candidate in candidates)]
    tasks = rng.sample(present, len(present))
    shuffled = rng.sample(candidates, len(candidates))
    return sorted(shuffled, key=lambda candidate: tasks.index(candidate.prompt.task))


class Session:
    """A rater at work. Safe from several threads and beside sessions of other raters: every change holds the folder's
    lock.
    """

    def __init__(self, folder: Path, candidates: Sequence[Candidate], rater: str, kind: RaterKind) -> None:
        self.rater = rater
        self.kind = kind
        self._folder = folder
        self._path = folder / RATINGS
        self._order = own_order(candidates, rater)
        self._by_id = {candidate.id: candidate for candidate in candidates}
        with _held(folder):
            _mend_end(self._path)
            self._mine()

    def view(self) -> View:
        with _held(self._folder):
            mine = self._mine()
        left = next((candidate for candidate in self._order if candidate.id not in mine), None)
        item = Item(left.id, left.prompt.task, left.prompt.user, left.completion) if left else None
        return View(item, len(mine), len(self._order), next(reversed(mine.values()), None))

    def rate(self, item: str, rating: int) -> None:
        """Write the rating of an item. One that has been rated, from a page that is no longer the current one, stays as
        it is.
        """
        if rating not in CHOICES or item not in self._by_id:
            raise ValueError(f"no rating {rating} of item {item}")
        with _held(self._folder):
            _mend_end(self._path)
            if item in self._mine():
                return
            record = {**asdict(self._by_id[item]), "rating": rating, "rater": self.rater, "rater_kind": self.kind}
            with opened(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as file:
                file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())

    def skip(self, item: str) -> None:
        """Leave an item for the end of this sitting."""
        with _held(self._folder):
            self._order.sort(key=lambda candidate: candidate.id == item)

    def undo(self) -> None:
        """Take back the rating that this rater gave last, also in an earlier sitting; its item comes next."""
        with _held(self._folder):
            _mend_end(self._path)
            given = [(place, _id(record)) for place, record in enumerate(self._records()) if self._is_mine(record)]
            if not given:
                return
            place, item = given[-1]
            kept = lines(self._path)
            del kept[place]
            write(self._path, "".join(f"{line}\n" for line in kept))
            self._order.sort(key=lambda candidate: candidate.id != item)

    def _records(self) -> list[RatingLine]:
        return read_records(self._path) if self._path.exists() else []

    def _mine(self) -> dict[str, int]:
        """{item: rating} in the order in which this rater gave them."""
        return {_id(record): record.rating for record in self._records() if self._is_mine(record)}

    def _is_mine(self, record: RatingLine) -> bool:
        return record.rater == self.rater and _id(record) in self._by_id


def check_rater(folder: Path, rater: str, kind: RaterKind, is_new: bool) -> None:
    """UserError for a name that is probably a slip: ratings under two names of one person would count as two raters."""
    if not rater.strip() or not rater.isprintable():
        raise UserError(
            f"--rater {rater!r} is not a name; give the one under which your ratings are kept, like --rater ana"
        )
    path = folder / RATINGS
    if not path.exists():
        return
    with _held(folder):
        _mend_end(path)
        known = {record.rater: record.rater_kind for record in read_records(path)}
    if known and rater not in known and not is_new:
        raise UserError(
            f"there is no rater {rater!r} in {folder} yet (it has: {printable(', '.join(known))}); add --new-rater if"
            " somebody new rates"
        )
    if known.get(rater, kind) != kind:
        raise UserError(
            f"rater {rater!r} is a {known[rater]} in {path}; choose another name, or add --kind {known[rater]}"
        )


def _id(record: RatingLine) -> str:
    return Candidate(record.prompt, record.completion, record.origin, record.model).id


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """One reader or writer of the folder's ratings at a time, over threads and processes."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _mend_end(path: Path) -> None:
    """Cut off a last line that was torn while it was written; one that only lacks its newline gets it."""
    if not (path.is_symlink() or path.exists()):
        return
    with opened(path, os.O_RDWR) as file:
        whole, newline, torn = file.read(MOST_BYTES).rpartition(b"\n")
        if not torn or file.read(1):
            return
        try:
            parse_rating(torn.decode(), str(path))
        except ValueError:  # a UserError, or bytes cut within a character
            file.truncate(len(whole) + len(newline))
        else:
            file.write(b"\n")
