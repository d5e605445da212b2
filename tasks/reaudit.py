"""Stage between answers and verdict: the reward audit again, on what the tuned policies themselves sample."""

from pathlib import Path
from typing import Any

from rewards import load_reward_set
from tasks.handles import AnswerSet, PromptSet, ReauditResult, Seeds, Start
from tasks.running.pages import show_text
from tasks.running.run import Run, stage
from tucano.artifacts.records import write_record
from tucano.artifacts.store import Recipe
from tucano.audit.reaudit import reaudit
from tucano.audit.reaudit_table import render_table
from tucano.files.results import ReauditFiles
from tucano.prompts import read_prompts
from tucano.settings.stages import of_reaudit


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
        files.text.write_text(f"{render_table(report)}\n", encoding="utf-8")
        return {"verdict": report.verdict}

    inputs = {"prompts": prompts.digest, "answers": answers.digest}
    made = ReauditResult(run.make("re-audit", render_table, chosen, inputs, produce))
    show_text("re-audit", made.files.text.read_text(encoding="utf-8"))
    run.tracker.log_artifacts(run.tracking_run, made.files.folder, "re-audit")
    run.tracker.set_tags(run.tracking_run, {"re-audit": made.report.verdict})
    return made
