"""The analysis plan: what will be primary, written down before anything is trained on it."""

import json
from pathlib import Path
from typing import Any

from tasks.context import Run, stage
from tucano.artifacts import Artifact, Recipe, fingerprint


@stage("write down the plan")
def write_plan(run: Run, prompts: Artifact) -> Artifact:
    """What the comparison will be judged by. Another choice is another plan, with a later date."""
    settings = run.settings
    parts = {
        "comparison": settings.comparison.model_dump(),
        "seeds": sorted(settings.grpo.seeds),
        "reference": "sft" if settings.sft.enabled else "base",
        "test_set": fingerprint(prompts.folder / "test.jsonl")["sha256"],
    }

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        plan = {
            **parts,
            "primary": f"mean of the seeds - {parts['reference']}, {settings.comparison.primary} answers, mean reward per prompt",
            "test": "exact one-sided Wilcoxon signed-rank (Pratt), then Holm over the tasks",
            "configuration": "two-way t over prompts and seeds, from three seeds on",
        }
        (draft / "plan.json").write_text(json.dumps(plan, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return {"primary": plan["primary"]}

    artifact = run.make("plan", (), parts, {}, produce)
    run.tracker.log_artifact(run.tracking_run, artifact.folder / "plan.json", "plan")
    return artifact


def came_first(plan: Artifact, seeds: list[Artifact]) -> bool:
    """Whether the plan was written before every seed was trained."""
    return all(plan.made_at < seed.made_at for seed in seeds)
