"""Tables and paragraphs for a terminal of 100 columns that are markdown too."""

import textwrap
from collections.abc import Iterable, Sequence

from tucano.security.printable import printable

WIDTH = 100


def pipe_table(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows (the first is the head) as an aligned markdown table: first column to the left, the others to the right."""
    rows = [tuple(map(printable, row)) for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    cells = [
        [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        for row in rows
    ]
    return ["| " + " | ".join(line) + " |" for line in (cells[0], rule, *cells[1:])]


def wrapped(text: str, width: int = WIDTH) -> list[str]:
    """A paragraph or list item as lines; those after the first of an item are indented."""
    indent = "  " if text.startswith("- ") else ""
    return textwrap.wrap(printable(text), width, subsequent_indent=indent, break_on_hyphens=False)


def items(texts: Iterable[str]) -> list[str]:
    """A list of these texts as lines."""
    return [line for text in texts for line in wrapped(f"- {text}")]


def blocks(*parts: Sequence[str]) -> str:
    """Tables, paragraphs and lists with an empty line between them; those without lines are left out."""
    return "\n\n".join("\n".join(part) for part in parts if part)
