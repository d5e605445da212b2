"""The audit as one HTML file that needs nothing else: what the terminal shows, with whole texts."""

from tucano.evaluation.audit_report import AuditReport
from tucano.evaluation.audit_table import shown
from tucano.evaluation.pages import environment


def render_page(report: AuditReport) -> str:
    """The page as text."""
    made = environment()
    made.filters["estimate"] = shown
    return made.get_template("audit.html.j2").render(report=report)
