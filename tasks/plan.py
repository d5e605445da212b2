"""The analysis plan: what will be primary, written down before anything is trained on it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from prefect import get_client, get_run_logger
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.objects import WorkPool

from data.public.prepare import require_public
from tasks.running.handles import Plan, PromptSet, SeedResult
from tasks.running.places import ON_THIS_MACHINE, pool_of, require_places
from tasks.running.run import Run, stage
from tucano.artifacts.identity import fingerprint
from tucano.artifacts.store import Recipe
from tucano.comparison import plan
from tucano.rating.choices import preference
from tucano.requirements import require_startable, warnings_of
from tucano.requirements.machine import seeds_side_by_side, training_gpus
from tucano.requirements.machines import of_pool
from tucano.requirements.shapes import shape_of
from tucano.settings import PipelineSettings
from tucano.settings.stages import of_plan


def foresee(settings: PipelineSettings) -> None:
    """What can be known before the first stage: UserError for what would end the run later, the rest into the log."""
    require_startable(settings)
    require_places(settings)
    if settings.model.device == "cuda":
        _require_fitting(settings)
    require_public(settings.benchmark.named)
    if settings.promotion.people is not None:
        preference(Path(settings.promotion.people))
    for warning in warnings_of(settings):
        get_run_logger().warning(warning)


@stage("look ahead")
def look_ahead(run: Run) -> None:
    """`foresee` as a stage."""
    foresee(run.settings)


def _require_fitting(settings: PipelineSettings) -> None:
    """UserError where a stage would not fit into the GPU that it is for: this machine's, or the one that its work pool
    names. Nothing is asked where the model's shape is not known.
    """
    from tucano.training.foresight.forecast import forecast, require_fitting, require_memory  # torch, for a GPU alone

    for pool, asked in _places(settings):
        if pool is None:
            require_fitting(asked)
        elif shape_of(settings.model) is not None and (machine := of_pool(pool.base_job_template)) is not None:
            require_memory(forecast(asked, machine), asked)
            train = min(training_gpus(asked, machine.gpus), len(asked.grpo.seeds))
            if asked is settings and seeds_side_by_side(asked) < train:
                get_run_logger().warning(
                    "%s has %d GPUs: use them with --set worker.parallel=%d", pool.name, train, train
                )


def _places(settings: PipelineSettings) -> Iterable[tuple[WorkPool | None, PipelineSettings]]:
    """Each work pool of the run, None for this machine's own, and what it is asked: seeds side by side where seeds
    train, one model at a time elsewhere. `require_places` has seen that they are there.
    """
    stages, seeds = settings.execution.stages, settings.execution.seeds
    if stages is None and seeds is None:
        return [(None, settings)]
    alone = settings.model_copy(update={"worker": settings.worker.model_copy(update={"parallel": 1})})
    with get_client(sync_client=True) as client:
        pools = [(_elsewhere(client, stages), alone), (_elsewhere(client, seeds), settings)]
    return {pool.name if pool is not None else None: (pool, asked) for pool, asked in pools}.values()


def _elsewhere(client: SyncPrefectClient, deployment: str | None) -> WorkPool | None:
    """Where a deployment works; None for this machine."""
    pool = pool_of(client, deployment) if deployment is not None else None
    return None if pool is None or pool.type == ON_THIS_MACHINE else pool


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
