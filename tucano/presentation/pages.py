"""How HTML pages are made: templates that escape everything, since completions are untrusted text."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tucano.security.printable import printable

STYLE = Path(__file__).with_name("style.css.j2")


def environment(folder: Path) -> Environment:
    """Of the templates in a folder, which may include the style: whatever they put in is escaped and printable."""
    return Environment(
        loader=FileSystemLoader([folder, STYLE.parent]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
    )
