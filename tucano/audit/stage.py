"""The audit as a stage: the report of a reward set, written for programs, for a browser and for a terminal."""

from pathlib import Path

from tucano.artifacts.records import write_record
from tucano.audit.gate import audit
from tucano.audit.parallel.forks import Hands
from tucano.audit.report import AuditReport
from tucano.audit.table import agreement, details, render_details, render_table
from tucano.files.results import AuditFiles
from tucano.presentation.pages import environment
from tucano.settings.audit import AuditStage


def write_audit(settings: AuditStage, ratings: Path, folder: Path, hands: Hands) -> AuditReport:
    """Audit against the ratings in a folder; writes `AuditFiles`."""
    report = audit(settings.rewards, ratings, settings.audit, settings.tasks, settings.seed, hands)
    files = AuditFiles(folder)
    write_record(files.report, report)
    files.page.write_text(render_page(report), encoding="utf-8")
    files.text.write_text(f"{render_table(report)}\n\n{render_details(report)}\n", encoding="utf-8")
    return report


def render_page(report: AuditReport) -> str:
    """The audit as one HTML file that needs nothing else: what the terminal shows, with whole texts."""
    template = environment(Path(__file__).parent).get_template("audit.html.j2")
    return template.render(report=report, tables=[agreement(report), *details(report)])
