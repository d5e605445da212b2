"""What a rater needs beside a text: the part of the guide that applies to the task, and the tables that SQL questions ask about."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tucano.evaluation.ratings import STORE, STORE_DUMP, rating_store
from tucano.prompts import TASKS, Task

GUIDE = Path(__file__).parents[2] / "docs" / "rating-guide.md"
HEADINGS: dict[Task, str] = {"extraction": "Extraction", "sql_qa": "SQL question", "insights": "Insights", "push": "Push"}


def guides() -> dict[Task, str]:
    """{task: Markdown}: the guide's section on the task, which a rater looks at again and again, then what it says in general."""
    general, *sections = GUIDE.read_text(encoding="utf-8").split("\n## ")
    return {task: f"## {next(part for part in sections if part.startswith(HEADINGS[task]))}\n{general}" for task in TASKS}


def tables(folder: Path) -> list[tuple[str, list[str], list[str]]]:
    """(table, columns, values of its first row) of the folder's store, by name: which columns there are and how values are written."""
    if not (folder / STORE_DUMP).is_file():
        return []
    with rating_store(folder) as place, closing(sqlite3.connect(place / STORE)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return [_table(connection, name) for name in names]


def _table(connection: sqlite3.Connection, name: str) -> tuple[str, list[str], list[str]]:
    quoted = name.replace('"', '""')
    rows = connection.execute(f'SELECT * FROM "{quoted}" LIMIT 1')
    columns = [description[0] for description in rows.description]
    return name, columns, ["NULL" if value is None else str(value) for value in next(rows, ())]
