"""The audit as a stage: the report of a reward set, written for programs, for a browser and for a terminal."""

from pathlib import Path

from tucano.evaluation.audit import audit
from tucano.evaluation.audit_page import render_page
from tucano.evaluation.audit_report import AuditReport
from tucano.evaluation.audit_table import render_details, render_table
from tucano.settings.audit import AuditStage


def write_audit(settings: AuditStage, ratings: Path, folder: Path) -> AuditReport:
    """Audit against the ratings in a folder; writes audit.json, audit.html and audit.txt."""
    report = audit(settings.rewards, ratings, settings.audit, settings.tasks, settings.seed)
    (folder / "audit.json").write_text(report.dumps(), encoding="utf-8")
    (folder / "audit.html").write_text(render_page(report), encoding="utf-8")
    (folder / "audit.txt").write_text(f"{render_table(report)}\n\n{render_details(report)}\n", encoding="utf-8")
    return report
