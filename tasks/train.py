"""Stages 3 and 4: supervised fine-tuning, and one GRPO run per seed, each in a training child."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefect import get_run_logger
from prefect.futures import PrefectFuture

from tasks.context import Run, cores, data_split, run_child, stage
from tasks.tracked import JOURNAL, Best, Training, known, log_best, tracked
from tucano.artifacts import Artifact, Recipe
from tucano.errors import SeedGivenUp, WorkerCrashed, WorkerFailed
from tucano.machine_time import Clock
from tucano.training import launch
from tucano.training.jobs import Job


@stage("sft")
def fine_tune(run: Run, prompts: Artifact) -> Artifact:
    """AdapterRef of the start of GRPO: the best model (nano) or adapter by validation loss."""
    settings, training = run.settings, sft_training(run, prompts)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        job = Job(
            kind="sft",
            settings=settings.model_dump(mode="json"),
            prompts=str(prompts.folder),
            work=str(run.store.work_folder(recipe)),
            mirror=run.store.work_mirror(recipe),
            output=str(draft),
            seed=settings.seed,
            threads=cores(),
            base=settings.model.name,
        )
        clock = Clock(Path(job.work), job.mirror, settings.cost.machine)
        with clock, tracked(run, job, training) as tracking_run:
            result = run_child(run, job, training.name)
            spent = clock.spent(Path(job.work) / JOURNAL)
            log_best(run, tracking_run, training, draft, result)
        shutil.copy2(Path(job.work) / JOURNAL, draft)
        return {
            **result,
            "machine_time": spent,
            "tracking_run": tracking_run,
            "base": settings.model.name,
            "revision": settings.model.revision,
        }

    parts = {"sft": settings.sft.model_dump(), "model": settings.model.model_dump(), "seed": settings.seed}
    return known(run, training, run.make("sft", ("tucano.training.sft",), parts, {"prompts": prompts.digest}, produce))


def sft_training(run: Run, prompts: Artifact) -> Training:
    def best(folder: Path, record: Mapping[str, Any]) -> Best:
        kept = next(folder / name for name in ("model", "adapter") if (folder / name).is_dir())
        lowest = record["lowest_validation_loss"]
        return Best(kept, next(step for step, loss in record["validation_losses"] if loss == lowest), {"best/loss": lowest})

    splits = [data_split(prompts, "demonstrations", "training"), data_split(prompts, "demonstrations_validation", "validation")]
    return Training("sft", "sft", None, run.settings.sft.model_dump(), splits, best)


@stage("grpo", task_run_name="grpo-seed-{seed}")
def train_seed(run: Run, prompts: Artifact, start: Artifact | None, seed: int) -> Artifact:
    """SeedResult: the best adapter of one seed by the validation set, with its curves."""
    settings, training = run.settings, seed_training(run, prompts, seed)
    base, adapter = start_of(run, start)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        job = Job(
            kind="grpo",
            settings=settings.model_dump(mode="json"),
            prompts=str(prompts.folder),
            work=str(run.store.work_folder(recipe)),
            mirror=run.store.work_mirror(recipe),
            output=str(draft),
            seed=seed,
            threads=settings.worker.threads,
            base=base,
            adapter=adapter,
        )
        clock = Clock(Path(job.work), job.mirror, settings.cost.machine)
        with run.seed_slots, clock, tracked(run, job, training) as tracking_run:
            result = run_child(run, job, training.name)
            spent = clock.spent(Path(job.work) / JOURNAL)
            log_best(run, tracking_run, training, draft, result)
        shutil.copy2(Path(job.work) / JOURNAL, draft)
        return {**result, "seed": seed, "tracking_run": tracking_run, "machine_time": spent}

    parts = {"grpo": settings.grpo.model_dump(exclude={"seeds"}), "model": settings.model.model_dump(), "seed": seed}
    inputs = {"prompts": prompts.digest, "start": start.digest if start else ""}
    return known(run, training, run.make(f"grpo-seed-{seed}", ("tucano.training.grpo",), parts, inputs, produce))


def seed_training(run: Run, prompts: Artifact, seed: int) -> Training:
    selection = run.settings.grpo.selection

    def best(folder: Path, record: Mapping[str, Any]) -> Best:
        return Best(folder / "adapter", record["best_step"], {f"best/{selection}": record["best_value"]})

    params = {**run.settings.grpo.model_dump(exclude={"seeds"}), "seed": seed}
    splits = [data_split(prompts, "train", "training"), data_split(prompts, "validation", "validation")]
    return Training(f"grpo seed {seed}", "grpo", seed, params, splits, best)


@dataclass(frozen=True)
class Seeds:
    """The seeds that were trained, and why the others are missing."""

    trained: list[Artifact]
    missing: dict[int, str]


def gather(run: Run, training: Mapping[int, PrefectFuture[Artifact]]) -> Seeds:
    """Wait for every seed. One that was given up is missing and the others go on; a mistake of a person stops the run.

    Raises the first seed's error when none is left.
    """
    seeds, errors = Seeds([], {}), list[Exception]()
    for seed, future in training.items():
        try:
            seeds.trained.append(future.result())
        except (WorkerCrashed, WorkerFailed, SeedGivenUp) as error:
            if launch.stopping():
                raise
            seeds.missing[seed] = str(error)
            errors.append(error)
            get_run_logger().error("seed %d is given up: %s", seed, error)
    if not seeds.trained:
        raise errors[0]
    run.tracker.set_tags(run.tracking_run, {"missing_seeds": ", ".join(map(str, seeds.missing)) or None})
    return seeds


def start_of(run: Run, start: Artifact | None) -> tuple[str, str | None]:
    """Base and adapter that GRPO and the reference arm begin with."""
    if start is None:
        return run.settings.model.name, None
    if (start.folder / "model").is_dir():
        return str(start.folder / "model"), None
    return run.settings.model.name, str(start.folder / "adapter")
