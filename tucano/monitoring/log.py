"""The request log as the monitor reads it: whatever stands there was written by clients and models, and is data.

A look reads what came since the last one. The log is put aside and in the end removed while it is written, so the place
is known by the ids of the last lines that were read, not by an offset.
"""

import json
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from tucano.prompts import Task
from tucano.serving.request_log import FILE
from tucano.storage.logs import BYTES, KEPT

REFERENCES = "references.jsonl"
"""Beside the log: `{"id": …, "reference": {…}}` a line, where somebody knows what an answer should have been."""
MOST_BYTES = 2 * BYTES
"""Read of each file; more is not the server's."""
LONGEST_LINE = 2**20
BOOKMARK = 64
"""Ids of the last lines that were read are kept: one of them is found again even if the last line was lost."""


def _whole(text: Any) -> Any:
    """Without half characters, which no file takes."""
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else text


Id = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Text = Annotated[str, BeforeValidator(_whole), Field(max_length=LONGEST_LINE)]


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class Served(_Row):
    """A request and its answer, masked; `by`: the version, or who else answered."""

    id: Id
    task: Task
    text: Text
    answer: Text
    by: Annotated[str, Field(max_length=200)]


class Found(_Row):
    """What an answer should have been, as its task's spec has it (docs/data.md)."""

    id: Id
    reference: dict[str, Any]


R = TypeVar("R", Served, Found)


@dataclass(frozen=True, slots=True)
class Log:
    """The rows in the order in which they were written, each id once, and how many lines are none."""

    rows: tuple[Served, ...]
    unreadable: int

    def since(self, bookmark: Iterable[str]) -> tuple[Served, ...]:
        """What was written after the last line whose id is in the bookmark; everything where none of them is left."""
        known = set(bookmark)
        last = max((place for place, row in enumerate(self.rows) if row.id in known), default=-1)
        return self.rows[last + 1 :]

    @property
    def bookmark(self) -> tuple[str, ...]:
        return tuple(row.id for row in self.rows[-BOOKMARK:])


def read_log(folder: Path) -> Log:
    """The request log of a storage's serving folder, those put aside first. None of its files has to be there."""
    names = [FILE, *(f"{FILE}.{number}" for number in range(1, KEPT + 1))]
    rows, unreadable = _read(Served, [folder / name for name in names])
    return Log(tuple({row.id: row for row in reversed(rows)}.values())[::-1], unreadable)


def read_references(folder: Path) -> tuple[dict[str, Found], int]:
    """{id: the last that was said of it}, and how many lines say nothing."""
    rows, unreadable = _read(Found, [folder / REFERENCES])
    return {row.id: row for row in rows}, unreadable


def _read(kind: type[R], newest_first: Sequence[Path]) -> tuple[list[R], int]:
    """All are opened before one is read: a log that is put aside meanwhile is the same file, and is read once."""
    rows: list[R] = []
    unreadable = 0
    with ExitStack() as closing:
        files: dict[tuple[int, int], IO[bytes]] = {}
        for path in newest_first:
            found = _opened(path, closing)
            if found is not None:
                facts = os.fstat(found.fileno())
                files.setdefault((facts.st_dev, facts.st_ino), found)
        for file in reversed(files.values()):
            for line in _lines(file):
                row = _parsed(kind, line)
                unreadable += row is None
                rows += [row] if row is not None else []
    return rows, unreadable


def _opened(path: Path, closing: ExitStack) -> IO[bytes] | None:
    """An ordinary file that is no link; a pipe would be waited for."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    return closing.enter_context(os.fdopen(handle, "rb"))


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """Whole lines; the last one may still be being written."""
    content = file.read(MOST_BYTES)
    return (line for line in content[: content.rfind(b"\n") + 1].split(b"\n") if line.strip())


def _parsed(kind: type[R], line: bytes) -> R | None:
    if len(line) > LONGEST_LINE:
        return None
    try:
        return kind.model_validate(json.loads(line))
    except (ValueError, RecursionError, ValidationError):
        return None
