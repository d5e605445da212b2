"""What is wrong with the rows of files, counted and named row by row."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from data.reading.files import NOT_UTF8, conversion
from tucano.errors import UserError

SHOWN = 20
"""Findings of each kind that are named; all are counted."""
UNREADABLE = "unreadable"


@dataclass
class Findings:
    """By kind: how many rows, and the first of them as «reviews.csv line 7: …»."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: str, sentence: str) -> None:
        self.counts[kind] += 1
        if self.counts[kind] <= SHOWN:
            self.first.setdefault(kind, []).append(sentence)

    def lines(self) -> Iterator[str]:
        for kind, count in self.counts.most_common():
            yield f"  {kind}: {count}"
            yield from (f"    {sentence}" for sentence in self.first[kind])
            if count > SHOWN:
                yield f"    … and {count - SHOWN} more"

    def require_few(self, kind: str, rows: int, most: float, path: Path) -> None:
        """UserError where more of a file's rows are of that kind than are named, and than the share `most`."""
        count = self.counts[kind]
        if count <= max(SHOWN, most * rows):
            return
        said = "; ".join(self.first[kind][:3])
        mend = f"convert it, like `{conversion(path)}`" if NOT_UTF8 in said else "mend it"
        raise UserError(
            f"{path}: {count} of {rows} rows cannot be read ({said}; …); {mend}, or go on without them with --set"
            f" data.unreadable={min(1.0, count / rows + 0.001):.3f}"
        )
