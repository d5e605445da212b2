"""Stages 3 and 4: supervised fine-tuning, and one GRPO run per seed, each in a training child."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prefect import get_run_logger
from prefect.futures import PrefectFuture

from tasks.handles import PromptSet, SeedResult, Seeds, Start
from tasks.running.child import run_child
from tasks.running.labels import data_split
from tasks.running.run import Run, stage
from tasks.tracked import Best, Training, known, log_best, tracked
from tucano.artifacts.store import Recipe
from tucano.errors import SeedGivenUp, WorkerCrashed, WorkerFailed
from tucano.files.models import SeedFiles, StartFiles, WorkFiles
from tucano.machine_time import Clock
from tucano.requirements import cores
from tucano.settings.stages import of_grpo, of_sft
from tucano.training import launch
from tucano.training.jobs import MODULES
from tucano.training.orders import JobFolders, order


@stage("sft")
def fine_tune(run: Run, prompts: PromptSet) -> Start:
    """The start of GRPO: the best model (nano) or adapter by validation loss."""
    settings = run.settings
    training = sft_training(run, prompts)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        work = run.store.work_folder(recipe)
        mirror = run.store.work_mirror(recipe)
        job = order(
            "sft",
            settings,
            settings.seed,
            cores(),
            JobFolders(prompts=prompts.files.folder, work=work, output=draft, mirror=mirror),
        )
        clock = Clock(work, mirror, settings.cost.machine)
        with clock, tracked(run, job, training) as tracking_run:
            result = run_child(run, job, training.name)
            spent = clock.spent(WorkFiles(work).journal)
            log_best(run, tracking_run, training, draft, result)
        shutil.copy2(WorkFiles(work).journal, StartFiles(draft).journal)
        return {
            **result,
            "threads": job.threads,
            "machine_time": spent,
            "tracking_run": tracking_run,
            "base": settings.model.name,
            "revision": settings.model.revision,
        }

    made = Start(run.make("sft", MODULES["sft"], of_sft(settings, settings.seed), {"prompts": prompts.digest}, produce))
    return known(run, training, made)


def sft_training(run: Run, prompts: PromptSet) -> Training:
    def best(folder: Path, record: Mapping[str, Any]) -> Best:
        lowest = record["lowest_validation_loss"]
        step = next(step for step, loss in record["validation_losses"] if loss == lowest)
        return Best(StartFiles(folder).weights, step, {"best/loss": lowest})

    splits = [
        data_split(prompts, "demonstrations", "training"),
        data_split(prompts, "demonstrations_validation", "validation"),
    ]
    return Training("sft", "sft", None, run.settings.sft.model_dump(), splits, best)


@stage("grpo", task_run_name="grpo-seed-{seed}")
def train_seed(run: Run, prompts: PromptSet, start: Start | None, seed: int) -> SeedResult:
    """The best adapter of one seed by the validation set, with its curves."""
    settings = run.settings
    training = seed_training(run, prompts, seed)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        work = run.store.work_folder(recipe)
        mirror = run.store.work_mirror(recipe)
        begin = start_of(run, start)
        threads = settings.worker.threads
        job = order(
            "grpo",
            settings,
            seed,
            threads,
            JobFolders(prompts=prompts.files.folder, work=work, output=draft, mirror=mirror),
            start=begin,
        )
        clock = Clock(work, mirror, settings.cost.machine)
        with run.seed_slots, clock, tracked(run, job, training) as tracking_run:
            result = run_child(run, job, training.name)
            spent = clock.spent(WorkFiles(work).journal)
            log_best(run, tracking_run, training, draft, result)
        shutil.copy2(WorkFiles(work).journal, SeedFiles(draft).journal)
        return {**result, "seed": seed, "tracking_run": tracking_run, "machine_time": spent}

    inputs = {"prompts": prompts.digest, "start": start.digest if start else ""}
    made = SeedResult(run.make(f"grpo-seed-{seed}", MODULES["grpo"], of_grpo(settings, seed), inputs, produce))
    return known(run, training, made)


def seed_training(run: Run, prompts: PromptSet, seed: int) -> Training:
    selection = run.settings.grpo.selection

    def best(folder: Path, record: Mapping[str, Any]) -> Best:
        return Best(SeedFiles(folder).adapter, record["best_step"], {f"best/{selection}": record["best_value"]})

    params = {**run.settings.grpo.model_dump(exclude={"seeds"}), "seed": seed}
    splits = [data_split(prompts, "train", "training"), data_split(prompts, "validation", "validation")]
    return Training(f"grpo seed {seed}", "grpo", seed, params, splits, best)


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
