"""The request log as the monitor reads it: whatever stands there was written by clients and models, and is data.

A look reads what came since the last one. The log is put aside and in the end removed while it is written, so the place
is known by the ids of the last lines that were read, not by an offset.
"""

import codecs
import json
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from tucano.errors import UserError
from tucano.prompts import Task
from tucano.security.strict_json import strict_json
from tucano.serving.request_log import FILE
from tucano.storage.logs import BYTES, KEPT

REFERENCES = "references.jsonl"
"""Beside the log: `{"id": …, "reference": {…}}` a line, where somebody knows what an answer should have been."""
MOST_BYTES = 2 * BYTES
"""Of each file; more is not the server's."""
LONGEST_LINE = 2**20
BOOKMARK = 64
"""Ids of the last lines that were read are kept: one of them is found again even if the last line was lost."""


def _whole(text: Any) -> Any:
    """Without half characters, which no file takes."""
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else text


def _plain(reference: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """UnicodeEncodeError, a ValueError, for one with half characters: nobody can be right by it."""
    json.dumps(reference, ensure_ascii=False).encode()
    return reference


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
    reference: Annotated[dict[str, JsonValue], AfterValidator(_plain)]


Line = tuple[str, int]
"""Name of a file and number of its line, from 1."""
R = TypeVar("R", Served, Found)


@dataclass(frozen=True, slots=True)
class Log:
    """The rows in the order in which they were written, each id once, and which lines are none."""

    rows: tuple[Served, ...]
    unreadable: tuple[Line, ...]

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


def read_references(folder: Path) -> tuple[dict[str, Found], tuple[Line, ...]]:
    """{id: the last that was said of it}, and which lines say nothing."""
    rows, unreadable = _read(Found, [folder / REFERENCES])
    return {row.id: row for row in rows}, unreadable


def _read(kind: type[R], newest_first: Sequence[Path]) -> tuple[list[R], tuple[Line, ...]]:
    """All are opened before one is read: a log that is put aside meanwhile is the same file, and is read once."""
    rows: list[R] = []
    unreadable: list[Line] = []
    with ExitStack() as closing:
        files: dict[tuple[int, int], tuple[str, IO[bytes]]] = {}
        for path in newest_first:
            found = _opened(path, closing)
            if found is not None:
                facts = os.fstat(found.fileno())
                files.setdefault((facts.st_dev, facts.st_ino), (path.name, found))
        for name, file in reversed(files.values()):
            for number, line in _lines(name, file):
                row = _parsed(kind, line)
                if row is not None:
                    rows.append(row)
                elif line.endswith(b"\n") or kind is Found or _is_of_another(line):  # else it may be being written
                    unreadable.append((name, number))
    return rows, tuple(unreadable)


def _is_of_another(line: bytes) -> bool:
    """Whether a line holds what no log of ours does: zero bytes of UTF-16, or carriage returns in place of newlines."""
    return b"\0" in line or b"\r" in line


def _opened(path: Path, closing: ExitStack) -> IO[bytes] | None:
    """None where there is none. UserError for what is no ordinary file: a pipe would be waited for, and what a link
    leads to is not what was served here.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = "it is a link" if path.is_symlink() else str(error.strerror)
        raise UserError(f"{path} cannot be read ({reason}); put an ordinary file there, or move it away") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise UserError(f"{path} is no ordinary file; put one there, or move it away")
    return closing.enter_context(os.fdopen(handle, "rb"))


def _lines(name: str, file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Lines and their numbers. UserError for more of them than are read."""
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UserError(f"{name} has more than {MOST_BYTES // 10**6} MB; keep its newest lines, and move it away")
    content = content.removeprefix(codecs.BOM_UTF8)
    return ((number, line) for number, line in enumerate(BytesIO(content), 1) if line.strip())


def _parsed(kind: type[R], line: bytes) -> R | None:
    if len(line) > LONGEST_LINE:
        return None
    try:
        return kind.model_validate(strict_json(line.decode("utf-8")))
    except ValueError:
        return None
