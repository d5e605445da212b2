"""What a Prefect server has to know, made idempotently: `python -m deployments.setup HOME [--automations] [--recover]`.

Runs as a process of its own, because Prefect reads its server's address when it is imported.
"""

import argparse
import itertools
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import yaml
from prefect import get_client
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate, WorkPoolCreate
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterState, FlowRunFilterStateType
from prefect.client.schemas.objects import DeploymentSchedule, State, StateType
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.sorting import FlowRunSort
from prefect.exceptions import ObjectNotFound
from prefect.states import AwaitingRetry, Cancelled, Crashed

from deployments import automations
from tucano.profiles import read_project
from tucano.requirements.machine import cores

POOL = "local"
QUEUES = {"pipelines": 1, "seeds": cores(), "checks": 1}
"""Runs at a time. Pipelines and seeds wait in queues of their own, so that pipelines never take the places their seeds
need.
"""
PAGE = 200
LIMIT = "gpu"
"""Global concurrency limit: one run at a time has this machine's GPU. How many seeds it trains on it is
`worker.parallel`.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--automations", action="store_true", help="the database is PostgreSQL")
    parser.add_argument("--recover", action="store_true", help="no worker runs: what is running is dead")
    arguments = parser.parse_args()
    with get_client(sync_client=True) as client:
        make_pool(client)
        make_limit(client)
        deploy(client, Path.cwd(), arguments.home)
        automations.apply(client, automations.wanted(client) if arguments.automations else [])
        if arguments.recover:
            recover(client)


def make_pool(client: SyncPrefectClient) -> None:
    """The process pool of this machine with its queues. Limits that a person has changed in the page stay."""
    try:
        client.read_work_pool(POOL)
    except ObjectNotFound:
        client.create_work_pool(WorkPoolCreate(name=POOL, type="process", description="Runs on this machine."))
    present = {queue.name for queue in client.read_work_queues(POOL)}
    for name, limit in QUEUES.items():
        if name not in present:
            client.create_work_queue(name=name, concurrency_limit=limit, work_pool_name=POOL)


def make_limit(client: SyncPrefectClient) -> None:
    if LIMIT not in {limit.name for limit in client.read_global_concurrency_limits(limit=PAGE)}:
        client.create_global_concurrency_limit(GlobalConcurrencyLimitCreate(name=LIMIT, limit=1))


def deploy(client: SyncPrefectClient, project: Path, home: Path) -> None:
    """The deployments of prefect.yaml whose pool is on this machine; their runs write below `home`.

    Schedules that a person has switched on or off, or added in the page, stay so.
    """
    content = read_project(project)
    content["deployments"] = [entry for entry in content["deployments"] if entry["work_pool"]["name"] == POOL]
    below = [
        entry
        for entry in content["deployments"]
        if "storage" not in entry["parameters"].get("settings", {"storage": ""})
    ]
    follow(client, former_homes(client, below), home)
    for entry in below:
        entry["parameters"]["settings"]["storage"] = str(home)
    for entry in content["deployments"]:
        entry["schedules"] = schedules(client, entry)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        yaml.safe_dump(content, file, allow_unicode=True, sort_keys=False)
        file.flush()
        command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all", "--prefect-file", file.name]
        subprocess.run(command, check=True, cwd=project)


def former_homes(client: SyncPrefectClient, entries: Sequence[Mapping[str, Any]]) -> set[str]:
    """Where the deployments have written so far."""
    known = (_known(client, entry) for entry in entries)
    return {one.parameters.get("settings", {}).get("storage", "") for one in known if one} - {""}


def _known(client: SyncPrefectClient, entry: Mapping[str, Any]) -> DeploymentResponse | None:
    """A deployment as the server has it; None where it is new."""
    try:
        return client.read_deployment_by_name(f"{entry['entrypoint'].rpartition('.')[2]}/{entry['name']}")
    except ObjectNotFound:
        return None


def follow(client: SyncPrefectClient, former: Set[str], home: Path) -> None:
    """Runs of a home that was moved write where it is now, should they go on or be started again."""
    gone = former - {str(home)}
    for offset in itertools.count(0, PAGE) if gone else ():
        runs = client.read_flow_runs(limit=PAGE, offset=offset, sort=FlowRunSort.ID_DESC)
        for run in runs:
            settings = run.parameters.get("settings")
            if isinstance(settings, dict) and settings.get("storage") in gone:
                client.update_flow_run(
                    run.id, parameters={**run.parameters, "settings": {**settings, "storage": str(home)}}
                )
        if len(runs) < PAGE:
            return


def schedules(client: SyncPrefectClient, entry: dict[str, Any]) -> list[dict[str, Any]]:
    """The schedules of a deployment: those of prefect.yaml, switched as they are on the server, and those that only the
    server has.
    """
    known = _known(client, entry)
    present = known.schedules if known else []
    switched = {schedule.slug: schedule.active for schedule in present if schedule.slug}
    ours = [
        {**schedule, "active": switched.get(schedule["slug"], schedule["active"])} for schedule in entry["schedules"]
    ]
    slugs = {schedule["slug"] for schedule in ours}
    return ours + [_plain(schedule) for schedule in present if schedule.slug not in slugs]


def _plain(schedule: DeploymentSchedule) -> dict[str, Any]:
    """A schedule as prefect.yaml would have it."""
    fields = schedule.schedule.model_dump(mode="json", exclude_none=True)
    if "interval" in fields:
        fields["interval"] = int(fields["interval"])
    fields |= {"active": schedule.active, "parameters": schedule.parameters}
    return fields | ({"slug": schedule.slug} if schedule.slug else {})


def recover(client: SyncPrefectClient) -> None:
    """Runs that ended with the machine or with `tucano down`, and could not say so or be heard, are scheduled again."""
    for run in client.read_flow_runs(
        flow_run_filter=_in_states(StateType.RUNNING, StateType.PENDING, StateType.CANCELLING)
    ):
        if run.work_pool_name == POOL:
            gone: State[None] = (
                Cancelled()
                if run.state and run.state.is_cancelling()
                else Crashed(message="Its machine or the services were stopped.")
            )
            client.set_flow_run_state(run.id, gone, force=True)
    for run in client.read_flow_runs(flow_run_filter=_in_states(StateType.CRASHED)):
        if run.work_pool_name == POOL and automations.RESUMABLE in run.tags:
            client.set_flow_run_state(run.id, AwaitingRetry(message="Scheduled again by tucano up."), force=True)


def _in_states(*types: StateType) -> FlowRunFilter:
    return FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=list(types))))


if __name__ == "__main__":
    main()
