"""What a rater needs beside a text: the part of the guide that applies to the task, and the tables that SQL questions ask about."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from tucano.errors import UserError
from tucano.evaluation.ratings import STORE, STORE_DUMP, rating_store
from tucano.prompts import TASKS, Task
from tucano.specs.registry import spec_of

GUIDE = Path(__file__).parents[2] / "docs" / "rating-guide.md"


def guides() -> dict[Task, str]:
    """{task: Markdown}: the guide's section on the task, which a rater looks at again and again, then what it says in general."""
    general, *sections = GUIDE.read_text(encoding="utf-8").split("\n## ")
    return {task: f"## {_section(task, sections)}\n{general}" for task in TASKS}


def _section(task: Task, sections: Sequence[str]) -> str:
    heading = spec_of(task).display.guide
    found = next((section for section in sections if section.startswith(heading)), None)
    if found is None:
        raise UserError(f"{GUIDE} has no section «## {heading}» for the task {task}; write it, or mend `display.guide` in the task's spec")
    return found


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


def visible(text: str) -> str:
    """Control characters as the pictures that Unicode has for them (␛ for escape): no text can steer a terminal or hide in a page."""
    return "".join(_picture(character) for character in text)


def _picture(character: str) -> str:
    code = ord(character)
    if code < 0x20 and character not in "\n\t":
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return "\ufffd" if 0x80 <= code < 0xA0 else character
