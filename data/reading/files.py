"""Files of others: ordinary ones of bounded size, and their lines as an editor counts them."""

import os
import shlex
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import IO

from tucano.errors import UserError
from tucano.security.printable import short

MOST_BYTES = 512 * 2**20
"""Of one file, and of the unpacked columns of a Parquet file."""
LONGEST_ROW = 2**18
"""Characters."""
NOT_UTF8 = "not UTF-8"
"""Stands in every sentence about bytes of another encoding."""
_WIDE = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
"""How files of two or four bytes a character begin."""
_ZEROS: dict[tuple[bool, ...], str] = {
    (False, True, False, True): "utf-16le",
    (True, False, True, False): "utf-16be",
    (False, True, True, True): "utf-32le",
    (False, False, True, True): "utf-32le",
    (True, True, True, False): "utf-32be",
    (True, True, False, False): "utf-32be",
}
"""{which of four bytes are mostly zero: the encoding}. A run of zero bytes, as a power cut leaves, fills all four."""
_PACKED = (b"\xd0\xcf\x11\xe0", b"PK\x03\x04", b"\x1f\x8b", b"BZh91AY&SY", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
"""How old spreadsheets begin, archives, which new spreadsheets are, and what gzip, bzip2, xz or zstd has packed."""
_READ = os.O_RDONLY | os.O_NONBLOCK  # a pipe would be waited for


@dataclass(frozen=True, slots=True)
class Broken:
    """A row that is none; `why` goes on from «line 7: »."""

    why: str


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """An ordinary file of bounded size. UserError for anything else."""
    shown = short(str(path))
    try:
        handle = os.open(path, _READ)
    except FileNotFoundError:
        raise UserError(f"there is no file {shown}; put it there, or name another file or folder") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "its name is none"
        raise UserError(f"{shown} cannot be opened ({why}); name another file, or make it readable") from None
    facts = os.fstat(handle)
    if stat.S_ISDIR(facts.st_mode):  # which Python makes no file of
        os.close(handle)
        raise UserError(f"{shown} is a folder, no ordinary file; name one with rows")
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(facts.st_mode):
            raise UserError(f"{shown} is no ordinary file; name one with rows")
        if facts.st_size == 0:
            raise UserError(f"{shown} is empty; name one with rows")
        if facts.st_size > MOST_BYTES:
            raise UserError(f"{shown} has more than {MOST_BYTES // 2**20} MB; split it, or draw a sample")
        yield file


def text_lines(file: IO[bytes], path: Path) -> Iterator[tuple[int, str | None]]:
    """Each line's number, from 1, and its text without the newline; None: longer than `LONGEST_ROW`. What is not UTF-8
    becomes halves of characters (surrogateescape). UserError for a file of UTF-16 or UTF-32, and for a spreadsheet.

    A newline ends a line, as in every editor. A carriage return does only where a file begins without newlines, as old
    programs for the Macintosh write; elsewhere it stands inside a text, or before the newline.
    """
    start = file.read(LONGEST_ROW)
    if start.startswith(_PACKED):
        raise UserError(f"{path} is a spreadsheet or packed, no text; unpack it, or save it as CSV")
    if wide := _wide(start):
        raise UserError(f"{path} is {wide.upper()}, not UTF-8; convert it: `{conversion(path, wide)}`")
    file.seek(3 if start.startswith(BOM_UTF8) else 0)  # the codec utf-8-sig drops a mark's beginning at a file's end
    end = "\r" if b"\n" not in start and b"\r" in start else "\n"
    text = TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", newline=end)
    number = 0
    try:
        while line := text.readline(LONGEST_ROW + 1):
            number += 1
            is_long = len(line) > LONGEST_ROW and not line.endswith(end)
            while is_long and (more := text.readline(LONGEST_ROW)) and not more.endswith(end):
                pass
            yield number, None if is_long else line.removesuffix(end)
    finally:
        if not file.closed:
            text.detach()


def _wide(start: bytes) -> str | None:
    """The encoding of a file whose characters have two or four bytes, by its mark, or by where its zero bytes are."""
    named = next((name for mark, name in _WIDE.items() if start.startswith(mark)), None)
    text = start.rstrip(b"\0")  # what a power cut leaves may be longer than the text
    places = [text[place::4] for place in range(4)]
    return named or _ZEROS.get(tuple(2 * found.count(0) > len(found) for found in places))


def conversion(path: Path, encoding: str = "windows-1252") -> str:
    """The command that makes UTF-8 of a file. Excel in Portuguese writes windows-1252; latin-1 is the same but for a
    few signs.
    """
    names = ("FILE", "utf8-FILE") if path.is_dir() else (path.name, f"utf8-{path.name}")
    return "iconv -f {} -t utf-8 {} > {}".format(encoding, *map(shlex.quote, names))


def not_text(line: str) -> Broken | None:
    """Why a line is no text of UTF-8."""
    try:
        line.encode()
    except UnicodeEncodeError as error:
        return Broken(f"the row is {NOT_UTF8} (character {error.start + 1})")
    return Broken(f"the row holds a zero byte (character {line.index(chr(0)) + 1})") if "\0" in line else None
