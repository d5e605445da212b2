"""Runs of `tucano run` that Prefect still calls running, though their process was killed: the next command on the
storage ends them.

A run in process is tagged with its storage, of which only one command at a time is the owner. So whatever else with
this tag has not ended is dead.
"""

import socket
from contextlib import AbstractContextManager
from pathlib import Path

from prefect import get_client, tags
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterId,
    FlowRunFilterState,
    FlowRunFilterStateType,
    FlowRunFilterTags,
    TaskRunFilter,
    TaskRunFilterState,
    TaskRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.states import Crashed

ALIVE = [StateType.SCHEDULED, StateType.PENDING, StateType.RUNNING, StateType.CANCELLING]


def marked(root: Path) -> AbstractContextManager[object]:
    """Flow runs begun herein say that they are at work in this storage, on this machine."""
    return tags(_tag(root))


def end_dead_runs(root: Path) -> None:
    """To be called by the owner of the storage, before its own run begins."""
    states = FlowRunFilterState(type=FlowRunFilterStateType(any_=ALIVE))
    ours = FlowRunFilter(state=states, tags=FlowRunFilterTags(all_=[_tag(root)]))
    with get_client(sync_client=True) as client:
        for run in client.read_flow_runs(flow_run_filter=ours):
            _end(client, run)


def _end(client: SyncPrefectClient, run: FlowRun) -> None:
    killed: State[None] = Crashed(message="Its process was killed.")
    alive = TaskRunFilter(state=TaskRunFilterState(type=TaskRunFilterStateType(any_=ALIVE)))
    for task in client.read_task_runs(
        flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[run.id])), task_run_filter=alive
    ):
        client.set_task_run_state(task.id, killed, force=True)
    client.set_flow_run_state(run.id, killed, force=True)


def _tag(root: Path) -> str:
    return f"at {socket.gethostname()}:{root}"
