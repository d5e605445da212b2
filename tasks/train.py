"""Stages 3 and 4: supervised fine-tuning, and one GRPO run per seed, with DPO after it where that is asked for, each in
a training child: of this run, or for a seed of one of a deployment.
"""

import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from prefect import get_run_logger
from prefect.futures import PrefectFuture

from tasks.running.child import run_child
from tasks.running.deployed import RunLost, artifact_of
from tasks.running.elsewhere import pack
from tasks.running.handles import AlarmLine, Preferences, PromptSet, SeedResult, Seeds, Start
from tasks.running.labels import data_split
from tasks.running.run import Run, Untrained, stage
from tasks.running.tracked import Best, Training, known, log_best, tracked
from tucano.artifacts.store import Recipe
from tucano.errors import SeedGivenUp, WorkerCrashed, WorkerFailed
from tucano.files.models import SeedFiles, StartFiles, WorkFiles
from tucano.files.per_task import join_adapters
from tucano.machine_time import Clock
from tucano.prompts import Task, read_prompts
from tucano.requirements import cores
from tucano.requirements.machine import seeds_together
from tucano.settings.stages import of_dpo, of_grpo, of_join, of_sft
from tucano.training import launch
from tucano.training.health import level
from tucano.training.jobs import MODULES, Job
from tucano.training.orders import JobFolders, for_round, for_task, order


@stage("sft")
def fine_tune(run: Run, prompts: PromptSet) -> Start:
    """The start of GRPO: the best model (nano) or adapter by validation loss."""
    settings = run.settings
    training = sft_training(run, prompts)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        job = order("sft", settings, settings.seed, cores(), _folders(run, recipe, prompts, draft))
        return {
            **_trained(run, job, training, nullcontext()),
            "threads": job.threads,
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
def train_seed(
    run: Run, prompts: PromptSet, start: Start | None, seed: int, preferences: Preferences | None
) -> SeedResult:
    """The best adapter of one seed by the validation set: of GRPO, or of DPO after it."""
    if run.settings.grpo.adapters == "per_task":
        parts = {task: reinforce(run, prompts, start, seed, task) for task in run.settings.tasks}
        return join(run, prompts, seed, parts)
    made = reinforce(run, prompts, start, seed)
    for number in range(1, 1 + rounds(run)):
        made = prefer(run, prompts, start, made, preferences if number == 1 else None, number)
    return made


def rounds(run: Run) -> int:
    """Of DPO after GRPO."""
    return run.settings.dpo.rounds if run.settings.dpo.enabled else 0


@stage("seed run", task_run_name="seed-{seed}")
def await_seed(
    run: Run, prompts: PromptSet, start: Start | None, seed: int, preferences: Preferences | None
) -> SeedResult:
    """The result of a seed that a run of the deployment `execution.seeds` trains, unless it is there already: the same
    run for all seeds that share a machine. SeedGivenUp where it does not.
    """
    with suppress(Untrained):
        return train_seed.fn(replace(run, makes=False), prompts, start, seed, preferences)
    seeds = list(seeds_together(run.settings, seed))
    parameters = {"seed": seeds if len(seeds) > 1 else seed, "prompts": pack(prompts), "start": pack(start)}
    if preferences is not None:  # a deployment of the version before has no such parameter
        parameters["preferences"] = pack(preferences)
    part = "-".join(map(str, ["seed", *seeds]))
    try:
        names = artifact_of(run, str(run.settings.execution.seeds), part, parameters).split()
    except RunLost as lost:
        raise SeedGivenUp(str(lost)) from None
    name = next((name for name in names if re.match(rf"\w+-seed-{seed}(-round-\d+)?/", name)), None)
    if name is None:
        raise SeedGivenUp("its run trained the seeds beside it and gave this one up; its log says why")
    made = SeedResult(run.adopt(name))
    for part in made.record.made_of:
        run.adopt(part)
    return known(run, seed_training(run, prompts, seed, rounds(run)), made) if made.record.tracking_run else made


def reinforce(run: Run, prompts: PromptSet, start: Start | None, seed: int, task: Task | None = None) -> SeedResult:
    """GRPO's best adapter, with its curves: for all tasks, or for one alone."""
    settings = run.settings
    name = f"grpo-seed-{seed}" if task is None else f"grpo-seed-{seed}-{task}"
    training = seed_training(run, prompts, seed)
    chosen = of_grpo(settings, seed)
    if task is not None:
        training = replace(training, name=f"{training.name} {task}", params={**training.params, "task": task})
        chosen = chosen.model_copy(update={"tasks": (task,)})

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        folders = _folders(run, recipe, prompts, draft)
        job = order("grpo", settings, seed, settings.worker.threads, folders, start=start_of(run, start))
        alone = job if task is None else for_task(job, task)
        return {**_trained(run, alone, training, run.seed_slots), "seed": seed}

    inputs = {"prompts": prompts.digest, "start": start.digest if start else ""}
    made = SeedResult(run.make(name, MODULES["grpo"], chosen, inputs, produce))
    return known(run, training, made)


def join(run: Run, prompts: PromptSet, seed: int, parts: Mapping[Task, SeedResult]) -> SeedResult:
    """One result of a seed whose tasks were trained one by one; its value is the mean over all validation prompts."""
    chosen = of_join(run.settings, seed)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        join_adapters({task: part.files for task, part in parts.items()}, SeedFiles(draft))
        records = [part.record for part in parts.values()]
        asked = Counter(prompt.task for prompt in read_prompts(prompts.files.validation))
        values = [record.best_value for record in records]
        alarms = chain.from_iterable(record.alarms for record in records)
        return {
            "seed": seed,
            "best_step": max(record.best_step for record in records),
            "best_value": fmean(values, list(map(asked.__getitem__, parts))),
            "alarms": [alarm.model_dump() for alarm in alarms],
            "made_of": [part.artifact.name for part in parts.values()],
            "tracking_run": "",
        }

    inputs = {part.artifact.stage: part.digest for part in parts.values()} | {"prompts": prompts.digest}
    return SeedResult(run.make(f"grpo-seed-{seed}", join_adapters, chosen, inputs, produce))


def prefer(
    run: Run, prompts: PromptSet, start: Start | None, before: SeedResult, preferences: Preferences | None, number: int
) -> SeedResult:
    """The best adapter of a round of DPO, which is the one before it where no look at the validation set found a better
    one.
    """
    settings = run.settings
    seed = before.seed
    training = seed_training(run, prompts, seed, number)
    people = preferences if preferences is not None and preferences.record.pairs else None

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        folders = _folders(run, recipe, prompts, draft)
        if people is not None:
            folders = replace(folders, preferences=people.files.pairs)
        begin = (start_of(run, start)[0], str(before.files.adapter))
        job = for_round(order("dpo", settings, seed, settings.worker.threads, folders, start=begin), number)
        trained = _trained(run, job, training, run.seed_slots)
        alarms = [*(alarm.model_dump() for alarm in before.record.alarms), *trained["alarms"]]
        told = {
            "made_of": [*before.record.made_of, before.artifact.name],
            "before_step": max(before.record.before_step, before.record.best_step),
        }
        return {**trained, **told, "alarms": alarms, "seed": seed}

    inputs = {"prompts": prompts.digest, "start": start.digest if start else "", before.artifact.stage: before.digest}
    if people is not None:
        inputs["preferences"] = people.digest
    stage = f"dpo-seed-{seed}" + (f"-round-{number}" if number > 1 else "")
    made = SeedResult(run.make(stage, MODULES["dpo"], of_dpo(settings, seed, number), inputs, produce))
    return known(run, training, made)


def seed_training(run: Run, prompts: PromptSet, seed: int, number: int = 0) -> Training:
    """Of GRPO, or of a round of DPO after it."""
    kind: Literal["grpo", "dpo"] = "dpo" if number else "grpo"
    selection = run.settings.grpo.selection

    def best(folder: Path, record: Mapping[str, Any]) -> Best:
        return Best(SeedFiles(folder).adapter, record["best_step"], {f"best/{selection}": record["best_value"]})

    chosen = run.settings.grpo.model_dump(exclude={"seeds"}) if kind == "grpo" else run.settings.dpo.model_dump()
    splits = [data_split(prompts, "train", "training"), data_split(prompts, "validation", "validation")]
    name = f"{kind} seed {seed}" + (f" round {number}" if number > 1 else "")
    return Training(name, kind, seed, {**chosen, "seed": seed}, splits, best)


def _folders(run: Run, recipe: Recipe, prompts: PromptSet, draft: Path) -> JobFolders:
    work = run.store.work_folder(recipe)
    mirror = run.store.work_mirror(recipe)
    return JobFolders(prompts=prompts.files.folder, work=work, output=draft, mirror=mirror)


def _trained(run: Run, job: Job, training: Training, slots: AbstractContextManager[Any]) -> dict[str, Any]:
    """What a training child says of its work, with its time and its MLflow run; its journal is kept in its output."""
    work = WorkFiles(Path(job.work))
    output = Path(job.output)
    clock = Clock(work.folder, job.mirror, run.settings.cost.machine)
    with slots, clock, tracked(run, job, training) as tracking_run:
        result = run_child(run, job, training.name)
        spent = clock.spent(work.journal)
        log_best(run, tracking_run, training, output, result)
    shutil.copy2(work.journal, SeedFiles(output).journal)
    return {**result, "tracking_run": tracking_run, "machine_time": spent}


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
    if said := told_of_alarms([alarm for seed in trained for alarm in seed.record.alarms]):
        get_run_logger().info(said)
    return Seeds(tuple(trained), missing)


def told_of_alarms(alarms: Sequence[AlarmLine]) -> str | None:
    """How many there were of each level, and how many of them stopped a seed."""
    levels = Counter(level(alarm.name, alarm.stops) for alarm in alarms)
    counts = [f"{levels[kind]} {kind.lower()}{'s' * (levels[kind] > 1)}" for kind in ("ALARM", "note") if levels[kind]]
    stopped = sum(alarm.stops for alarm in alarms) or "none"
    return f"{', '.join(counts)}, {stopped} stopped a seed; docs/health.md says what they mean" if counts else None


def start_of(run: Run, start: Start | None) -> tuple[str, str | None]:
    """Base and adapter that GRPO and the reference arm begin with."""
    if start is None:
        return run.settings.model.place, None
    if start.files.built_here:
        return str(start.files.model), None
    return run.settings.model.place, str(start.files.adapter)
