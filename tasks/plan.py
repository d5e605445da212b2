"""The analysis plan: what will be primary, written down before anything is trained on it."""

from pathlib import Path
from typing import Any

from tasks.context import Run, stage
from tucano.artifacts import Artifact, Recipe
from tucano.evaluation import plan
from tucano.identity import fingerprint
from tucano.settings.stages import of_plan


@stage("write down the plan")
def write_plan(run: Run, prompts: Artifact) -> Artifact:
    """What the comparison will be judged by. Another choice is another plan, with a later date."""
    chosen, test_set = of_plan(run.settings), str(fingerprint(prompts.folder / "test.jsonl")["sha256"])

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        return {"primary": plan.write_plan(chosen, test_set, draft)}

    artifact = run.make("plan", plan.write_plan, chosen, {"test_set": test_set}, produce)
    run.tracker.log_artifact(run.tracking_run, artifact.folder / "plan.json", "plan")
    return artifact


def came_first(plan: Artifact, seeds: list[Artifact]) -> bool:
    """Whether the plan was written before every seed was trained."""
    return all(plan.made_at < seed.made_at for seed in seeds)
