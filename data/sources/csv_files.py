"""CSV files of published data as text columns: rows that are none are left out and counted."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import pandas as pd

from data.reading.delimited import STARS, delimited
from data.reading.files import Broken, opened
from data.reading.findings import Findings
from tucano.errors import UserError
from tucano.masking import mask
from tucano.settings.data import UNREADABLE

QUOTED = 20
"""Characters of a cell that a complaint shows: in a shifted row they are somebody's review."""

LONGEST_NAME = 100
"""Characters of a state, a category, a status: each stands in prompts and queries."""
LARGEST_AMOUNT = 1e12

Kind = Literal["amount", "time", "known time", "stars", "id", "name"]
_NEEDED = ("known time", "stars", "id")
"""Kinds of which no cell is empty."""
_OTHERWISE = "other than an earlier row of the same id"


def _numbers(cells: pd.Series) -> pd.Series:
    values = pd.to_numeric(cells, errors="coerce")
    return values.where(values.abs() < math.inf)


def _times(cells: pd.Series) -> pd.Series:
    """Of this century: the last of all times says which orders are late."""
    times: pd.Series = pd.to_datetime(cells, format="%Y-%m-%d %H:%M:%S", errors="coerce")
    return times.where(times.dt.year.between(2000, 2099))


def _stars(cells: pd.Series) -> pd.Series:
    stripped = cells.str.strip()
    return _numbers(stripped.where(stripped.str.fullmatch(STARS, na=False)).str[0])


_TIME = (_times, "a time like 2018-03-31 12:00:00, from 2000 to 2099, is needed")
_KINDS: Mapping[Kind, tuple[Callable[[pd.Series], pd.Series], str]] = {
    "amount": (
        lambda cells: _numbers(cells).where(lambda numbers: numbers.between(0, LARGEST_AMOUNT)),
        f"a number from 0 to {LARGEST_AMOUNT:.0e} is needed",
    ),
    "time": _TIME,
    "known time": _TIME,
    "id": (lambda cells: cells.where(cells.str.strip() != ""), "an id is needed"),
    "name": (
        lambda cells: cells.where(cells.str.len() <= LONGEST_NAME),
        f"a name of at most {LONGEST_NAME} characters is needed",
    ),
    "stars": (_stars, "1 to 5 is needed"),
}


class TableReader:
    """Reads files and keeps count of the rows that it leaves out: `bad`, by file. `most`: the share of a file's rows
    that may be unreadable.
    """

    def __init__(self, most: float = UNREADABLE) -> None:
        self.bad = Findings()
        self._most = most

    @property
    def bad_rows(self) -> list[str]:
        return [line.strip() for line in self.bad.lines()]

    @property
    def warnings(self) -> list[str]:
        return [f"{count} rows are {kind} and left out" for kind, count in self.bad.counts.items()]

    def read(
        self, path: Path, columns: Mapping[str, Kind | None], separator: str = ",", optional: tuple[str, ...] = ()
    ) -> pd.DataFrame:
        """The named columns and the optional ones that the file has: as text, as numbers or as times (the shop's local
        time, as published); empty cells are missing. A row without stars, an id or a known time is none. Its index
        names each row: «reviews.csv line 7». Raises `UserError`.
        """
        with opened(path) as file:
            stars = {name: STARS for name, kind in columns.items() if kind == "stars"}
            header, rows = delimited(file, path, separator, stars)
            chosen = [*columns, *(name for name in optional if name in header)]
            places = _places(header, chosen, path, separator)
            kind = f"unreadable in {path.name}"
            found: dict[str, list[str | None]] = {}
            count = 0
            for line, cells in rows:
                count += 1
                place = f"{path.name} line {line}"
                if isinstance(cells, Broken):
                    self.bad.add(kind, f"{place}: {cells.why}")
                else:
                    found[place] = [cells[column] or None for column in places]
        if not count:
            raise UserError(f"{path} has a header and no rows; replace it with the published file")
        table = pd.DataFrame.from_dict(found, orient="index", columns=chosen, dtype="str")
        for name, wanted in columns.items():
            if wanted is not None:
                table = self._converted(table, name, wanted, kind)
        self.bad.require_few(kind, count, self._most if len(table) else 0.0, path)
        return table

    def unique(self, table: pd.DataFrame, ids: list[str]) -> pd.DataFrame:
        """The first row of each id, which the columns `ids` make; later ones that say something else are counted."""
        again = table.duplicated(ids)
        for place in table.index[again & ~table.duplicated()]:
            self.bad.add(_OTHERWISE, f"{place}: an earlier row of the same {', '.join(ids)} says something else")
        return table[~again]

    def _converted(self, table: pd.DataFrame, name: str, wanted: Kind, kind: str) -> pd.DataFrame:
        """Without the rows whose cell is something else."""
        convert, needed = _KINDS[wanted]
        values = convert(table[name])
        is_wrong = values.isna() & (table[name].notna() | (wanted in _NEEDED))
        for place, cell in table[name][is_wrong].fillna("").items():
            self.bad.add(kind, f"{place}: column {name} holds {_quoted(cell)}, {needed}")
        return table.assign(**{name: values})[~is_wrong]


def _places(header: list[str], chosen: list[str], path: Path, separator: str) -> list[int]:
    missing = [name for name in chosen if name not in header]
    if not any(header):
        raise UserError(f"{path} is empty; replace it with the published file")
    if missing and len(header) == 1:
        raise UserError(
            f"{path} has a single column: its fields must be separated by {separator!r}; save it with that separator"
        )
    if missing:
        raise UserError(f"{path} has no column {', '.join(missing)}; it needs {', '.join(chosen)}")
    if doubled := [name for name in chosen if header.count(name) > 1]:
        raise UserError(f"{path} has two columns {doubled[0]!r}; rename one")
    return [header.index(name) for name in chosen]


def without_personal_data(column: pd.Series) -> pd.Series:
    """A column of short texts, masked; missing cells stay missing."""
    return column.map({text: mask(text)[0] for text in column.dropna().unique()}, na_action="ignore")


def _quoted(cell: str) -> str:
    text = mask(cell)[0]
    return repr(text if len(text) <= QUOTED else f"{text[:QUOTED]}…")
