"""What stages show in the Prefect page. It renders Markdown, in the cells of tables too, and what is shown quotes
models and people.
"""

from collections.abc import Mapping, Sequence

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from tucano.security.printable import escaped, fenced


def show_text(key: str, text: str) -> None:
    """A text as it is, every character in its place."""
    create_markdown_artifact(key=key, markdown=fenced(text))


def show_table(key: str, rows: Sequence[Mapping[str, object]], description: str | None = None) -> None:
    """Rows with the same columns each."""
    cells = [{name: escaped(cell) if isinstance(cell, str) else cell for name, cell in row.items()} for row in rows]
    create_table_artifact(key=key, table=cells, description=_said(description))


def show_markdown(key: str, markdown: str, description: str | None = None) -> None:
    """Markup of our own; what it quotes has been through `escaped` or `fenced`."""
    create_markdown_artifact(key=key, markdown=markdown, description=_said(description))


def _said(description: str | None) -> str | None:
    return None if description is None else escaped(description)
