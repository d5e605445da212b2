"""Stage 8: one HTML file for readers, and the note on the run's MLflow page."""

import json
from pathlib import Path
from typing import Any

from prefect import get_run_logger
from prefect.artifacts import create_link_artifact, create_table_artifact

from tasks.audit import read_report
from tasks.compare import read_comparison
from tasks.context import Run, stage
from tasks.promote import Promotion
from tasks.reaudit import read_reaudit
from tucano.artifacts import Artifact, Recipe, code_version, fingerprint
from tucano.evaluation.pages import TEMPLATES
from tucano.evaluation.report import SeedCurves, render_report
from tucano.journal import read_journal


@stage("report")
def write_report(
    run: Run, prompts: Artifact, audit: Artifact, seeds: list[Artifact], reaudit: Artifact, comparison: Artifact, promotion: Promotion
) -> str:
    """The path of report.html; the verdict becomes the first line of the run's note."""
    lineage = {name: artifact.digest[:16] for name, artifact in run.stages.items()}
    lineage |= {"settings": Recipe("run", run.settings.model_dump(), {}, "").key, "code": code_version("tucano.training.grpo")}
    lineage |= {"promotion": f"{promotion.candidate}: {promotion.status}"}

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        page = render_report(
            read_comparison(comparison),
            read_report(audit),
            read_reaudit(reaudit),
            json.loads((prompts.folder / "report.json").read_text(encoding="utf-8")),
            run.settings.model_dump(mode="json"),
            [_curves(seed) for seed in seeds],
            lineage,
            {name: artifact.seconds for name, artifact in run.stages.items()},
        )
        (draft / "report.html").write_text(page, encoding="utf-8")
        return {}

    parts = {"settings": run.settings.model_dump(mode="json"), "promotion": promotion.status}
    inputs = {name: artifact.digest for name, artifact in run.stages.items()}
    inputs |= {template.name: str(fingerprint(template)["sha256"]) for template in TEMPLATES}
    artifact = run.make("report", ("tucano.evaluation.report",), parts, inputs, produce)
    report = artifact.folder / "report.html"
    _publish(run, report, comparison)
    return str(report)


def _publish(run: Run, report: Path, comparison: Artifact) -> None:
    verdict = read_comparison(comparison).verdict
    tracker = run.tracker
    tracker.log_artifact(run.tracking_run, report, "report")
    tracker.set_note(run.tracking_run, "\n\n".join([verdict.headline, *verdict.sentences]))
    tracker.set_tags(run.tracking_run, {"verdict": verdict.headline})
    tracker.ensure_views()
    for name, link in tracker.links(run.tracking_run).items():
        create_link_artifact(key=f"mlflow-{name.replace(' ', '-').lower()}", link=link, link_text=f"MLflow: {name}")
    rows = [{"stage": name, "seconds": round(stage.seconds, 1), "reused": stage.reused} for name, stage in run.stages.items()]
    create_table_artifact(key="stage-times", table=rows, description="What each stage took when it ran")
    for row in rows:
        get_run_logger().info("%-18s %7.1f s%s", row["stage"], row["seconds"], "   (reused)" if row["reused"] else "")


def _curves(seed: Artifact) -> SeedCurves:
    entries = read_journal(seed.folder / "journal.jsonl")
    training = [(entry.step, entry.values["train/reward/total"]) for entry in entries if "train/reward/total" in entry.values]
    validation = [(entry.step, entry.values["validation/reward"]) for entry in entries if "validation/reward" in entry.values]
    return SeedCurves(
        seed=seed.record["seed"],
        steps=[step for step, _ in training],
        reward=[reward for _, reward in training],
        validation_steps=[step for step, _ in validation],
        validation_reward=[reward for _, reward in validation],
    )
