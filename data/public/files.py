"""Files of public benchmarks: read inside fixed bounds, refused in one sentence."""

import json
import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from tucano.errors import UserError
from tucano.prompts import lines_of
from tucano.security.printable import short
from tucano.security.strict_json import strict_json

MOST_BYTES = 16 * 2**20
"""Of one file; the published ones have 3 MB at most, and lists of nothing take 25 times their file's size."""
MOST_QUESTIONS = 20_000
MOST_FILES = 100
"""Files of one pattern: ENEM has one a year."""
LONGEST_TEXT = 20_000
"""Characters of one text of a question."""
LICENCES = ("LICENSE*", "LICENCE*", "license*", "licence*", "COPYING*")
LONGEST_LICENCE = 160


def refusal(setting: str, sentence: str) -> UserError:
    return UserError(f"benchmark.{setting}: {sentence}")


def folder_of(setting: str, place: str, needed: Sequence[str]) -> Path:
    """The folder, with all files that it needs (names, or patterns of which one has to be met)."""
    folder = Path(place)
    if not os.path.isdir(folder):  # noqa: PTH112  a name that is too long is no folder, and no error
        raise refusal(setting, f"{short(place)} is no folder; name the one that holds {' and '.join(needed)}")
    for name in needed:
        found = list(islice(folder.glob(name), MOST_FILES + 1))
        if not any(path.is_file() for path in found):
            raise refusal(setting, f"the folder {short(place)} has no {name}; put it there or name another folder")
        if len(found) > MOST_FILES:
            raise refusal(setting, f"the folder {short(place)} has more than {MOST_FILES} files {name}; name another")
    return folder


def objects(setting: str, path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON list or of JSON lines, in their order."""
    text = _text(setting, path)
    if path.suffix == ".json":
        found = _json(setting, text, path.name)
    else:
        lines = enumerate(lines_of(text), start=1)
        found = [_json(setting, line, f"{path.name} line {number}") for number, line in lines if line.strip()]
    rows = [found] if isinstance(found, dict) else found
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise refusal(setting, f"{path.name} holds no objects; take the published file")
    if len(rows) > MOST_QUESTIONS:
        raise refusal(setting, f"{path.name} has more than {MOST_QUESTIONS} rows; take the published file")
    return rows


def _json(setting: str, text: str, where: str) -> Any:
    try:
        found = strict_json(text)
        # half a character, which no file takes, and a number without end fail here
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise refusal(setting, f"{where} is no JSON ({str(error)[:80]}); take the published file") from None
    return found


def _text(setting: str, path: Path) -> str:
    if not path.is_file() or not 0 < path.stat().st_size <= MOST_BYTES:  # 0: what the kernel shows as a file has no end
        raise refusal(setting, f"{path.name} is no file of 1 byte to {MOST_BYTES // 2**20} MB; take the published one")
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise refusal(setting, f"{path.name} cannot be read as UTF-8; take the published file") from None


def text_at(setting: str, row: dict[str, Any], name: str, longest: int = LONGEST_TEXT) -> str:
    """A text of a row, of at most `longest` characters."""
    value = row.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        raise refusal(setting, f"a row has no {name} of 1 to {longest} characters; take the published file")
    return value.strip()


def licence_of(folder: Path) -> str:
    """The first words of the folder's own licence file, or that there is none."""
    for path in sorted(path for pattern in LICENCES for path in folder.glob(pattern)):
        if path.is_file() and path.stat().st_size <= MOST_BYTES:
            words = " ".join(path.read_text(encoding="utf-8", errors="replace").split())
            return f"Licence ({path.name}): {short(words, LONGEST_LICENCE)}"
    return "The folder has no licence file; ask those who published it what it may be used for."
