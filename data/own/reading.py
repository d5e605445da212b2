"""The rows of JSONL, CSV and Parquet files, or of a folder of them, inside fixed bounds.

What is wrong with a whole file is one `UserError`; a row that cannot be read is a `Broken` among the others.
"""

import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from data.own.chats import CHAT_FIELDS, MARKS
from data.reading.delimited import STARS, delimited
from data.reading.files import LONGEST_ROW, MOST_BYTES, NOT_UTF8, Broken, not_text, opened, text_lines
from tucano.errors import UserError
from tucano.prompts import GENERAL, TASKS
from tucano.security.printable import short
from tucano.security.strict_json import NoJson, strict_json

FIELDS = (
    "prompt", "task", "reference", "demonstration", "stars", "licence", "consent", "id", "template", "source",
)  # fmt: skip
READ = (*FIELDS, *CHAT_FIELDS)
BEGINNINGS = {"prompt", *MARKS}
"""Of these columns a file has one."""
KINDS = {"task": re.compile("|".join((*TASKS, GENERAL))), "stars": STARS}
ENDINGS = (".jsonl", ".csv", ".parquet")
PATTERNS = " ".join(f"*{ending}" for ending in ENDINGS)
MOST_ROWS = 200_000
"""Of all files together."""
MOST_VALUES = 40 * MOST_ROWS
"""Of a Parquet file, those inside lists and structures counted one by one."""


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
    with opened(path) as file:
        match path.suffix.lower():
            case ".parquet":
                yield from _parquet(file, path)
            case ".jsonl":
                yield from (
                    RawRow(path.name, n, _object(line))
                    for n, line in text_lines(file, path)
                    if line is None or line.strip()
                )
            case _:
                yield from _csv(file, path)


def _object(line: str | None) -> dict[str, Any] | Broken:
    if line is None:
        return Broken(f"the line has more than {LONGEST_ROW} characters")
    found = not_text(line) or parsed(line)
    if isinstance(found, Broken):
        return found
    if not isinstance(found, dict):
        return Broken("the line is no JSON object; write {…} on one line")
    named = {_field_name(name): value for name, value in found.items()}
    return named if len(named) == len(found) else Broken("two names differ by case or blanks alone; rename one")


def parsed(text: str) -> Any:
    """The value of a JSON text, or `Broken` for one that is none."""
    try:
        return strict_json(text)
    except NoJson as why:
        return Broken(str(why))


# CSV


def _csv(file: IO[bytes], path: Path) -> Iterator[RawRow]:
    names, rows = delimited(file, path, kinds=KINDS)
    header = _header(names, path)
    header = [name or f"column {place} without a name" for place, name in enumerate(header, 1)]
    for line, cells in rows:
        fields = cells if isinstance(cells, Broken) else {n: c for n, c in zip(header, cells, strict=True) if c}
        yield RawRow(path.name, line, fields, "cells")


def _header(cells: list[str], path: Path) -> list[str]:
    names = [_field_name(cell.strip().removeprefix("\ufeff")) for cell in cells]
    if BEGINNINGS.isdisjoint(names):
        raise UserError(f"{path} has no column prompt in its first line; write the names of the columns there")
    if doubled := [name for name in set(names) if name and names.count(name) > 1]:
        raise UserError(f"{path} has two columns {short(doubled[0], 40)!r}; rename one")
    return names


def _field_name(name: str) -> str:
    """A field's name whatever its case and the blanks around it: a `Consent` that is refused is refused."""
    field = name.strip().casefold()
    return field if field in READ else name


# Parquet


_LOOK = """
import sys
from pyarrow import parquet
about = parquet.ParquetFile(sys.argv[1]).metadata
[about.row_group(group).column(column) for group in range(about.num_row_groups) for column in range(about.num_columns)]
"""


def _parquet(file: IO[bytes], path: Path) -> Iterator[RawRow]:
    """pyarrow ends the process of whoever looks at some damaged files; so another process looks first."""
    import pyarrow
    from pyarrow import parquet

    if subprocess.run([sys.executable, "-c", _LOOK, path], stderr=subprocess.DEVNULL, check=False).returncode < 0:
        raise UserError(f"{path} cannot be read as Parquet (its columns are damaged); save it again")
    try:
        table = parquet.ParquetFile(file)
        names = table.schema_arrow.names
        _refuse_large(table.metadata, path)
        fields = [_field_name(name) for name in names]
        if BEGINNINGS.isdisjoint(fields):
            raise UserError(f"{path} has no column prompt; name it so")
        if twice := sorted({name for name in READ if fields.count(name) > 1}):
            raise UserError(f"{path} has several columns {', '.join(twice)}; keep one of each")
        others = dict.fromkeys((name for name in fields if name not in READ), "not read")
        read = [name for name, field in zip(names, fields, strict=True) if field in READ]
        batches = table.iter_batches(batch_size=1, columns=read)
        for number, batch in enumerate(batches, start=1):
            yield RawRow(path.name, number, _cells(batch, others), "columns")
    except (pyarrow.ArrowException, OSError, OverflowError, LookupError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path} cannot be read as Parquet ({short(str(error), 100)}); save it again") from None


def _cells(batch: Any, others: dict[str, Any]) -> dict[str, Any] | Broken:
    try:
        (row,) = batch.to_pylist()
    except UnicodeDecodeError:
        return Broken(f"a cell holds bytes that are {NOT_UTF8}")
    except (OverflowError, ValueError):
        return Broken("a cell holds what Python has no value for, like a date behind the year 9999")
    return {**{_field_name(name): cell for name, cell in row.items() if not _is_missing(cell)}, **others}


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
