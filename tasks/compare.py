"""Stages 5 and 6: every arm answers the held-out prompts, and statistics say whether the seeds are better."""

import json
from pathlib import Path
from typing import Any

from tasks.context import Run, cores, run_child, stage
from tasks.train import start_of
from tucano.artifacts import Artifact, Recipe
from tucano.training.jobs import Arm, Job


@stage("answer test prompts")
def answer_prompts(run: Run, prompts: Artifact, start: Artifact | None, seeds: list[Artifact]) -> Artifact:
    """Answers of base, start and every seed to the test prompts, served and sampled, scored."""
    settings = run.settings

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        job = Job(
            kind="answer",
            settings=settings.model_dump(mode="json"),
            prompts=str(prompts.folder),
            work=str(run.store.work_folder(recipe)),
            output=str(draft),
            seed=settings.seed,
            threads=cores(),
            arms=_arms(run, start, seeds),
        )
        return run_child(run, job, "answers")

    parts = {
        "comparison": settings.comparison.model_dump(exclude={"primary", "alpha"}),
        "rewards": settings.grpo.rewards,
        "max_completion_tokens": settings.grpo.max_completion_tokens,
        "seed": settings.seed,
    }
    inputs = {"prompts": prompts.digest, "start": start.digest if start else ""}
    inputs |= {f"seed-{seed.record['seed']}": seed.digest for seed in seeds}
    return run.make("answers", ("tucano.training.answers",), parts, inputs, produce)


def _arms(run: Run, start: Artifact | None, seeds: list[Artifact]) -> list[Arm]:
    base, adapter = start_of(run, start)
    arms = [Arm("base", base)]
    if start is not None and (start.folder / "base").is_dir():
        arms = [Arm("base", str(start.folder / "base"))]
    if start is not None:
        arms.append(Arm("sft", base, adapter))
    return arms + [Arm(f"seed-{seed.record['seed']}", base, str(seed.folder / "adapter")) for seed in seeds]
