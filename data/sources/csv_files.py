"""CSV files as text columns, with one clear sentence for everything that can be wrong with one."""

from pathlib import Path

import pandas as pd

from tucano.errors import UserError
from tucano.masking import mask

QUOTED = 20
"""Characters of a cell that a complaint shows: in a shifted row they are somebody's review."""


def read_table(
    path: Path, columns: tuple[str, ...], separator: str = ",", optional: tuple[str, ...] = ()
) -> pd.DataFrame:
    """The named columns of a CSV file and the optional ones that it has, all as text, empty cells as missing. Raises
    `UserError`.
    """
    if not path.is_file():
        raise UserError(f"data.path: there is no file {path}; put it there or name another folder")
    try:
        table = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, na_values=[""], encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path} is not UTF-8 (byte {error.start}); convert it, for example with `iconv -f latin1 -t utf-8"
            f" {path.name} > utf8.csv`"
        ) from error
    except pd.errors.EmptyDataError as error:
        raise UserError(f"{path} is empty; replace it with the published file") from error
    except pd.errors.ParserError as error:
        raise UserError(
            f"{path} cannot be read as a CSV separated by {separator!r}: {str(error).strip()}; save it again in that"
            " form"
        ) from error
    missing = [name for name in columns if name not in table.columns]
    if missing and len(table.columns) == 1:
        raise UserError(
            f"{path} has a single column: its fields must be separated by {separator!r}; save it with that separator"
        )
    if missing:
        raise UserError(f"{path} has no column {', '.join(missing)}; it needs {', '.join(columns)}")
    if table.empty:
        raise UserError(f"{path} has a header and no rows; replace it with the published file")
    return table[[*columns, *(name for name in optional if name in table.columns)]]


def numbers(table: pd.DataFrame, column: str, path: Path) -> pd.Series:
    """A column as numbers, missing cells as NaN. Raises `UserError` that quotes what is no number."""
    values = pd.to_numeric(table[column], errors="coerce")
    wrong = table[column][values.isna() & table[column].notna()]
    if not wrong.empty:
        raise UserError(
            f"{path}: column {column} holds {_quoted(wrong.iloc[0])} (row {wrong.index[0] + 2}), a number is needed;"
            " correct or remove the row"
        )
    return values


def times(table: pd.DataFrame, column: str, path: Path) -> pd.Series:
    """A column of `AAAA-MM-DD HH:MM:SS` as timestamps (the shop's local time, as published), missing cells as NaT."""
    values = pd.to_datetime(table[column], format="%Y-%m-%d %H:%M:%S", errors="coerce")
    wrong = table[column][values.isna() & table[column].notna()]
    if not wrong.empty:
        raise UserError(
            f"{path}: column {column} holds {_quoted(wrong.iloc[0])} (row {wrong.index[0] + 2}), expected a time like"
            " 2018-03-31 12:00:00"
        )
    return values


def without_personal_data(column: pd.Series) -> pd.Series:
    """A column of short texts, masked; missing cells stay missing."""
    return column.map({text: mask(text)[0] for text in column.dropna().unique()}, na_action="ignore")


def _quoted(cell: str) -> str:
    text = mask(cell)[0]
    return repr(text if len(text) <= QUOTED else f"{text[:QUOTED]}…")
