"""Stage 8: one HTML file for readers, and the note on the run's MLflow page."""

import json
from pathlib import Path
from typing import Any

from prefect import get_run_logger
from prefect.artifacts import create_markdown_artifact, create_table_artifact

from tasks.audit import read_report
from tasks.compare import read_comparison
from tasks.context import Run, prefect_link, stage
from tasks.cost import spent
from tasks.promote import Promotion
from tucano.artifacts import Artifact, Recipe, code_version, fingerprint
from tucano.evaluation.report import TEMPLATE, SeedCurves, render_report
from tucano.journal import read_journal
from tucano.spending import sentence


@stage("report")
def write_report(
    run: Run, prompts: Artifact, audit: Artifact, start: Artifact | None, seeds: list[Artifact], comparison: Artifact, promotion: Promotion
) -> str:
    """The path of report.html; the verdict becomes the first line of the run's note."""
    lineage = {name: artifact.digest[:16] for name, artifact in run.stages.items()}
    lineage |= {"settings": Recipe("run", run.settings.model_dump(), {}, "").key, "code": code_version("tucano.training.grpo")}
    lineage |= {"promotion": f"{promotion.candidate}: {promotion.status}", "cost": sentence(*spent(run, comparison))}

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        page = render_report(
            read_comparison(comparison),
            read_report(audit),
            json.loads((prompts.folder / "report.json").read_text(encoding="utf-8")),
            run.settings.model_dump(mode="json"),
            [_curves(seed) for seed in seeds],
            lineage,
            {name: artifact.seconds for name, artifact in run.stages.items()},
        )
        (draft / "report.html").write_text(page, encoding="utf-8")
        return {}

    parts = {"settings": run.settings.model_dump(mode="json"), "promotion": promotion.status}
    inputs = {name: artifact.digest for name, artifact in run.stages.items()} | {"template": str(fingerprint(TEMPLATE)["sha256"])}
    artifact = run.make("report", ("tucano.evaluation.report",), parts, inputs, produce)
    report = artifact.folder / "report.html"
    _publish(run, report, seeds, comparison)
    return str(report)


def _publish(run: Run, report: Path, seeds: list[Artifact], comparison: Artifact) -> None:
    verdict = read_comparison(comparison).verdict
    tracker = run.tracker
    tracker.log_artifact(run.tracking_run, report, "report")
    tracker.set_note(run.tracking_run, "\n\n".join([verdict.headline, *verdict.sentences, prefect_link()]))
    tracker.set_tags(run.tracking_run, {"verdict": verdict.headline})
    tracker.ensure_views()
    create_table_artifact(key="health", table=[alarm for seed in seeds for alarm in _alarms(seed)], description="Alarms of each seed")
    links = "".join(f"- [{name}]({link})\n" for name, link in tracker.links(run.tracking_run).items())
    create_markdown_artifact(key="mlflow-pages", markdown=links, description="This run, its trainings and saved views in MLflow")
    rows = [{"stage": name, "seconds": round(stage.seconds, 1), "reused": stage.reused} for name, stage in run.stages.items()]
    create_table_artifact(key="stage-times", table=rows, description="What each stage took when it ran")
    for row in rows:
        get_run_logger().info("%-18s %7.1f s%s", row["stage"], row["seconds"], "   (reused)" if row["reused"] else "")


def _alarms(seed: Artifact) -> list[dict[str, object]]:
    """The rows of one seed in the health table; a healthy seed has one that says so."""
    quiet = {"name": "none", "step": "", "evidence": "no alarm was raised"}
    return [{"seed": seed.record["seed"], **alarm} for alarm in seed.record["alarms"] or [quiet]]


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
