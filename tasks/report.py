"""Stage 8: one HTML file for readers, and the note on the run's MLflow page."""

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tasks.cost import spent
from tasks.running.handles import AuditResult, ComparisonResult, PromptSet, ReauditResult, Report, SeedResult, Seeds
from tasks.running.labels import named, prefect_link
from tasks.running.pages import show_markdown, show_table
from tasks.running.run import Run, stage
from tucano.artifacts.code_version import code_version
from tucano.artifacts.identity import digest
from tucano.artifacts.lineage import digests
from tucano.artifacts.store import Recipe
from tucano.comparison.promotion import Promotion
from tucano.configuration import PLACES
from tucano.cost import costs, sentence
from tucano.files.models import SeedFiles
from tucano.files.results import ReportFiles
from tucano.profiles import nearest_profile, project_root
from tucano.report.report import Facts, SeedCurves, apart, render_report
from tucano.security.printable import escaped
from tucano.settings.stages import ReportStage
from tucano.storage.journal import read_journal
from tucano.training.jobs import MODULES

SAID_ELSEWHERE = ("promotion", "cost")
"""What the report says in both languages, and not as a row of its lineage."""


@stage("report")
def write_report(
    run: Run,
    prompts: PromptSet,
    audit: AuditResult,
    seeds: Seeds,
    reaudit: ReauditResult,
    comparison: ComparisonResult,
    promotion: Promotion,
) -> str:
    """The path of report.html; the verdict becomes the first line of the run's note."""
    cost, gain = spent(run, comparison)
    profile, differences = nearest_profile(project_root(Path.cwd()), run.settings)
    chosen = ReportStage(
        settings=run.settings.model_dump(mode="json", exclude=PLACES),
        profile=profile,
        differences=tuple(row for row in differences if row[0] not in PLACES),
        lineage={**_lineage(run, promotion), "cost": sentence(cost, gain)},
    )
    facts = Facts(
        settings=chosen.settings,
        baseline=chosen.profile,
        differences=chosen.differences,
        lineage={name: value for name, value in chosen.lineage.items() if name not in SAID_ELSEWHERE},
        promotion=promotion,
        data=json.loads(prompts.files.report.read_text(encoding="utf-8")),
        # of GRPO, also where DPO came after it: the same metrics for all seeds
        training=[curves_of(one.seed, SeedFiles(run.stages[f"grpo-{one.arm}"].folder)) for one in seeds.trained],
        stage_seconds={name: 3600 * found.hours for name, found in costs(run.stages, run.settings.cost).items()},
        machine_hours=cost.hours,
        usd=cost.dollars,
        audit=audit.report,
        reaudit=reaudit.report,
        run=named(run.settings),
        made_on=datetime.now().astimezone().date().isoformat(),
    )

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        text = json.dumps(chosen.settings, indent=1, ensure_ascii=False)
        files = ReportFiles(draft)
        files.settings.write_text(text, encoding="utf-8")
        files.page.write_text(render_report(comparison.comparison, facts), encoding="utf-8")
        # `tucano gc` keeps what a registered model was made from
        return {"registered": promotion.version, "promotion": asdict(promotion)}

    inputs = {name: artifact.digest for name, artifact in run.stages.items()}  # what it cost is read from all of them
    made = Report(run.make("report", render_report, chosen, inputs, produce))
    _publish(run, made.files.page, seeds, comparison, promotion)
    return str(made.files.page)


def _publish(run: Run, report: Path, seeds: Seeds, comparison: ComparisonResult, promotion: Promotion) -> None:
    verdict = comparison.comparison.verdict
    tracker = run.tracker
    with TemporaryDirectory() as place:
        copy = Path(place) / report.name
        copy.write_text(apart(report.read_text(encoding="utf-8")), encoding="utf-8")
        tracker.log_artifact(run.tracking_run, copy, "report")
    tracker.set_tags(
        run.tracking_run,
        {"verdict": verdict.headline, **{f"digest.{name}": digest for name, digest in digests(run.stages).items()}},
    )
    links = " · ".join(f"[{escaped(name)}]({page})" for name, page in tracker.pages(run.tracking_run).items())
    promoted = f"Promotion: {promotion.candidate} is {promotion.status}, because {promotion.reason}."
    said = map(escaped, (*verdict.reservations, promoted, *verdict.sentences))
    tracker.set_note(run.tracking_run, "\n\n".join([f"**{escaped(verdict.headline)}**", links, *said, prefect_link()]))
    tracker.ensure_views()
    show_table("health", [alarm for seed in seeds.trained for alarm in _alarms(seed)], "Alarms of each seed")
    links = "".join(f"- [{escaped(name)}]({link})\n" for name, link in tracker.links(run.tracking_run).items())
    show_markdown("mlflow-pages", links, "This run, its trainings and saved views in MLflow")


def _lineage(run: Run, promotion: Promotion) -> dict[str, str]:
    version = f"{promotion.model} version {promotion.version}" if promotion.version else "-"
    return {
        **{name: digest[:16] for name, digest in digests(run.stages).items()},
        "settings": digest(run.settings.model_dump(mode="json", exclude=PLACES))[:16],
        "code version": code_version(MODULES["grpo"]),
        "promotion": f"{promotion.candidate}: {promotion.status}, {promotion.reason}",
        "registry": version,
    }


def curves_of(seed: int, files: SeedFiles) -> SeedCurves:
    """Every metric of a seed's training, from its journal."""
    metrics: dict[str, list[tuple[int, float]]] = {}
    for entry in read_journal(files.journal):
        for name, value in entry.values.items():
            metrics.setdefault(name, []).append((entry.step, value))
    return SeedCurves(seed, metrics)


def _alarms(seed: SeedResult) -> list[dict[str, object]]:
    """The rows of one seed in the health table; a healthy seed has one that says so."""
    quiet = {"name": "none", "step": "", "evidence": "no alarm was raised"}
    return [{"seed": seed.seed, **alarm} for alarm in [line.model_dump() for line in seed.record.alarms] or [quiet]]
