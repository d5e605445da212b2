"""Which champion was taken back, when and why: a line each in `overview/back.jsonl`, by `tucano promote --back`.

Reports know what a run promoted; that a person went back to a version afterwards no artifact knows.
"""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from tucano.artifacts.records import parsed
from tucano.errors import UserError
from tucano.overview.runs import FOLDER
from tucano.prompts import jsonl_lines

FILE = "back.jsonl"


@dataclass(frozen=True, slots=True)
class Back:
    """`version` of `model` is champion again since `time` (ISO, UTC); `why` are a person's words."""

    time: str
    model: str
    version: int
    why: str

    @property
    def moment(self) -> datetime:
        return datetime.fromisoformat(self.time).astimezone(UTC)


def record_back(root: Path, model: str, version: int, why: str) -> None:
    """Note that this version is champion again from now on."""
    path = root / FOLDER / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    back = Back(datetime.now(UTC).isoformat(), model, version, why)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(back), ensure_ascii=False) + "\n")


def read_backs(root: Path) -> tuple[list[Back], list[str]]:
    """(Every going back, oldest first, what cannot be read in words.)"""
    path = root / FOLDER / FILE
    try:
        lines = jsonl_lines(path) if path.is_file() and not path.is_symlink() else []
    except (OSError, UserError) as error:
        return [], [f"{FOLDER}/{FILE}: {error}"]
    backs: list[tuple[datetime, Back]] = []
    unreadable: list[str] = []
    for number, line in enumerate(lines, 1):
        try:
            back = parsed(Back, json.loads(line))
            backs.append((back.moment, back))
        except (ValueError, OverflowError):
            unreadable.append(f"{FOLDER}/{FILE}: line {number} is damaged")
    return [back for _, back in sorted(backs, key=lambda entry: entry[0])], unreadable
