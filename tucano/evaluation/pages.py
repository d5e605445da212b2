"""How HTML pages are made: templates that escape everything, since completions are untrusted text."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tucano.printable import printable


def environment(folder: Path = Path(__file__).parent) -> Environment:
    """Of the templates in a folder: whatever they put in is escaped and printable."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
    )
