"""What old runs have left in the storage's own MLflow store, and its removal for good, where `mlflow gc` removes only
what a person deleted.

A run stays while it is young or running, while it trained an artifact that stays, or while a registered model came from
it; and with it the pipeline that it is part of and all that belongs to that. The newest pipeline that reached a verdict
stays as well.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from tucano.tracking import views
from tucano.tracking.registry import digests_of
from tucano.tracking.store import paged
from tucano.tracking.tracker import Tracker

if TYPE_CHECKING:
    from mlflow.entities import LoggedModel, Run

TRACES_PER_CALL = 100

ORPHANS = (
    "DELETE FROM inputs WHERE source_type = 'DATASET' AND destination_id NOT IN (SELECT run_uuid FROM runs)",
    "DELETE FROM inputs WHERE source_type LIKE 'RUN_%' AND source_id NOT IN (SELECT run_uuid FROM runs)",
    "DELETE FROM input_tags WHERE input_uuid NOT IN (SELECT input_uuid FROM inputs)",
    "DELETE FROM datasets WHERE dataset_uuid NOT IN (SELECT source_id FROM inputs WHERE source_type = 'DATASET')",
    (
        "DELETE FROM entity_associations WHERE destination_type = 'run' AND destination_id NOT IN (SELECT run_uuid FROM"
        " runs)"
    ),
)
"""Rows that belong to runs, and that MLflow's own removal of a run leaves behind."""


@dataclass(frozen=True, slots=True)
class Old:
    """What can go: runs with their files, models and traces (by experiment), and models that were deleted as long
    ago.
    """

    runs: list[Run]
    models: list[LoggedModel]
    traces: dict[str, list[str]]

    def __str__(self) -> str:
        traces = sum(len(identities) for identities in self.traces.values())
        return (
            f"{len(self.runs)} runs in MLflow with {len(self.models)} models and {traces} traces"
            if self.runs or self.models
            else ""
        )


def digests_of_registered(tracker: Tracker) -> set[str]:
    """The artifacts, by digest, that registered models were made from."""
    versions = tracker.client.search_model_versions()
    return {digest for version in versions for digest in digests_of(version.tags).values()}


def find_old(tracker: Tracker, before_s: float, needed: Set[str]) -> Old:
    """What nothing needs that ended before this time (seconds since 1970); `needed` are the runs of artifacts that
    stay.
    """
    runs = {run.info.run_id: run for run in _all_runs(tracker)}
    kept = _with_what_belongs(runs, _kept(tracker, runs.values(), before_s) | needed)
    old = {identity: run for identity, run in runs.items() if identity not in kept}
    logged = paged(tracker.client.search_logged_models, list(tracker.experiments.values()))
    models = [model for model in logged if model.source_run_id in old]
    deleted = _store(tracker)._get_deleted_logged_models(older_than=int((time.time() - before_s) * 1000))
    models += [_store(tracker).get_logged_model(identity, allow_deleted=True) for identity in deleted]
    traces: dict[str, list[str]] = {}
    for run in old.values():
        if run.info.experiment_id == tracker.experiments[views.EVALUATION]:
            traces.setdefault(run.info.experiment_id, []).extend(_traces(tracker, run))
    return Old(list(old.values()), models, traces)


def remove(tracker: Tracker, old: Old) -> None:
    """Remove it for good: rows, files, and the space that they took in the SQLite file."""
    store = _store(tracker)
    for experiment, identities in old.traces.items():
        for start in range(0, len(identities), TRACES_PER_CALL):
            tracker.client.delete_traces(experiment, trace_ids=identities[start : start + TRACES_PER_CALL])
    for model in old.models:
        _remove_files(model.artifact_location)
        store._hard_delete_logged_model(model.model_id)
    for run in old.runs:
        _remove_files(run.info.artifact_uri)
        store._hard_delete_run(run.info.run_id)
    with closing(
        sqlite3.connect(tracker.uri.removeprefix("sqlite:///"), timeout=60, isolation_level=None)
    ) as connection:
        for statement in ORPHANS:
            connection.execute(statement)
        with suppress(sqlite3.OperationalError):  # somebody reads it, or the disk is full: it shrinks the next time
            connection.execute("VACUUM")


def _kept(tracker: Tracker, runs: Iterable[Run], before_s: float) -> set[str]:
    """Runs that stay for their own sake, or for a registered model's."""
    kept = {run.info.run_id for run in runs if run.info.status == "RUNNING" or _ended_s(run) >= before_s}
    for version in tracker.client.search_model_versions():
        kept |= {version.run_id, version.tags.get("pipeline_run", "")}
    return kept | {pipeline.identity for pipeline in tracker.pipelines()[:1]}


def _with_what_belongs(runs: Mapping[str, Run], kept: Set[str]) -> set[str]:
    """These runs, their pipelines, and all that belongs to a pipeline of theirs."""
    parts: dict[str, set[str]] = {}
    for identity, run in runs.items():
        parts.setdefault(_pipeline_of(run), set()).add(identity)
    found: set[str] = set()
    waiting = [*kept]
    while waiting:
        identity = waiting.pop()
        if identity in runs and identity not in found:
            found.add(identity)
            named = runs[identity].data.tags
            waiting += [_pipeline_of(runs[identity]), *parts.get(identity, ())]
            waiting += f"{named.get('training_runs', '')} {named.get('compared', '')}".split()
    return found


def _pipeline_of(run: Run) -> str:
    return str(run.data.tags.get("mlflow.parentRunId") or run.data.tags.get("pipeline_run") or "")


def _ended_s(run: Run) -> float:
    return float(max(run.info.start_time, run.info.end_time or 0)) / 1000


def _store(tracker: Tracker) -> Any:
    """What `mlflow gc` works with; a client cannot remove anything for good."""
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    return SqlAlchemyStore(tracker.uri, str(Path(tracker.uri.removeprefix("sqlite:///")).parent / "artifacts"))


def _all_runs(tracker: Tracker) -> Iterator[Run]:
    from mlflow.entities import ViewType

    return paged(tracker.client.search_runs, list(tracker.experiments.values()), "", ViewType.ALL)


def _traces(tracker: Tracker, run: Run) -> Iterator[str]:
    which = {"locations": [run.info.experiment_id], "run_id": run.info.run_id}
    found = paged(tracker.client.search_traces, **which, include_spans=False)
    return (str(trace.info.trace_id) for trace in found)


def _remove_files(address: str) -> None:
    """The folder of a run or model, named after it; `address` is its folder `artifacts`."""
    parts = urlsplit(address)
    if parts.scheme == "file":
        shutil.rmtree(Path(url2pathname(parts.path)).parent, ignore_errors=True)
