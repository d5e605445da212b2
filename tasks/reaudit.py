"""Stage between answers and verdict: the reward audit again, on what the tuned policies themselves sample."""

import json
from pathlib import Path
from typing import Any

from rewards import load_reward_set
from tasks.context import Run, stage
from tasks.pages import show_text
from tucano.artifacts import Artifact, Recipe
from tucano.evaluation.answers import read_answers
from tucano.evaluation.reaudit import Reaudit, reaudit
from tucano.evaluation.reaudit_table import render_table
from tucano.prompts import read_prompts


@stage("re-audit rewards")
def audit_again(run: Run, prompts: Artifact, start: Artifact | None, seeds: list[Artifact], answers: Artifact) -> Artifact:
    """Reaudit of every seed; a seed that fails is not promoted."""
    settings = run.settings

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        report = reaudit(
            load_reward_set(settings.grpo.rewards, prompts.folder),
            settings,
            read_prompts(prompts.folder / "test.jsonl"),
            read_answers(answers.folder / "answers.jsonl"),
            "sft" if start else "base",
            [f"seed-{seed.record['seed']}" for seed in seeds],
        )
        (draft / "re-audit.json").write_text(json.dumps(report.to_json(), ensure_ascii=False, indent=1, allow_nan=False), encoding="utf-8")
        (draft / "re-audit.txt").write_text(f"{render_table(report)}\n", encoding="utf-8")
        return {"verdict": report.verdict}

    parts = {
        "rewards": settings.grpo.rewards,
        "alpha": settings.comparison.alpha,
        "resamples": settings.audit.resamples,
        "seed": settings.seed,
    }
    inputs = {"prompts": prompts.digest, "answers": answers.digest}
    artifact = run.make("re-audit", ("tucano.evaluation.reaudit_table",), parts, inputs, produce)
    show_text("re-audit", (artifact.folder / "re-audit.txt").read_text(encoding="utf-8"))
    run.tracker.log_artifacts(run.tracking_run, artifact.folder, "re-audit")
    run.tracker.set_tags(run.tracking_run, {"re-audit": artifact.record["verdict"]})
    return artifact


def read_reaudit(artifact: Artifact) -> Reaudit:
    return Reaudit.from_json(json.loads((artifact.folder / "re-audit.json").read_text(encoding="utf-8")))
