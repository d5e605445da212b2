"""The reward audit: stage 2, a gate that stands before any training; and again, between answers and verdict, on what
the tuned policies themselves sample.
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from prefect import get_run_logger

from rewards import load_reward_set
from tasks.running.handles import AnswerSet, AuditResult, PromptSet, ReauditResult, Seeds, Start
from tasks.running.pages import show_text
from tasks.running.run import Run, stage
from tucano.artifacts.records import write_record
from tucano.artifacts.store import Recipe
from tucano.audit.parallel.process import audited_apart, ratings_of
from tucano.audit.reaudit import reaudit
from tucano.audit.reaudit_table import render_table as render_again
from tucano.audit.report import Youden
from tucano.audit.stage import write_audit
from tucano.audit.table import render_table
from tucano.errors import GateClosed
from tucano.files.results import ReauditFiles
from tucano.prompts import read_prompts
from tucano.settings.stages import of_audit, of_reaudit


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
    run.tracker.log_artifact(run.tracking_run, made.files.folder, "audit")
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
    run.tracker.set_tags(run.tracking_run, report.tags)
    if not report.may_proceed:
        raise GateClosed(
            f"the reward audit failed, so nothing was trained.\n\n{render_table(report)}\n"
            "Mend the rewards, or go on by name and with a reason:\n"
            '  --set audit.override_by=NAME --set audit.override_reason="WHY"'
        )


@stage("re-audit rewards")
def audit_again(run: Run, prompts: PromptSet, start: Start | None, seeds: Seeds, answers: AnswerSet) -> ReauditResult:
    """The re-audit of every seed; a seed that fails is not promoted."""
    chosen = of_reaudit(run.settings)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        report = reaudit(
            load_reward_set(chosen.rewards, prompts.files.folder),
            chosen,
            read_prompts(prompts.files.test),
            answers.read(),
            "sft" if start else "base",
            [seed.arm for seed in seeds.trained],
        )
        files = ReauditFiles(draft)
        write_record(files.report, report)
        files.text.write_text(f"{render_again(report)}\n", encoding="utf-8")
        return {"verdict": report.verdict}

    inputs = {"prompts": prompts.digest, "answers": answers.digest}
    made = ReauditResult(run.make("re-audit", render_again, chosen, inputs, produce))
    show_text("re-audit", made.files.text.read_text(encoding="utf-8"))
    run.tracker.log_artifact(run.tracking_run, made.files.folder, "re-audit")
    run.tracker.set_tags(run.tracking_run, {"re-audit": made.report.verdict})
    return made
