"""The analysis plan: what will be primary, written down before anything is trained on it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from prefect import get_run_logger

from data.public.prepare import require_public
from tasks.handles import Plan, PromptSet, SeedResult
from tasks.running.places import require_places
from tasks.running.run import Run, stage
from tucano.artifacts.identity import fingerprint
from tucano.artifacts.store import Recipe
from tucano.comparison import plan
from tucano.rating.choices import preference
from tucano.requirements import require_startable, warnings_of
from tucano.settings import PipelineSettings
from tucano.settings.stages import of_plan


def foresee(settings: PipelineSettings) -> None:
    """What can be known before the first stage: UserError for what would end the run later, the rest into the log."""
    require_startable(settings)
    if settings.model.device == "cuda" and settings.execution.computes_here:
        from tucano.training.foresight.forecast import require_fitting  # torch, which only a GPU's plan needs here

        require_fitting(settings)
    require_places(settings)
    require_public(settings.benchmark.named)
    if settings.promotion.people is not None:
        preference(Path(settings.promotion.people))
    for warning in warnings_of(settings):
        get_run_logger().warning(warning)


@stage("write down the plan")
def write_plan(run: Run, prompts: PromptSet) -> Plan:
    """What the comparison will be judged by. Another choice is another plan, with a later date."""
    chosen = of_plan(run.settings)
    test_set = str(fingerprint(prompts.files.test)["sha256"])

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        return {"primary": plan.write_plan(chosen, test_set, draft)}

    made = Plan(run.make("plan", plan.write_plan, chosen, {"test_set": test_set}, produce))
    run.tracker.log_artifact(run.tracking_run, made.files.plan, "plan")
    return made


def came_first(plan: Plan, seeds: Iterable[SeedResult]) -> bool:
    """Whether the plan was written before every seed was trained."""
    return all(plan.made_at < seed.made_at for seed in seeds)
