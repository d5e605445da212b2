"""What raters said, in a file of the rating folder, one line each: every line is on disk before the next is asked for.

Several people may work in one folder at the same time, and a line that was torn by a power cut is cut off.
"""

import fcntl
import json
import os
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from tucano.errors import UserError
from tucano.rating.files import LONGEST_LINE, MOST_BYTES, Judged, RaterKind, lines, opened, parse, write
from tucano.security.printable import printable, short

J = TypeVar("J", bound=Judged)
LONGEST_NAME = 200
_UNSEEN = "case, spaces and invisible characters"
_BLANK = "\u034f\u115f\u1160\ufe0e\ufe0f"
"""Letters and marks that show nothing."""


@dataclass(frozen=True, slots=True)
class Ledger(Generic[J]):
    """The file at `path`, whose lines are a `kind`, called `what` where one is none. Only who holds it may call the
    other methods.
    """

    path: Path
    kind: type[J]
    what: str

    @contextmanager
    def held(self) -> Iterator[None]:
        """One reader or writer of the folder at a time, over threads and processes."""
        handle = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def read(self) -> list[J]:
        """Raises UserError naming the first line that is none, or whose rater is another one by name or kind than
        before.
        """
        records = self._told([])
        _check_raters(records)
        return [record for _, record in records]

    def _told(self, further: list[str]) -> list[tuple[str, J]]:
        """(where, what) of the file's lines and further ones behind them."""
        known = lines(self.path) if self.path.exists() else []
        places = ((f"{self.path} line {place}", line) for place, line in enumerate([*known, *further], start=1))
        return [(where, parse(self.kind, line, where, self.what)) for where, line in places]

    def add(self, record: dict[str, Any], instead_of: Collection[int] = ()) -> None:
        """Onto the disk, in one step with what it takes the place of: the lines with these numbers, from 0. UserError
        for a line that nobody could read again, alone or beside the others.
        """
        line = json.dumps(record, ensure_ascii=False)
        if len(line) > LONGEST_LINE:
            raise UserError(f"prompt and answer are too long to be kept in {self.path}; skip this one")
        _check_raters(self._told([line]))
        if instead_of:
            self.drop(instead_of, line)
            return
        with opened(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as file:
            file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def drop(self, places: Collection[int], *further: str) -> None:
        """The lines with these numbers, from 0; further ones come behind the others."""
        kept = [line for place, line in enumerate(lines(self.path)) if place not in places]
        write(self.path, "".join(f"{line}\n" for line in [*kept, *further]))

    def mend_end(self) -> None:
        """Cut off a last line that was torn while it was written; one that only lacks its newline gets it."""
        if not (self.path.is_symlink() or self.path.exists()):
            return
        with opened(self.path, os.O_RDWR) as file:
            whole, newline, torn = file.read(MOST_BYTES).rpartition(b"\n")
            if not torn or file.read(1):
                return
            try:
                parse(self.kind, torn.decode(), str(self.path), self.what)
            except ValueError:  # a UserError, or bytes cut within a character
                file.truncate(len(whole) + len(newline))
            else:
                file.write(b"\n")

    def check_rater(self, rater: str, kind: RaterKind, is_new: bool) -> None:
        """UserError for a name that is probably a slip: what one person said under two names would count twice."""
        if not _seen(rater) or not rater.isprintable() or len(rater) > LONGEST_NAME:
            raise UserError(
                f"--rater {short(rater)} is not a name of at most {LONGEST_NAME} visible characters; give the one under"
                " which your ratings are kept, like --rater ana"
            )
        if not self.path.exists():
            return
        with self.held():
            self.mend_end()
            known = {record.rater: record.rater_kind for record in self.read()}
        alike = next((name for name in known if name != rater and _seen(name) == _seen(rater)), None)
        if alike:
            raise UserError(
                f"rater {rater!r} looks like {short(alike)!r} in {self.path}; give the same name, or one that differs"
                f" by more than {_UNSEEN}"
            )
        if known and rater not in known and not is_new:
            raise UserError(
                f"there is no rater {rater!r} in {self.path.parent} yet (it has: {printable(', '.join(known))}); add"
                " --new-rater if somebody new rates"
            )
        if known.get(rater, kind) != kind:
            raise UserError(
                f"rater {rater!r} is a {known[rater]} in {self.path}; choose another name, or add --kind {known[rater]}"
            )


def _check_raters(records: Iterable[tuple[str, Judged]]) -> None:
    """UserError for one rater who would count as two, or as a person and a model. `records`: (where, line)."""
    known: dict[str, Judged] = {}
    for where, record in records:
        first = known.setdefault(_seen(record.rater), record)
        if first.rater != record.rater:
            raise UserError(
                f"{where} is by {short(record.rater)!r}, who looks like {short(first.rater)!r} before; give them one"
                f" name, or names that differ by more than {_UNSEEN}"
            )
        if first.rater_kind != record.rater_kind:
            raise UserError(
                f"{where} is by {short(record.rater)!r} as a {record.rater_kind}, a {first.rater_kind} before; give one"
                " of the two another name, or mend the line"
            )


def _seen(name: str) -> str:
    """What tells a rater's name from others: not case, spaces and what nobody sees."""
    letters = unicodedata.normalize("NFKC", name).casefold()
    return "".join(letter for letter in letters if unicodedata.category(letter)[0] not in "CZ" and letter not in _BLANK)
