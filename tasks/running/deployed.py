"""Runs of deployments that do a part of this one: it starts them, and waits for what becomes of them.

Such a run is found again by its idempotency key, so that a parent that crashed and was started again waits for the same
one. One that has crashed is not lost: an automation schedules it again, and only one that stays crashed for long is
given up.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
from prefect import get_client, get_run_logger, runtime
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterParentFlowRunId
from prefect.client.schemas.objects import FlowRun, State
from prefect.concurrency.sync import concurrency
from prefect.deployments import run_deployment
from prefect.exceptions import ObjectNotFound, TerminationSignal
from prefect.states import AwaitingRetry, Cancelling

from tasks.running.places import no_deployment
from tasks.running.run import Run
from tucano.errors import WorkerCrashed
from tucano.storage.folder import remote_of
from tucano.training import launch

LOOK_SECONDS = 2.0
SAY_OUTAGE_SECONDS = 60.0


class RunLost(Exception):
    """A run ended without what it was to make; the message says how."""


def artifact_of(run: Run, deployment: str, part: str, parameters: Mapping[str, Any], failed_again: bool = False) -> str:
    """The name of the artifact that a run of `deployment` makes for this run, of which it does a `part`.

    `failed_again`: one that failed in an earlier attempt of this run is started again.

    Raises RunLost where it makes none, UserError where there is no such deployment.
    """
    storage = run.settings.storage if remote_of(run.settings.storage) else str(run.store.root)
    given = {
        "settings": run.settings.model_copy(update={"storage": storage}).model_dump(mode="json"),
        "tracking_run": run.tracking_run,
        **parameters,
    }
    child = started(deployment, given, f"{runtime.flow_run.id}-{part}", as_subflow=True)
    with get_client(sync_client=True) as client:
        while (state := _state(client, child.id)).is_cancelling():
            _pause()
        if state.is_cancelled() or (failed_again and state.is_failed()):  # and a person has started this run again
            client.set_flow_run_state(
                child.id, AwaitingRetry(message="The pipeline's run was started again."), force=True
            )
        return _outcome(client, child.id, part, run.settings.execution.grace_minutes * 60)


def started(deployment: str, parameters: dict[str, Any], key: str, as_subflow: bool) -> FlowRun:
    """A run of a deployment, which a second request with its key finds again. UserError where there is no such
    deployment.
    """
    try:
        run: FlowRun = run_deployment(  # type: ignore[assignment]  # a coroutine only in async callers
            deployment, parameters=parameters, timeout=0, as_subflow=as_subflow, idempotency_key=key
        )
    except ObjectNotFound:
        raise no_deployment(deployment) from None
    return run


def _outcome(client: SyncPrefectClient, child: UUID, part: str, grace_seconds: float) -> str:
    """The name of the artifact that a run has made; RunLost when it ends without one."""
    logger = get_run_logger()
    known, crashed_at = "", None
    while True:
        state = _state(client, child)
        if state.name != known:
            known = str(state.name)
            logger.info("%s: %s%s", part, known.lower(), f" ({state.message})" if state.message else "")
        if state.is_completed():
            return str(state.message)
        if state.is_failed() or state.is_cancelled():
            raise RunLost(f"its run {known.lower()}: {state.message or 'no reason was given'}")
        crashed_at = (crashed_at or time.monotonic()) if state.is_crashed() else None
        if crashed_at is not None and time.monotonic() - crashed_at > grace_seconds:
            raise RunLost(
                f"its run crashed and was not started again within {timedelta(seconds=grace_seconds)}: {state.message}"
            )
        _pause()


def _state(client: SyncPrefectClient, child: UUID) -> State[Any]:
    """The run's state now; a server that does not answer is waited for."""
    said_at = 0.0
    while True:
        try:
            state = client.read_flow_run(child).state
            assert state is not None, "a run of a deployment has a state from the start"
            return state
        except httpx.HTTPError as error:
            if time.monotonic() - said_at > SAY_OUTAGE_SECONDS:
                said_at = time.monotonic()
                get_run_logger().warning("Prefect's server does not answer (%s); its runs go on", error)
        _pause()


def _pause() -> None:
    """A moment; WorkerCrashed when this run is being ended meanwhile. The run that it waits for goes on."""
    time.sleep(LOOK_SECONDS)
    if launch.stopping():
        raise WorkerCrashed("the run that waited for this one was interrupted")


@contextmanager
def cancelled_together() -> Iterator[None]:
    """A pipeline's run that is cancelled takes the runs that it has started with it at once.

    SIGTERM alone is no cancellation: a machine that shuts down leaves them to go on on other ones.
    """
    try:
        yield
    except TerminationSignal:
        with suppress(httpx.HTTPError), get_client(sync_client=True) as client:
            this = client.read_flow_run(UUID(str(runtime.flow_run.id)))
            if this.state is not None and this.state.is_cancelling():
                _cancel_children(client, this)
        raise


def cancel_children(flow: Any, flow_run: FlowRun, state: State[Any]) -> None:
    """The same for a run whose process could not do it. Prefect calls this in a new process, ten seconds or more after
    the cancellation: a person may have started the run again by then, and its runs with it.
    """
    with get_client(sync_client=True) as client:
        now = client.read_flow_run(flow_run.id).state
        if now is not None and (now.is_cancelling() or now.is_cancelled()):
            _cancel_children(client, flow_run)


def _cancel_children(client: SyncPrefectClient, run: FlowRun) -> None:
    """All of them can be started again."""
    of_this_run = FlowRunFilter(parent_flow_run_id=FlowRunFilterParentFlowRunId(any_=[run.id]))
    for child in client.read_flow_runs(flow_run_filter=of_this_run):
        if child.state is not None and not child.state.is_final() and not child.state.is_cancelling():
            client.set_flow_run_state(child.id, Cancelling(message="The pipeline's run was cancelled."))


def held(slot: str | None) -> AbstractContextManager[object]:
    """Hold a slot of a global concurrency limit, if one is named. Once training, an outage of the server does not end
    it.
    """
    return nullcontext() if slot is None else concurrency(slot, strict=True, raise_on_lease_renewal_failure=False)
