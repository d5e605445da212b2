"""The audit as one HTML file that needs nothing else: what the terminal shows, with whole texts."""

from pathlib import Path

from tucano.audit.report import AuditReport
from tucano.audit.table import shown
from tucano.presentation.pages import environment


def render_page(report: AuditReport) -> str:
    """The page as text."""
    made = environment(Path(__file__).parent)
    made.filters["estimate"] = shown
    return made.get_template("audit.html.j2").render(report=report)
