"""Delimited text (CSV): rows with the line that each begins in. A row that cannot be read costs itself, and not those
after it.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO

from data.reading.files import LONGEST_ROW, Broken, not_text, text_lines
from tucano.errors import UserError

MARK = '"'
MOST_LINES = 500
"""Of one row: what goes on beyond is no text, but a quotation mark that nothing closes."""
LEAST_COLUMNS = 4
"""From here on a line of a text hardly has, by chance, the separators of a row; below, `19,90` looks like two cells."""
STARS = re.compile(r"[1-5](?:[.,]0+)?")
"""A cell of stars; a column of numbers with gaps is saved as 4.0."""
Kinds = Mapping[str, re.Pattern[str]]
"""{name of a column: what its cells are}, where that can be told from a text."""
SWALLOWED = "a quotation mark that nothing closes before the next rows; close it, or double it"
IN_DOUBT = (
    "a quoted cell whose lines look like rows; close or double a stray mark, or put a space behind each separator of a"
    " text, and none between cells"
)
_SEPARATOR = re.compile(r"\"?sep=([,;\t])\"?\r?", re.IGNORECASE)
"""What Excel writes before the header, and reads from there."""
Row = tuple[int, list[str] | Broken]
"""The line that it begins in, and as many cells as there are names, or why it has none."""


def delimited(
    file: IO[bytes], path: Path, separator: str | None = None, kinds: Kinds | None = None
) -> tuple[list[str], Iterator[Row]]:
    """The names of the columns, and each row that holds something. Without a separator it is the one that the file
    names (`sep=;`), or the most frequent of its first line. UserError for a file without names.

    Cells are quoted as in RFC 4180; a mark inside of an unquoted cell (TV 43") is part of it. Where marks do not fit,
    only the row of that one line is lost: what stands behind it is read anew. It may be rows, or the rest of a text;
    until one is a row without doubt, what is in doubt is lost too. So is every line of a quoted cell that may as well
    be rows between two stray marks, unless `kinds` tell which it is. In a file of one column nothing tells, and such a
    cell is a text.
    """
    lines = _Lines(text_lines(file, path))
    top = lines.next_text()
    if named := _SEPARATOR.fullmatch(top):
        lines.take()
        separator = named[1]
        top = lines.next_text()
    sign = separator or max(",;\t", key=top.count)
    header = _row(lines, sign)
    names = header.cells if header else Broken("there are none")
    if isinstance(names, Broken) or "\r" in "".join(names):
        why = names.why if isinstance(names, Broken) else "a carriage return stands in them"
        raise UserError(f"{path} does not begin with a line of the names of its columns ({why}); mend that line")
    known = {
        place: kinds[key] for place, name in enumerate(names) if kinds and (key := name.strip().casefold()) in kinds
    }
    return names, _rows(lines, sign, _Columns(len(names), known))


@dataclass(frozen=True, slots=True)
class _Columns:
    """How many there are, and what the cells of some are, by place."""

    width: int
    kinds: Mapping[int, re.Pattern[str]]


def _rows(lines: "_Lines", sign: str, columns: _Columns) -> Iterator[Row]:
    in_doubt = False
    while row := _row(lines, sign, columns):
        cells = row.cells
        if not isinstance(cells, Broken) and in_doubt and row.is_loose:
            cells = Broken("the row stands behind a broken one, and may be its rest")
        in_doubt = row.is_torn or (in_doubt and (isinstance(cells, Broken) or not any(cells)))
        if isinstance(cells, Broken) and row.last > row.line:
            cells = Broken(f"{cells.why} (lines {row.line} to {row.last})")
        if isinstance(cells, Broken) or any(cells):
            last = row.last if row.is_swallowed else row.line
            yield from ((line, cells) for line in range(row.line, last + 1))


class _Lines:
    """Numbered lines, which can be put back."""

    def __init__(self, lines: Iterator[tuple[int, str | None]]) -> None:
        self._lines = lines
        self._back: deque[tuple[int, str | None]] = deque()

    def take(self) -> tuple[int, str | None] | None:
        return self._back.popleft() if self._back else next(self._lines, None)

    def put_back(self, lines: list[tuple[int, str | None]]) -> None:
        self._back.extendleft(reversed(lines))

    def next_text(self) -> str:
        """The next line, which stays; empty where it is too long, or none."""
        if (line := self.take()) is None:
            return ""
        self.put_back([line])
        return line[1] or ""


@dataclass(frozen=True, slots=True)
class _Row:
    """`is_torn`: its quotation marks do not fit. `is_loose`: the line may as well be of a text: a cell begins with a
    space, or holds a mark that quotes nothing. `is_swallowed`: each of its lines may be a row.
    """

    line: int
    last: int
    cells: list[str] | Broken
    is_torn: bool = False
    is_loose: bool = False
    is_swallowed: bool = False


def _row(lines: _Lines, sign: str, columns: _Columns | None = None) -> _Row | None:
    """The next row; None behind the last."""
    if (first := lines.take()) is None:
        return None
    number, text = first
    if text is None:
        return _Row(number, number, Broken(f"the line has more than {LONGEST_ROW} characters"))
    record = _Record(lines, sign, columns, text)
    last = number
    try:
        record.read()
        last += len(record.further)
        record.refuse_swallowed_rows()
    except _DoubtError as doubt:
        return _Row(number, last, Broken(str(doubt)), is_swallowed=True)
    except _TornError as torn:
        lines.put_back(record.further)
        return _Row(number, number, Broken(str(torn)), is_torn=True)
    cells = record.cells
    if (why := not_text(record.text)) is not None:
        return _Row(number, last, why)
    if columns and len(cells) != columns.width and any(cells):
        said = f"the row has {len(cells)} cells, the first line {columns.width}; quote a cell that holds separators"
        return _Row(number, last, Broken(said))
    return _Row(number, last, cells, is_loose=record.has_bare_mark or any(cell.startswith(" ") for cell in cells[1:]))


class _TornError(Exception):
    """Why the quotation marks of a row do not fit."""


class _DoubtError(_TornError):
    """They fit, and what they frame may be a text or rows."""


@dataclass(slots=True)
class _Record:
    """A row while it is read: `text` are its lines so far, of which `further` are those behind the first. `wide`: its
    cells of several lines, as (how many stand before it, text). `has_spaces`: behind its own separators.
    """

    lines: _Lines
    sign: str
    columns: _Columns | None
    text: str
    further: list[tuple[int, str | None]] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    wide: list[tuple[int, str]] = field(default_factory=list)
    has_bare_mark: bool = False
    has_spaces: bool = False

    def read(self) -> None:
        at = 0
        while at >= 0:
            at = self._quoted(at) if self.text.startswith(MARK, at) else self._bare(at)

    def _bare(self, at: int) -> int:
        """Reads the cell that begins there; where the next one begins, -1 behind the last."""
        end = self.text.find(self.sign, at)
        cell = self.text[at:].removesuffix("\r") if end < 0 else self.text[at:end]
        self.has_bare_mark = self.has_bare_mark or MARK in cell
        self.has_spaces = self.has_spaces or (at > 0 and cell.startswith(" "))
        self.cells.append(cell)
        return end + 1 if end >= 0 else -1

    def _quoted(self, at: int) -> int:
        end = self.text.find(MARK, at + 1)
        while end < 0 or self.text.startswith(MARK, end + 1):
            begin = end + 2 if end >= 0 else self._with_another_line()
            end = self.text.find(MARK, begin)
        cell = self.text[at + 1 : end]
        if "\n" in cell:
            self.wide.append((len(self.cells), cell))
        self.cells.append(cell.replace(MARK * 2, MARK))
        if self.text[end + 1 :] in ("", "\r"):
            return -1
        if not self.text.startswith(self.sign, end + 1):
            place = f", in line {self.further[-1][0]}" if self.further else ""
            raise _TornError(f"a quotation mark inside of a quoted cell{place}; double it, or close the one before it")
        return end + 2

    def _with_another_line(self) -> int:
        """Where it begins."""
        may_go_on = self.columns is None or len(self.cells) < self.columns.width
        line = self.lines.take() if len(self.further) < MOST_LINES and may_go_on else None
        if line is not None:
            self.further.append(line)
        if line is None or line[1] is None or len(self.text) + len(line[1]) > LONGEST_ROW:
            raise _TornError("a quotation mark that nothing closes; close it, or double it where the text has one")
        self.text += f"\n{line[1]}"
        return len(self.text) - len(line[1])

    def refuse_swallowed_rows(self) -> None:
        """A stray mark and the next one may look like the frame of a cell, which then holds rows."""
        if self.columns is None:
            return
        for before, cell in self.wide:
            found = self._swallows_rows(self.columns, before, cell.split("\n"))
            if found is None and len(self.cells) == self.columns.width:
                raise _DoubtError(IN_DOUBT)
            if found is not False:
                raise _TornError(SWALLOWED)

    def _swallows_rows(self, columns: _Columns, before: int, lines: list[str]) -> bool | None:
        """None: perhaps. The first line of the cell has to end a row, and its last to begin one. What kinds their cells
        are tells; else lines that have the separators of rows.
        """
        sign, first, last = self.sign, lines[0], lines[-1]
        behind = columns.width - 1 - before
        ahead = max(0, columns.width - len(self.cells) + before)
        ends = list(enumerate(first.rsplit(sign, behind)[1:], before + 1)) if behind else []
        begins = list(enumerate(last.split(sign, ahead)[:-1]))
        if len(ends) < behind or len(begins) < ahead:
            return False
        kinds = columns.kinds
        known = [(kinds[place], cell.strip()) for place, cell in chain(begins, ends) if place in kinds]
        told = [kind.fullmatch(cell) for kind, cell in known if cell]
        if told or columns.width == 1:
            return bool(told) and all(told)
        first_has, *inner_have, last_has = (self._separators(line, columns.width) for line in lines)
        return None if (first_has, last_has) == (behind, ahead) or columns.width - 1 in inner_have else False

    def _separators(self, line: str, width: int) -> int:
        """Those that part cells. Behind one of a text stands a space, which tells where the row itself has none."""
        decimal = r"(?!(?<=\d),\d)" if self.sign == "," and width < LEAST_COLUMNS else ""
        return len(re.findall(f"{decimal}{self.sign}{'' if self.has_spaces else '(?! )'}", line))
