"""Stage 8: one HTML file for readers, and the note on the run's MLflow page."""

import json
from pathlib import Path
from typing import Any

from prefect import get_run_logger

from tasks.audit import read_report
from tasks.compare import read_comparison
from tasks.context import Run, prefect_link, stage
from tasks.cost import spent
from tasks.pages import show_markdown, show_table
from tasks.promote import Promotion
from tasks.reaudit import read_reaudit
from tucano.artifacts import Artifact, Recipe, code_version, fingerprint
from tucano.cost import sentence
from tucano.evaluation.pages import TEMPLATES
from tucano.evaluation.report import Facts, SeedCurves, render_report
from tucano.journal import read_journal
from tucano.lineage import digests
from tucano.printable import escaped
from tucano.profiles import nearest_profile, project_root


@stage("report")
def write_report(
    run: Run, prompts: Artifact, audit: Artifact, seeds: list[Artifact], reaudit: Artifact, comparison: Artifact, promotion: Promotion
) -> str:
    """The path of report.html; the verdict becomes the first line of the run's note."""
    cost, gain = spent(run, comparison)
    profile, differences = nearest_profile(project_root(Path.cwd()), run.settings)
    facts = Facts(
        settings=run.settings.model_dump(mode="json"),
        baseline=profile,
        differences=differences,
        lineage={**_lineage(run, promotion), "cost": sentence(cost, gain)},
        data=json.loads((prompts.folder / "report.json").read_text(encoding="utf-8")),
        training=[curves_of(seed.record["seed"], seed.folder) for seed in seeds],
        stage_seconds={name: artifact.seconds for name, artifact in run.stages.items()},
        machine_hours=cost.hours,
        usd=cost.dollars,
        audit=read_report(audit),
        reaudit=read_reaudit(reaudit),
    )

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        (draft / "settings.json").write_text(run.settings.model_dump_json(indent=1), encoding="utf-8")
        (draft / "report.html").write_text(render_report(read_comparison(comparison), facts), encoding="utf-8")
        return {}

    parts = {"settings": facts.settings, "profile": profile, "differences": [name for name, *_ in differences], "promotion": facts.lineage}
    inputs = {name: artifact.digest for name, artifact in run.stages.items()}
    inputs |= {template.name: str(fingerprint(template)["sha256"]) for template in TEMPLATES}
    artifact = run.make("report", ("tucano.evaluation.report",), parts, inputs, produce)
    report = artifact.folder / "report.html"
    _publish(run, report, seeds, comparison, promotion)
    return str(report)


def _publish(run: Run, report: Path, seeds: list[Artifact], comparison: Artifact, promotion: Promotion) -> None:
    verdict = read_comparison(comparison).verdict
    tracker = run.tracker
    tracker.log_artifact(run.tracking_run, report, "report")
    tracker.set_tags(
        run.tracking_run, {"verdict": verdict.headline, **{f"digest.{name}": digest for name, digest in digests(run.stages).items()}}
    )
    links = " · ".join(f"[{escaped(name)}]({page})" for name, page in tracker.pages(run.tracking_run).items())
    promoted = f"Promotion: {promotion.candidate} is {promotion.status}, because {promotion.reason}."
    said = map(escaped, (promoted, *verdict.sentences))
    tracker.set_note(run.tracking_run, "\n\n".join([f"**{escaped(verdict.headline)}**", links, *said, prefect_link()]))
    tracker.ensure_views()
    show_table("health", [alarm for seed in seeds for alarm in _alarms(seed)], "Alarms of each seed")
    links = "".join(f"- [{escaped(name)}]({link})\n" for name, link in tracker.links(run.tracking_run).items())
    show_markdown("mlflow-pages", links, "This run, its trainings and saved views in MLflow")
    rows = [{"stage": name, "seconds": round(stage.seconds, 1), "reused": stage.reused} for name, stage in run.stages.items()]
    show_table("stage-times", rows, "What each stage took when it ran")
    for row in rows:
        get_run_logger().info("%-18s %7.1f s%s", row["stage"], row["seconds"], "   (reused)" if row["reused"] else "")


def _lineage(run: Run, promotion: Promotion) -> dict[str, str]:
    version = f"{promotion.model} version {promotion.version}" if promotion.version else "-"
    return {
        **{name: digest[:16] for name, digest in digests(run.stages).items()},
        "settings": Recipe("run", run.settings.model_dump(), {}, "").key,
        "code": code_version("tucano.training.grpo"),
        "promotion": f"{promotion.candidate}: {promotion.status}, {promotion.reason}",
        "registry": version,
    }


def curves_of(seed: int, folder: Path) -> SeedCurves:
    """Every metric of a seed's training, from its journal."""
    metrics: dict[str, list[tuple[int, float]]] = {}
    for entry in read_journal(folder / "journal.jsonl"):
        for name, value in entry.values.items():
            metrics.setdefault(name, []).append((entry.step, value))
    return SeedCurves(seed, metrics)


def _alarms(seed: Artifact) -> list[dict[str, object]]:
    """The rows of one seed in the health table; a healthy seed has one that says so."""
    quiet = {"name": "none", "step": "", "evidence": "no alarm was raised"}
    return [{"seed": seed.record["seed"], **alarm} for alarm in seed.record["alarms"] or [quiet]]
