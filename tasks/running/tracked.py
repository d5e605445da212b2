"""Trainings as MLflow shows them: a run with its params and data sets, the curves, and the checkpoint that was kept.

Written while a training goes on. Where the store does not know the run of a training that is reused (mlflow.db was
deleted, or `tracking_uri` names another store), the same is written anew from the artifact.
"""

import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from prefect import get_run_logger

from tasks.running.handles import SeedResult, Start
from tasks.running.labels import config_label, digits_of
from tasks.running.run import Run
from tucano.files.models import WorkFiles
from tucano.tracking import DataSplit
from tucano.training.jobs import Job

M = TypeVar("M", Start, SeedResult)


@dataclass(frozen=True)
class Best:
    """The checkpoint that a training kept: where it is, its step, and what the validation set said of it."""

    folder: Path
    step: int
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class Training:
    """What its run in MLflow is called and says, before it has begun. `splits` are what it learns from and what it is
    validated on.

    `best` finds the kept checkpoint from the artifact's folder and record.
    """

    name: str
    stage: Literal["sft", "grpo", "dpo"]
    seed: int | None
    params: Mapping[str, Any]
    splits: Sequence[DataSplit]
    best: Callable[[Path, Mapping[str, Any]], Best]


@contextmanager
def tracked(run: Run, job: Job, training: Training) -> Iterator[str]:
    """The MLflow run of a training, one over all attempts; its journal is shipped while the child trains."""
    work = Path(job.work)
    work.mkdir(parents=True, exist_ok=True)
    identity = _start(run, training, {"work": job.mirror or f"{socket.gethostname()}:{work}"})
    with run.filling(identity):
        shipper = run.tracker.ship_journal(identity, WorkFiles(work).journal, through="committed")
        try:
            yield identity
        except BaseException:
            shipper.close(timeout=5)
            run.tracker.finish(identity, "KILLED")
            raise
        shipper.close(timeout=60)
        run.tracker.finish(identity, "FINISHED")


def log_best(run: Run, identity: str, training: Training, folder: Path, record: Mapping[str, Any]) -> None:
    """The kept checkpoint as a model of the run, and the alarms that were raised on the way to it."""
    best = training.best(folder, record)
    what = training.stage if training.seed is None else f"{training.stage}-seed-{training.seed}"
    name = (
        f"{what}-{digits_of(config_label(run.settings)).removeprefix('#')}"  # another configuration's is another model
    )
    tags = {"stage": training.stage, "seed": training.seed}
    if "alarms" in record:
        run.tracker.set_tags(identity, {"alarms": ", ".join(alarm["name"] for alarm in record["alarms"]) or "none"})
    run.tracker.log_checkpoint(identity, name, best.folder, best.step, tags, best.metrics, training.splits[1])


def training_run(run: Run, made: Start | SeedResult) -> str | None:
    """The MLflow run of what was trained, or the pipeline's where it was joined of several; None where the store has
    none.
    """
    if not made.record.tracking_run:
        return run.tracking_run
    return run.tracker.training_of(made.record.tracking_run, made.digest)


def known(run: Run, training: Training, made: M) -> M:
    """What was trained, after its training has been registered in the store, where it was not."""
    if training_run(run, made) is None:
        get_run_logger().warning(
            "MLflow has no run of %s, which is reused: its store was lost, or this is another one; it is registered"
            " anew",
            training.name,
        )
        identity = _start(run, training, {"artifact": made.digest})
        with run.filling(identity), tempfile.TemporaryDirectory() as scratch:
            copy = WorkFiles(Path(scratch)).journal
            shutil.copy2(made.files.journal, copy)  # the shipper's cursor is no file of the artifact
            run.tracker.ship_journal(identity, copy, through="all").close(timeout=60)
            log_best(run, identity, training, made.files.folder, made.artifact.record)
            run.tracker.finish(identity, "FINISHED")
    return made


def _start(run: Run, training: Training, known_by: Mapping[str, str]) -> str:
    label = config_label(run.settings)
    params = dict(training.params)
    identity = run.tracker.start_training(
        training.name, run.tracking_run, training.stage, training.seed, label, params, known_by
    )
    run.tracker.log_datasets(identity, training.splits)
    return identity
