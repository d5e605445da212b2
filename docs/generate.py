"""Writes what the code says into the pages: `python -m docs.generate`. Tests say when a page is not current."""

import re
from pathlib import Path

import rewards
from data import spoiling
from docs.settings_reference import reference

FOLDER = Path(__file__).parent
TABLES = {"rewards.md": rewards.describe, "data.md": spoiling.describe}
"""{page: what makes its table}"""


def with_table(page: str, table: str) -> str:
    """The page with the table in place of the one that has the same head."""
    head = table.partition("\n")[0]
    return re.sub(rf"^{re.escape(head)}\n(?:\|.*\n)*", lambda _: table, page, count=1, flags=re.MULTILINE)


def main() -> None:
    (FOLDER / "settings.md").write_text(reference(), encoding="utf-8")
    for name, describe in TABLES.items():
        page = (FOLDER / name).read_text(encoding="utf-8")
        (FOLDER / name).write_text(with_table(page, describe()), encoding="utf-8")


if __name__ == "__main__":
    main()
