"""What every stage of one pipeline run shares, and how a stage talks: to the store, to MLflow, to the Prefect log."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, cast
from uuid import UUID

from prefect import get_run_logger, task
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.tasks import Task

from tucano.artifacts import Artifact, Recipe, Store, code_version, digest
from tucano.errors import is_worth_a_retry
from tucano.settings import PipelineSettings
from tucano.storage import remote_of, require_device, require_space, writable
from tucano.tracking import Tracker
from tucano.training import launch
from tucano.training.jobs import Job, Progress

SAY_EVERY_SECONDS = 5.0


@dataclass(frozen=True)
class Run:
    """One pipeline run. `seed_slots` bounds how many GRPO children train at a time."""

    settings: PipelineSettings
    store: Store
    tracker: Tracker
    tracking_run: str
    seed_slots: threading.BoundedSemaphore
    stages: dict[str, Artifact] = field(default_factory=dict)

    def make(
        self,
        stage: str,
        modules: tuple[str, ...],
        settings: Mapping[str, Any],
        inputs: Mapping[str, str],
        produce: Callable[[Recipe, Path], Mapping[str, Any]],
    ) -> Artifact:
        """The valid artifact of a stage, reused or made now by `produce(recipe, draft folder) -> record`."""
        recipe = Recipe(stage, settings, inputs, code_version(*modules))
        logger = get_run_logger()
        artifact = self.store.make(recipe, lambda draft: produce(recipe, draft), logger.info)
        self.stages[stage] = artifact
        return artifact


@contextmanager
def opened(settings: PipelineSettings) -> Iterator[Run]:
    """Everything that can be refused is refused here, before any work: storage, disk space, device, tracking store.

    The pipeline's MLflow run exists from here on and is ended with what became of it.
    """
    root = writable(settings.storage)
    require_space(root, settings)
    require_device(settings.model)
    tracker = Tracker.connect(settings.tracking_uri, root)
    plain = settings.model_dump(mode="json")
    name = f"{settings.model.name} {settings.data.source} seed {settings.seed}"
    tracking_run = tracker.start_pipeline(name, plain, {"settings_digest": digest(plain), "config_label": config_label(settings)})
    slots = seeds_at_a_time(settings)
    try:
        yield Run(settings, Store(root, remote_of(settings.storage)), tracker, tracking_run, threading.BoundedSemaphore(slots))
    except BaseException as error:
        tracker.finish(tracking_run, "KILLED" if isinstance(error, KeyboardInterrupt) else "FAILED")
        raise
    tracker.finish(tracking_run, "FINISHED")


def _is_transient(task: Task[..., Any], task_run: Any, state: State[Any]) -> bool:
    return not launch.stopping() and is_worth_a_retry(state.result(raise_on_failure=False))


P = ParamSpec("P")
R = TypeVar("R")


def stage(name: str, **options: Any) -> Callable[[Callable[P, R]], Task[P, R]]:
    """A Prefect task without result caching (artifacts do that) that is retried only after interruptions from outside."""
    return task(name=name, cache_policy=NO_CACHE, retry_condition_fn=_is_transient, **options)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def seeds_at_a_time(settings: PipelineSettings) -> int:
    """GRPO children that train on one machine side by side."""
    return settings.worker.parallel or (1 if settings.model.device == "cuda" else max(1, cores() // settings.worker.threads))


def run_child(run: Run, job: Job, label: str) -> dict[str, Any]:
    """Run a training child; its progress goes to the Prefect log (one line in five seconds) and to a progress artifact."""
    logger = get_run_logger()
    bar = cast(UUID, create_progress_artifact(0.0, key=label.replace(" ", "-"), description=label))
    last = 0.0

    def show(progress: Progress) -> None:
        nonlocal last
        if progress.notice is not None:
            logger.warning(progress.line())
        elif time.monotonic() - last >= SAY_EVERY_SECONDS or progress.step == progress.steps:
            last = time.monotonic()
            logger.info(progress.line())
            update_progress_artifact(bar, 100 * progress.step / progress.steps)

    return launch.run_job(job, run.settings.worker.python, show)


NOTE = "tracking_run.txt"
"""In a stage's work folder: the store and the MLflow run that an interrupted attempt reported to."""


def _noted(work: Path, uri: str) -> str | None:
    """The MLflow run of an earlier attempt, unless it is in another store."""
    if not (work / NOTE).is_file():
        return None
    store, identity = (work / NOTE).read_text(encoding="utf-8").split("\n")
    return identity if store == uri else None


def config_label(settings: PipelineSettings) -> str:
    """What runs that differ only in their seeds share: MLflow groups curves by it."""
    return f"{settings.model.name} {settings.data.source} {settings.grpo.rewards} {settings.grpo.advantages}"


@contextmanager
def tracked_training(
    run: Run, job: Job, name: str, stage: Literal["sft", "grpo"], seed: int | None, params: Mapping[str, Any]
) -> Iterator[str]:
    """The MLflow run of a training, one over all attempts; its journal is shipped while the child trains."""
    work = Path(job.work)
    work.mkdir(parents=True, exist_ok=True)
    identity = run.tracker.resume_training(_noted(work, run.tracker.uri), run.tracking_run)
    if identity is None:
        identity = run.tracker.start_training(name, run.tracking_run, stage, seed, config_label(run.settings), dict(params))
        (work / NOTE).write_text(f"{run.tracker.uri}\n{identity}", encoding="utf-8")
    shipper = run.tracker.ship_journal(identity, work / "journal.jsonl", through="committed")
    try:
        yield identity
    except BaseException:
        shipper.close(timeout=5)
        raise
    shipper.close(timeout=60)
    run.tracker.finish(identity, "FINISHED")
