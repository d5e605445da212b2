"""Stage 2: the reward audit, a gate that stands before any training."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from prefect import get_run_logger

from tasks.handles import AuditResult
from tasks.running.pages import show_text
from tasks.running.run import Run, stage
from tucano.artifacts.store import Recipe
from tucano.audit.parallel.process import audited_apart, ratings_of
from tucano.audit.report import Youden
from tucano.audit.stage import write_audit
from tucano.audit.table import render_table
from tucano.errors import GateClosed
from tucano.settings.stages import of_audit


@stage("audit rewards")
def audit_rewards(run: Run) -> AuditResult:
    """The audit of the reward set that will be trained on, also when it fails: a failed audit is a report, not an
    error.
    """
    chosen = of_audit(run.settings)
    ratings, inputs = ratings_of(run.settings)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        return audited_apart(chosen, ratings, draft, get_run_logger().info)

    made = AuditResult(run.make("audit", write_audit, chosen, inputs, produce))
    show_text("reward-audit", made.files.text.read_text(encoding="utf-8"))
    run.tracker.log_artifacts(run.tracking_run, made.files.folder, "audit")
    if metrics := _metrics(made.report.youden):
        run.tracker.log_metrics(run.tracking_run, metrics)
    return made


def _metrics(rows: Sequence[Youden]) -> dict[str, float]:
    """Youden's J of each task's reward over all thresholds with its interval, to four decimals."""
    found = {row.task: asdict(row.j) for row in rows if row.at == "all"}
    return {f"youden/{task}/{part}": round(value, 4) for task, j in found.items() for part, value in j.items()}


def pass_gate(run: Run, audit: AuditResult) -> None:
    """Raise GateClosed with the table of what failed where training may not go on."""
    report = audit.report
    run.tracker.set_tags(
        run.tracking_run,
        {
            "audit": report.verdict,
            "audit.override_by": report.overridden_by,
            "audit.override_reason": report.override_reason,
        },
    )
    if not report.may_proceed:
        raise GateClosed(
            f"the reward audit failed, so nothing was trained.\n\n{render_table(report)}\n"
            "Mend the rewards, or go on by name and with a reason:\n"
            '  --set audit.override_by=NAME --set audit.override_reason="WHY"'
        )
