"""The runs of a pipeline in MLflow: one pipeline run, flat training runs beside it, evaluations.

Three experiments, because runs nested in one stay out of MLflow's charts until each is unfolded by hand; a training run
names its pipeline in the tag `mlflow.parentRunId`. One tracker serves all threads of a process and touches no global
state of mlflow. Starting a run and the registry raise `Transient` where the store does not answer; what only records
never raises for that.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from tucano.errors import UserError
from tucano.storage.journal import Entry
from tucano.tracking import models, views
from tucano.tracking.evaluations import Row, Spec, fill
from tucano.tracking.models import DataSplit
from tucano.tracking.origin import origin
from tucano.tracking.registry import Registry
from tucano.tracking.shipper import Shipper, Through, as_metrics, infinities, metric_key, stored
from tucano.tracking.store import (
    artifact_root,
    default_uri,
    is_server,
    open_client,
    recording,
    settle,
    texts,
    translated,
)

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run as MlflowRun

log = logging.getLogger(__name__)

Stage = Literal["sft", "grpo", "dpo"]
Status = Literal["FINISHED", "FAILED", "KILLED"]

LONGEST_PARAM = 500
LONGEST_NOTE = 8000
PARAMS_PER_CALL = 100
COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#7f3c8d", "#66a61e", "#a6761d", "#e7298a",
    "#1b9e77", "#666666",
)  # fmt: skip
"""A seed has the same in every configuration: its curves are found again beside those of others."""
LOCAL_PAGE = "http://127.0.0.1:5000"
"""Where `tucano ui` shows a store that has no server of its own."""


@dataclass(frozen=True, slots=True)
class PipelineRun:
    """A finished pipeline run that reached its verdict: its tags hold configuration, verdict and the digest of every
    stage.
    """

    identity: str
    tags: dict[str, str]


@dataclass(frozen=True)
class Tracker(Registry):
    """An open tracking store; `experiments` maps the names of the three experiments to their ids."""

    experiments: dict[str, str]

    @classmethod
    def connect(cls, uri: str | None, storage: Path) -> Self:
        """Open the store at `uri`, by default the SQLite file under `storage`. UserError when it cannot be used."""
        address = uri or default_uri(storage)
        if address == default_uri(storage):
            settle(storage)
        client = open_client(address)
        root = None if is_server(address) else artifact_root(storage)
        return cls(address, client, {name: experiment(client, name, root) for name in views.EXPERIMENTS})

    def start_pipeline(
        self,
        name: str,
        settings: Mapping[str, Any],
        tags: Mapping[str, object],
        known_by: Mapping[str, str] | None = None,
    ) -> str:
        """The id of a pipeline's run with its resolved settings as params: the unfinished one with the tags `known_by`,
        or a new one.
        """
        return self._begin(views.PIPELINES, name, tags, settings, known_by or {})

    def start_training(
        self,
        name: str,
        parent_run_id: str,
        stage: Stage,
        seed: int | None,
        config_label: str,
        params: Mapping[str, Any],
        known_by: Mapping[str, str] | None = None,
    ) -> str:
        """The id of the run of a pipeline's stage, seed and configuration: the unfinished one with the tags `known_by`,
        or a new one.

        One that an earlier pipeline began is part of this pipeline's run from here on.
        """
        tags: dict[str, object] = {
            "mlflow.parentRunId": parent_run_id, "stage": stage, "seed": seed, "config_label": config_label,
        }  # fmt: skip
        if seed is not None:
            tags["mlflow.runColor"] = COLOURS[seed % len(COLOURS)]
        run_id = self._begin(views.TRAINING, name, tags, params, known_by or {})
        self.set_tags(run_id, {"mlflow.parentRunId": parent_run_id})
        return run_id

    @translated
    def training_of(self, recorded: str, artifact: str) -> str | None:
        """The run of a trained artifact (its digest): the one `recorded` in it, or one that was registered for it
        since.

        None where this store has neither: it is another one, or the run was deleted.
        """
        run = self._known(recorded)
        if run is None or run.info.lifecycle_stage != "active":
            run = self._newest(views.TRAINING, f"tags.artifact = '{artifact}' and attributes.status = 'FINISHED'")
        return None if run is None else str(run.info.run_id)

    def ship_journal(self, run_id: str, journal: Path, *, through: Through = "committed") -> Shipper:
        """Start sending a journal's metrics to a run in the background; close the shipper when training has ended."""
        return Shipper(self.client, run_id, journal, through)

    @recording
    def log_metrics(self, run_id: str, metrics: Mapping[str, float]) -> None:
        self.client.log_batch(run_id, metrics=as_metrics(Entry(0, time.time_ns() // 1_000_000, dict(metrics))))
        if tags := infinities(metrics, 0):
            self.set_tags(run_id, tags)

    @recording
    def log_artifact(self, run_id: str, path: Path, folder: str | None = None) -> None:
        """A file, or all files below a folder, into the run's `folder`."""
        log = self.client.log_artifacts if path.is_dir() else self.client.log_artifact
        log(run_id, str(path), folder)

    def set_note(self, run_id: str, markdown: str) -> None:
        """The text on the run's page; its first line is the verdict."""
        self.set_tags(run_id, {"mlflow.note.content": markdown[:LONGEST_NOTE]})

    @recording
    def set_tags(self, run_id: str, tags: Mapping[str, object]) -> None:
        from mlflow.entities import RunTag

        self.client.log_batch(run_id, tags=[RunTag(key, value) for key, value in texts(tags).items()])

    @recording
    def finish(self, run_id: str, status: Status) -> None:
        """End a run; its end time is now."""
        self.client.set_terminated(run_id, status)

    @recording
    def end_abandoned(self, run_id: str) -> None:
        """A run whose process was killed, or that nobody answered, is not running any more: `KILLED`, of which its next
        attempt makes a running one. One that has ended, or that this store does not have, stays as it is.
        """
        run = self._known(run_id)
        if run is not None and run.info.status == "RUNNING":
            self.client.set_terminated(run_id, "KILLED")

    @recording
    def log_datasets(self, run_id: str, splits: Sequence[DataSplit]) -> None:
        """What a run was trained, validated or judged on."""
        models.log_datasets(self.client, run_id, splits)

    @recording
    def log_checkpoint(
        self,
        run_id: str,
        name: str,
        folder: Path,
        step: int,
        tags: Mapping[str, object],
        metrics: Mapping[str, float],
        on: DataSplit,
    ) -> None:
        """The checkpoint that a training kept, as a LoggedModel with its metrics `on` the validation set.

        It takes the place of one that an attempt has left which was killed before its training had ended.
        """
        from mlflow.entities import LoggedModelOutput

        for left in models.of_name(self.client, run_id, name):
            self.client.delete_logged_model(left.model_id)
        model_id = models.create(self.client, run_id, name, folder, texts(tags), {"step": str(step)})
        self.client.log_outputs(run_id, [LoggedModelOutput(model_id, step)])
        where = {"dataset_name": on.name, "dataset_digest": on.digest}
        for key, value in metrics.items():
            self.client.log_metric(run_id, key, stored(value), step=step, model_id=model_id, **where)

    def start_evaluation(self, name: str, tags: Mapping[str, object]) -> str:
        """A run for the answers of one arm, which the tag `arm` names; returns its id.

        Without `mlflow.parentRunId`: MLflow's list of evaluation runs leaves such runs out.
        """
        return self._begin(views.EVALUATION, name, tags, {}, {})

    @translated
    def evaluation(self, rows: str) -> str | None:
        """The evaluation run that shows the answers with this digest, all of them; None where there is none: one that
        was cut off does not count.
        """
        run = self._newest(views.EVALUATION, f"tags.`digest.rows` = '{rows}' and attributes.status = 'FINISHED'")
        return None if run is None else str(run.info.run_id)

    def show_answers(self, rows: Mapping[str, Sequence[Row]], trained_by: Mapping[str, str]) -> None:
        """Show stored answers prompt by prompt: `rows` are those of each evaluation run, `trained_by` its training run.

        What goes wrong here is a warning: the answers stand in their artifact.
        """
        known = {run: models.of_run(self.client, trained_by[run]) if run in trained_by else None for run in rows}
        spec = Spec(self.experiments[views.EVALUATION], {run: list(shown) for run, shown in rows.items()}, known)
        if fault := fill(spec, self.uri):
            log.warning("MLflow did not take the answers: %s", fault)

    @translated
    def pipelines(self) -> list[PipelineRun]:
        """The finished pipeline runs, newest first."""
        finished = "attributes.status = 'FINISHED' AND tags.verdict != ''"
        newest_first = ["attributes.start_time DESC"]
        found = self.client.search_runs([self.experiments[views.PIPELINES]], finished, order_by=newest_first)
        return [PipelineRun(str(run.info.run_id), dict(run.data.tags)) for run in found]

    @recording
    def ensure_views(self) -> None:
        """Save the analysts' views with the metrics known by now; without them the plain links still open."""
        views.save_views(self.client, self.experiments)

    def page(self, run_id: str) -> str:
        """A link to a pipeline run, relative to the MLflow page."""
        return views.run_link(self.experiments[views.PIPELINES], run_id)

    @translated
    def pages(self, run_id: str) -> dict[str, str]:
        """A pipeline run, what belongs to it, and the saved views: links relative to the MLflow page."""
        tags = self.client.get_run(run_id).data.tags
        return {**views.pipeline_links(self.experiments, run_id, tags), **views.view_links(self.experiments)}

    def links(self, run_id: str) -> dict[str, str]:
        """The same as addresses: of the tracking server, or of the page where `tucano ui` shows a local store."""
        base = self.uri.rstrip("/") if is_server(self.uri) else LOCAL_PAGE
        return {name: f"{base}/{page}" for name, page in self.pages(run_id).items()}

    @translated
    def _begin(
        self,
        experiment: str,
        name: str,
        tags: Mapping[str, object],
        params: Mapping[str, Any],
        known_by: Mapping[str, str],
    ) -> str:
        """The newest run with the tags `known_by` that an earlier attempt did not end well, running again, else a new
        one.

        Params that it lacks are added: an attempt may have been killed between making its run and writing them.
        """
        from mlflow.entities import Param

        tags_of = [f"tags.`{tag}` = {_quoted(value)}" for tag, value in known_by.items()]
        which = " and ".join([*tags_of, "attributes.status != 'FINISHED'"])
        run = self._newest(experiment, which) if known_by else None
        if run is None:
            known = {**origin(), **tags, **known_by}
            run = self.client.create_run(self.experiments[experiment], run_name=name, tags=texts(known))
        else:
            self.client.update_run(run.info.run_id, status="RUNNING")
        wanted = {metric_key(key): value for key, value in flat(params).items()}
        rows = [Param(key, value) for key, value in wanted.items() if key not in run.data.params]
        for start in range(0, len(rows), PARAMS_PER_CALL):
            self.client.log_batch(run.info.run_id, params=rows[start : start + PARAMS_PER_CALL])
        return str(run.info.run_id)

    def _newest(self, experiment: str, which: str) -> MlflowRun | None:
        """Of the runs that a filter of MLflow's finds."""
        order = ["attributes.start_time DESC"]
        found = self.client.search_runs([self.experiments[experiment]], which, max_results=1, order_by=order)
        return found[0] if found else None

    def _known(self, run_id: str) -> MlflowRun | None:
        """None where this store does not have it."""
        from mlflow.exceptions import MlflowException

        try:
            return self.client.get_run(run_id)
        except MlflowException as error:
            if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                raise
            return None


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested settings as `grpo.max_steps: "40"`; values longer than MLflow's older stores take are cut with an
    ellipsis.
    """
    params: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping) and value:
            params |= flat(value, f"{prefix}{key}.")
        else:
            text = str(value)
            params[f"{prefix}{key}"] = text if len(text) <= LONGEST_PARAM else text[: LONGEST_PARAM - 1] + "…"
    return params


@translated
def experiment(client: MlflowClient, name: str, root: Path | None) -> str:
    """The experiment's id; it is created where it does not exist, by whichever process comes first."""
    from mlflow.exceptions import MlflowException

    found = client.get_experiment_by_name(name)
    if found is None:
        try:
            return str(client.create_experiment(name, artifact_location=(root / name).as_uri() if root else None))
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise
        found = client.get_experiment_by_name(name)
    if found is None or found.lifecycle_stage == "deleted":
        raise UserError(
            f"experiment {name} was deleted in MLflow; restore it (mlflow experiments restore) or use another"
            " tracking_uri"
        )
    return str(found.experiment_id)


def _quoted(value: str) -> str:
    """MLflow's filters know no escapes; no storage root holds both kinds of quotes."""
    return f'"{value}"' if "'" in value else f"'{value}'"
