"""Stage 2: the reward audit, a gate that stands before any training."""

import json
from pathlib import Path
from typing import Any

from tasks.context import Run, stage
from tasks.pages import show_text
from tucano.artifacts import Artifact, Recipe, fingerprint
from tucano.errors import GateClosed
from tucano.evaluation.audit import PINNED, audit
from tucano.evaluation.audit_page import render_page
from tucano.evaluation.audit_report import AuditReport
from tucano.evaluation.audit_table import render_details, render_table
from tucano.evaluation.pages import TEMPLATES

COMMITTED_RATINGS = Path(__file__).parent.parent / "data" / "ratings"


@stage("audit rewards")
def audit_rewards(run: Run) -> Artifact:
    """AuditReport of the reward set that will be trained on, also when it fails: a failed audit is a report, not an error."""
    settings = run.settings
    ratings = Path(settings.audit.ratings) if settings.audit.ratings else COMMITTED_RATINGS

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        report = audit(settings.grpo.rewards, ratings, settings.audit, settings.tasks, settings.seed)
        (draft / "audit.json").write_text(report.dumps(), encoding="utf-8")
        (draft / "audit.html").write_text(render_page(report), encoding="utf-8")
        (draft / "audit.txt").write_text(f"{render_table(report)}\n\n{render_details(report)}\n", encoding="utf-8")
        return {"verdict": report.verdict, "passed": report.passed, "provisional": report.provisional}

    parts = {
        "rewards": settings.grpo.rewards,
        "audit": settings.audit.model_dump(exclude={"ratings"}),
        "tasks": list(settings.tasks),
        "seed": settings.seed,
    }
    files = [*sorted(ratings.glob("*.*")), PINNED, *TEMPLATES]
    inputs = {file.name: str(fingerprint(file)["sha256"]) for file in files if file.is_file()}
    artifact = run.make("audit", ("tucano.evaluation.audit", "tucano.evaluation.audit_page"), parts, inputs, produce)
    show_text("reward-audit", (artifact.folder / "audit.txt").read_text(encoding="utf-8"))
    run.tracker.log_artifacts(run.tracking_run, artifact.folder, "audit")
    return artifact


def pass_gate(run: Run, artifact: Artifact) -> AuditReport:
    """The report if training may go on; GateClosed with the table of what failed if not."""
    report = read_report(artifact)
    run.tracker.set_tags(
        run.tracking_run,
        {"audit": report.verdict, "audit.override_by": report.overridden_by, "audit.override_reason": report.override_reason},
    )
    if not report.may_proceed:
        raise GateClosed(
            f"the reward audit failed, so nothing was trained.\n\n{render_table(report)}\n"
            "Mend the rewards, or go on by name and with a reason:\n"
            '  --set audit.override_by=NAME --set audit.override_reason="WHY"'
        )
    return report


def read_report(artifact: Artifact) -> AuditReport:
    return AuditReport.from_json(json.loads((artifact.folder / "audit.json").read_text(encoding="utf-8")))
