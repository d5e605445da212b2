"""Stages 3 and 4: supervised fine-tuning, and one GRPO run per seed, each in a training child."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prefect import get_run_logger
from prefect.futures import PrefectFuture

from tasks.context import Run, cores, data_split, run_child, stage, tracked_training
from tasks.handles import PromptSet, SeedResult, Seeds, Start
from tucano.artifacts import Recipe
from tucano.errors import SeedGivenUp, WorkerCrashed, WorkerFailed
from tucano.files.models import SeedFiles, StartFiles, WorkFiles
from tucano.machine_time import Clock
from tucano.settings.stages import of_grpo, of_sft
from tucano.training import launch
from tucano.training.jobs import MODULES
from tucano.training.orders import order


@stage("sft")
def fine_tune(run: Run, prompts: PromptSet) -> Start:
    """The start of GRPO: the best model (nano) or adapter by validation loss."""
    settings = run.settings

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        work, mirror = run.store.work_folder(recipe), run.store.work_mirror(recipe)
        job = order("sft", settings, settings.seed, cores(), prompts=prompts.files.folder, work=work, output=draft, mirror=mirror)
        splits = [data_split(prompts, "demonstrations", "training"), data_split(prompts, "demonstrations_validation", "validation")]
        clock = Clock(work, mirror, settings.cost.machine)
        with clock, tracked_training(run, job, "sft", "sft", None, settings.sft.model_dump(), splits) as tracking_run:
            result = run_child(run, job, "sft")
            spent = clock.spent(WorkFiles(work).journal)
        made = StartFiles(draft)
        shutil.copy2(WorkFiles(work).journal, made.journal)
        best = {"best/loss": result["lowest_validation_loss"]}
        step = next(step for step, loss in result["validation_losses"] if loss == result["lowest_validation_loss"])
        run.tracker.log_checkpoint(tracking_run, "sft", made.weights, step, {"stage": "sft"}, best, splits[1])
        return {
            **result,
            "threads": job.threads,
            "machine_time": spent,
            "tracking_run": tracking_run,
            "base": settings.model.name,
            "revision": settings.model.revision,
        }

    return Start(run.make("sft", MODULES["sft"], of_sft(settings, settings.seed), {"prompts": prompts.digest}, produce))


@stage("grpo", task_run_name="grpo-seed-{seed}")
def train_seed(run: Run, prompts: PromptSet, start: Start | None, seed: int) -> SeedResult:
    """The best adapter of one seed by the validation set, with its curves."""
    settings = run.settings

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        work, mirror = run.store.work_folder(recipe), run.store.work_mirror(recipe)
        begin, threads = start_of(run, start), settings.worker.threads
        job = order("grpo", settings, seed, threads, prompts=prompts.files.folder, work=work, output=draft, mirror=mirror, start=begin)
        params = {**settings.grpo.model_dump(exclude={"seeds"}), "seed": seed}
        clock = Clock(work, mirror, settings.cost.machine)
        splits = [data_split(prompts, "train", "training"), data_split(prompts, "validation", "validation")]
        with (
            run.seed_slots,
            clock,
            tracked_training(run, job, f"grpo seed {seed}", "grpo", seed, params, splits) as tracking_run,
        ):
            result = run_child(run, job, f"grpo seed {seed}")
            spent = clock.spent(WorkFiles(work).journal)
        made = SeedFiles(draft)
        shutil.copy2(WorkFiles(work).journal, made.journal)
        run.tracker.set_tags(tracking_run, {"alarms": ", ".join(alarm["name"] for alarm in result["alarms"]) or "none"})
        best, tags = {f"best/{settings.grpo.selection}": result["best_value"]}, {"stage": "grpo", "seed": seed}
        run.tracker.log_checkpoint(tracking_run, f"grpo-seed-{seed}", made.adapter, result["best_step"], tags, best, splits[1])
        return {**result, "seed": seed, "tracking_run": tracking_run, "machine_time": spent}

    inputs = {"prompts": prompts.digest, "start": start.digest if start else ""}
    return SeedResult(run.make(f"grpo-seed-{seed}", MODULES["grpo"], of_grpo(settings, seed), inputs, produce))


def gather(run: Run, training: Mapping[int, PrefectFuture[SeedResult]]) -> Seeds:
    """Wait for every seed. One that was given up is missing and the others go on; a mistake of a person stops the run.

    Raises the first seed's error when none is left.
    """
    trained: list[SeedResult] = []
    missing: dict[int, str] = {}
    errors: list[Exception] = []
    for seed, future in training.items():
        try:
            trained.append(future.result())
        except (WorkerCrashed, WorkerFailed, SeedGivenUp) as error:
            if launch.stopping():
                raise
            missing[seed] = str(error)
            errors.append(error)
            get_run_logger().error("seed %d is given up: %s", seed, error)
    if not trained:
        raise errors[0]
    run.tracker.set_tags(run.tracking_run, {"missing_seeds": ", ".join(map(str, missing)) or None})
    return Seeds(tuple(trained), missing)


def start_of(run: Run, start: Start | None) -> tuple[str, str | None]:
    """Base and adapter that GRPO and the reference arm begin with."""
    if start is None:
        return run.settings.model.name, None
    if start.files.built_here:
        return str(start.files.model), None
    return run.settings.model.name, str(start.files.adapter)
