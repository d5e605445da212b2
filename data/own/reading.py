"""The rows of JSONL, CSV and Parquet files, or of a folder of them, inside fixed bounds.

What is wrong with a whole file is one `UserError`; a row that cannot be read is a `Broken` among the others.
"""

import csv
import json
import math
import os
import re
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, Literal

from tucano.errors import UserError
from tucano.security.printable import short

FIELDS = (
    "prompt", "task", "reference", "demonstration", "stars", "licence", "consent", "id", "template", "source",
)  # fmt: skip
ENDINGS = (".jsonl", ".csv", ".parquet")
PATTERNS = " ".join(f"*{ending}" for ending in ENDINGS)
MOST_BYTES = 512 * 2**20
"""Of one file, and of the unpacked columns of a Parquet file."""
MOST_ROWS = 200_000
"""Of all files together."""
LONGEST_ROW = 2**18
"""Bytes of a line of JSON. Python's reader of CSV takes half as many characters in a cell."""
MOST_VALUES = 40 * MOST_ROWS
"""Of a Parquet file, those inside lists and structures counted one by one."""
NOT_UTF8 = "not UTF-8"
"""Stands in every sentence about bytes of another encoding."""
_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""How UTF-16 and UTF-32 begin."""
_SEPARATOR = re.compile(rb"\"?sep=([,;\t])\"?\r?\n", re.IGNORECASE)
"""What Excel writes before the header, and reads from there."""
_READ = os.O_RDONLY | os.O_NONBLOCK  # a pipe would be waited for


@dataclass(frozen=True, slots=True)
class Broken:
    """A row that is none; `why` goes on from «line 7: »."""

    why: str


@dataclass(frozen=True, slots=True)
class RawRow:
    """What stands in one row: its fields by name, or why it has none. `number` is its line, or its row in Parquet."""

    file: str
    number: int
    content: dict[str, Any] | Broken
    form: Literal["object", "cells", "columns"] = "object"
    """Where it stood: cells of CSV are text, whatever they mean; columns of Parquet have one type for all rows."""


def raw_rows(place: Path) -> Iterator[RawRow]:
    """Every row of a file, or of the files directly in a folder. Raises `UserError`, also for too many rows."""
    count = 0
    for path in files_at(place):
        for row in _rows_of(path):
            count += 1
            if count > MOST_ROWS:
                raise UserError(f"{place} has more than {MOST_ROWS} rows; split it, or draw a sample")
            yield row


def files_at(place: Path) -> list[Path]:
    """The file itself, or what a folder holds of files with the known endings, by name."""
    if not os.path.isdir(place):  # noqa: PTH112  a name that is too long is no folder, and no error
        if place.suffix.lower() not in ENDINGS:
            raise UserError(
                f"{short(str(place))} ends in none of {', '.join(ENDINGS)}; save or rename it as one of them"
            )
        return [place]
    found = sorted(path for path in place.iterdir() if path.suffix.lower() in ENDINGS)
    if not found:
        raise UserError(
            f"the folder {short(str(place))} holds no file that ends in {', '.join(ENDINGS)}; name the file"
        )
    return found


def _rows_of(path: Path) -> Iterator[RawRow]:
    with _opened(path) as file:
        start = file.read(4)
        ending = path.suffix.lower()
        if ending == ".parquet":
            yield from _parquet(file, path)
            return
        if start.startswith(_WIDE):
            name = shlex.quote(path.name)
            raise UserError(f"{path} is not UTF-8; convert it, like `iconv -f utf-16 -t utf-8 {name} > utf8{ending}`")
        file.seek(3 if start.startswith(b"\xef\xbb\xbf") else 0)
        yield from _jsonl(file, path.name) if ending == ".jsonl" else _csv(file, path)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """An ordinary file of bounded size."""
    shown = short(str(path))
    try:
        handle = os.open(path, _READ)
    except FileNotFoundError:
        raise UserError(f"there is no file {shown}; name the file, or the folder, of the prompts") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "its name is none"
        raise UserError(f"{shown} cannot be opened ({why}); name another file, or make it readable") from None
    with os.fdopen(handle, "rb") as file:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise UserError(f"{shown} is no ordinary file; name a file with prompts")
        if facts.st_size == 0:
            raise UserError(f"{shown} is empty; write one prompt a line")
        if facts.st_size > MOST_BYTES:
            raise UserError(f"{shown} has more than {MOST_BYTES // 2**20} MB; split it, or draw a sample")
        yield file


# JSON lines


def _jsonl(file: IO[bytes], name: str) -> Iterator[RawRow]:
    number = 0
    while line := file.readline(LONGEST_ROW + 1):
        number += 1
        if len(line) > LONGEST_ROW and not line.endswith(b"\n"):
            _skip_line(file)
            yield RawRow(name, number, Broken(f"the line has more than {LONGEST_ROW} bytes"))
        elif line.strip():
            yield RawRow(name, number, _object(line))


def _skip_line(file: IO[bytes]) -> None:
    while (more := file.readline(LONGEST_ROW)) and not more.endswith(b"\n"):
        pass


def _object(line: bytes) -> dict[str, Any] | Broken:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        return Broken(f"the line is {NOT_UTF8} (byte {error.start})")
    found = parsed(text)
    if isinstance(found, Broken | dict):
        return found
    return Broken("the line is no JSON object; write {…} on one line")


def parsed(text: str) -> Any:
    """The value of a JSON text, or `Broken` for one that is none."""
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)
    except RecursionError:
        return Broken("the JSON is nested too deeply")
    except json.JSONDecodeError as error:
        return Broken(f"the JSON cannot be read ({error.msg}, column {error.colno})")
    except Twice:
        return Broken("a name is given twice in an object; leave one of its values out")
    except ValueError:
        return Broken("a number is too long, or none")


class Twice(ValueError):
    """Of a name that an object gives two values, Python would keep the last and others the first."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Twice
    return found


def _refuse(name: str) -> None:
    raise ValueError(name)


# CSV


def _csv(file: IO[bytes], path: Path) -> Iterator[RawRow]:
    first = file.readline(LONGEST_ROW)
    file.seek(0)
    named = _SEPARATOR.fullmatch(first)
    separator = named[1].decode() if named else max(",;\t", key=lambda sign: first.count(sign.encode()))
    text = TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
    try:
        before = 1 if named and text.readline() else 0
        # strict: else a quotation mark that nothing closes takes all rows after it into its cell, without a word
        yield from _csv_rows(csv.reader(text, delimiter=separator, strict=True), path, before)
    finally:
        text.detach()


def _csv_rows(reader: Any, path: Path, before: int) -> Iterator[RawRow]:
    """Each row with the line that it begins in; `before`: lines of the file that the reader does not see."""
    header: list[str] | None = None
    while True:
        line = before + reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            why = _why_broken(str(error), line, before + reader.line_num)
            yield RawRow(path.name, line, Broken(f"the row cannot be read ({why})"), "cells")
            continue
        if header is None:
            header = _header(cells, path)
        elif any(cells):
            yield RawRow(path.name, line, _fields(header, cells), "cells")


def _why_broken(error: str, first: int, last: int) -> str:
    lost = f"; lines {first} to {last} are lost with it" if last > first else ""
    if "limit" in error:
        return f"a quotation mark that nothing closes, or a cell that is too long{lost}"
    if "end of data" in error:
        return f"a quotation mark that nothing closes{lost}; close it, or double it where the text has one"
    if "expected after" in error:
        return f"a quotation mark inside of a quoted cell{lost}; double it, or close the one before it"
    return error


def _header(cells: list[str], path: Path) -> list[str]:
    names = [_field_name(cell.strip().removeprefix("\ufeff")) for cell in cells]
    if "prompt" not in names:
        raise UserError(f"{path} has no column prompt in its first line; write the names of the columns there")
    if doubled := [name for name in set(names) if name and names.count(name) > 1]:
        raise UserError(f"{path} has two columns {short(doubled[0], 40)!r}; rename one")
    return names


def _field_name(name: str) -> str:
    """A field's name whatever its case; spreadsheets begin names with a capital."""
    return name.casefold() if name.casefold() in FIELDS else name


def _fields(header: list[str], cells: list[str]) -> dict[str, Any] | Broken:
    if len(cells) != len(header):
        return Broken(
            f"the row has {len(cells)} cells, the first line {len(header)}; quote a cell that holds separators"
        )
    return {name: cell for name, cell in zip(header, cells, strict=True) if name and cell}


# Parquet


def _parquet(file: IO[bytes], path: Path) -> Iterator[RawRow]:
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(file)
        names = table.schema_arrow.names
        _refuse_large(table.metadata, path)
        if "prompt" not in names:
            raise UserError(f"{path} has no column prompt; name it so")
        if twice := sorted({name for name in FIELDS if names.count(name) > 1}):
            raise UserError(f"{path} has several columns {', '.join(twice)}; keep one of each")
        others = dict.fromkeys((name for name in names if name not in FIELDS), "not read")
        batches = table.iter_batches(batch_size=1, columns=[name for name in FIELDS if name in names])
        for number, batch in enumerate(batches, start=1):
            yield RawRow(path.name, number, _cells(batch, others), "columns")
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError, OverflowError, LookupError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path} cannot be read as Parquet ({short(str(error), 100)}); save it again") from None


def _cells(batch: Any, others: dict[str, Any]) -> dict[str, Any] | Broken:
    try:
        (row,) = batch.to_pylist()
    except UnicodeDecodeError:
        return Broken(f"a cell holds bytes that are {NOT_UTF8}")
    return {**{name: cell for name, cell in row.items() if not _is_missing(cell)}, **others}


def _is_missing(cell: Any) -> bool:
    """None, or the NaN that pandas writes for it."""
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _refuse_large(about: Any, path: Path) -> None:
    """A column that repeats itself takes some bytes in a file and gigabytes in memory, so its values are counted too;
    and one row is read at a time, so that a value that many rows share is held once.
    """
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    unpacked = sum(group.total_byte_size for group in groups)
    values = sum(group.column(column).num_values for group in groups for column in range(group.num_columns))
    if unpacked > MOST_BYTES or about.num_rows > MOST_ROWS or values > MOST_VALUES:
        raise UserError(
            f"{path} unpacks to more than {MOST_BYTES // 2**20} MB, {MOST_ROWS} rows or {MOST_VALUES} values; split it"
        )
