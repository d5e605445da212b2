"""What every stage of one pipeline run shares, and how a stage talks: to the store, to MLflow, to the Prefect log."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from prefect import get_run_logger, runtime, task
from prefect.artifacts import create_link_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.exceptions import Pause, TerminationSignal
from prefect.tasks import Task

from tasks.running.labels import config_label, prefect_link
from tasks.running.overview import Overview, overview_of
from tucano.artifacts.code_version import code_version
from tucano.artifacts.identity import digest
from tucano.artifacts.store import Artifact, Recipe, Store
from tucano.errors import TucanoError, is_worth_a_retry
from tucano.overview.runs import unanswered
from tucano.requirements import require_device, require_space, seeds_at_a_time
from tucano.settings import PipelineSettings, Section
from tucano.storage.folder import remote_of
from tucano.storage.locks import FILLED, abandoned, claimed, shared
from tucano.storage.root import writable
from tucano.tracking import Tracker
from tucano.tracking.store import named
from tucano.training import launch

FLOW_RUN_TAG = "prefect.flow_run"
RETRY_SECONDS = (1, 30)
"""Before the second and before every later attempt: a killed child starts again at once, a full disk may take a
moment.
"""


def stages_of(settings: PipelineSettings) -> tuple[str, ...]:
    """The stages of a train run, in the order in which they begin. Beside these a run may make smaller ones."""
    seeds = [f"grpo-seed-{seed}" for seed in settings.grpo.seeds]
    sft = ["sft"] if settings.sft.enabled else []
    ends = ["answers", "re-audit", "comparison", "merged", "report"]
    return ("data", "plan", "audit", *sft, "preflight", *seeds, *ends)


def place(stage: str, settings: PipelineSettings) -> str:
    """Like ` (stage 3 of 13, then sft)`; empty for one beside the way."""
    way = stages_of(settings)
    if stage not in way:
        return ""
    number = way.index(stage) + 1
    then = f", then {way[number]}" if number < len(way) else ", the last"
    return f" (stage {number} of {len(way)}{then})"


class Untrained(TucanoError):
    """A stage of these settings has no valid artifact, and this run may not make one."""


@dataclass(frozen=True)
class Run:
    """One pipeline run. `seed_slots` bounds how many children train a seed, or answer beside it, at a time.

    `overview` hears how it goes, unless it is a part of another run; `heard` gets each line that children print.
    Without `makes` its stages give what is there and make nothing: they raise Untrained.
    """

    settings: PipelineSettings
    store: Store
    tracker: Tracker
    tracking_run: str
    seed_slots: threading.BoundedSemaphore
    stages: dict[str, Artifact] = field(default_factory=dict)
    overview: Overview | None = None
    heard: Callable[[str], None] | None = None
    makes: bool = True

    def filling(self, run_id: str) -> AbstractContextManager[None]:
        """Around writing to an MLflow run: should this process be killed meanwhile, the next one ends that run."""
        return claimed(self.store.root / FILLED, run_id)

    def adopt(self, name: str) -> Artifact:
        """The artifact of a stage that another run has made."""
        return self._ended(self.store.named(name))

    def make(
        self,
        stage: str,
        engine: Callable[..., Any] | str,
        settings: Section,
        inputs: Mapping[str, str],
        produce: Callable[[Recipe, Path], Mapping[str, Any]],
    ) -> Artifact:
        """The valid artifact of a stage, reused or made now by `produce(recipe, draft folder) -> record`.

        `settings` is what the stage receives, `engine` the function (or the module, for a training child) that does its
        work. `produce` hands that function these settings, the inputs and places, and no other setting.
        """
        module = engine if isinstance(engine, str) else engine.__module__
        recipe = Recipe(stage, settings.model_dump(mode="json"), inputs, code_version(module))
        logger = get_run_logger()
        where = place(stage, self.settings) if self.overview is not None else ""

        def work(draft: Path) -> Mapping[str, Any]:
            if not self.makes:
                draft.rmdir()
                raise Untrained(stage)
            return produce(recipe, draft)

        def say(said: str) -> None:
            if self.makes:
                logger.info("%s", said + where)

        return self._ended(self.store.make(recipe, work, say))

    def _ended(self, artifact: Artifact) -> Artifact:
        self.stages[artifact.stage] = artifact
        if self.overview is not None:
            self.overview.stage_ended(artifact)
        return artifact


@contextmanager
def opened(settings: PipelineSettings, tracking_run: str | None = None) -> Iterator[Run]:
    """Everything that can be refused is refused here, before any work: storage, disk space, device, tracking store.

    The pipeline's MLflow run exists from here on and is ended with what became of it; the next attempt of the same flow
    run goes on in it. A run that does a part of a pipeline gets that pipeline's `tracking_run` and shares its
    storage.
    """
    root = writable(settings.storage)
    require_space(root, settings)
    if tracking_run is not None or settings.execution.computes_here:
        require_device(settings.model)
    store = Store(root, remote_of(settings.storage))
    seed_slots = threading.BoundedSemaphore(seeds_at_a_time(settings))
    with shared(root, get_run_logger().warning), ending_children(), _prepared(settings, whole=tracking_run is None):
        tracker = Tracker.connect(named(settings.tracking_uri), root)
        for killed in abandoned(root / FILLED):
            tracker.end_abandoned(killed)
        for waited in unanswered(root):
            tracker.end_abandoned(waited.run)
        if tracking_run is not None:
            yield Run(settings, store, tracker, tracking_run, seed_slots)
        else:
            with _pipeline(settings, tracker, root) as (identity, overview):
                yield Run(settings, store, tracker, identity, seed_slots, overview=overview)


def _prepared(settings: PipelineSettings, whole: bool) -> AbstractContextManager[None]:
    """Where several children are to work here, what they import is imported beside the first stages."""
    several = whole and settings.execution.computes_here
    return launch.forking(settings.model, settings.worker.python) if several else nullcontext()


@contextmanager
def ending_children() -> Iterator[None]:
    """Prefect turns SIGTERM into an exception in the main thread; the training children in other threads get to know it
    here.
    """
    try:
        yield
    except TerminationSignal:
        launch.stop_all()
        raise


@contextmanager
def _pipeline(settings: PipelineSettings, tracker: Tracker, root: Path) -> Iterator[tuple[str, Overview]]:
    """The pipeline's MLflow run, linked with its Prefect run both ways, and the overview that it keeps."""
    plain = settings.model_dump(mode="json")
    label = config_label(settings)
    tags = {"settings_digest": digest(plain), "config_label": label, "mlflow.note.content": prefect_link()}
    known_by = {FLOW_RUN_TAG: str(runtime.flow_run.id)}
    identity = tracker.start_pipeline(f"{label}, seed {settings.seed}", plain, tags, known_by)
    create_link_artifact(
        key="mlflow-run",
        link=tracker.links(identity)["pipeline run"],
        link_text="This run in MLflow",
        description="Settings, metrics and files in MLflow",
    )
    kept = overview_of(tracker, root, identity, label, settings.promotion.approval_hours).kept()
    with claimed(root / FILLED, identity), kept as overview, ending_children():
        try:
            yield identity, overview
        except Pause:  # it waits for a person, and goes on
            raise
        except BaseException as error:
            tracker.finish(identity, "KILLED" if isinstance(error, KeyboardInterrupt | TerminationSignal) else "FAILED")
            raise
        tracker.finish(identity, "FINISHED")


def _is_transient(task: Task[..., Any], task_run: Any, state: State[Any]) -> bool:
    return not launch.stopping() and is_worth_a_retry(state.result(raise_on_failure=False))


P = ParamSpec("P")
R = TypeVar("R")


def stage(name: str, **options: Any) -> Callable[[Callable[P, R]], Task[P, R]]:
    """A Prefect task without result caching (artifacts do that) that is retried only after interruptions from
    outside.
    """
    return task(
        name=name,
        cache_policy=NO_CACHE,
        retry_condition_fn=_is_transient,
        retry_delay_seconds=list(RETRY_SECONDS),
        **options,
    )
