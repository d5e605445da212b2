"""Whether the deployments of prefect.yaml would do what they say, found out without a server. Every fault is one
sentence.
"""

import inspect
import zoneinfo
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from prefect.client.schemas.schedules import CronSchedule
from prefect.flows import Flow, load_flow_from_entrypoint
from pydantic import ValidationError

from tucano.errors import UserError
from tucano.profiles import PROJECT_FILE, nearest, read_project, validated

REQUIRED = ("name", "entrypoint", "description", "tags", "parameters", "work_pool", "schedules")
KEYS = (*REQUIRED, "concurrency_limit")
SCHEDULE_KEYS = ("slug", "cron", "timezone", "active", "parameters")
QUEUES: Mapping[str, tuple[str, ...]] = {
    "local": ("pipelines", "seeds", "checks"),
    "vertex-l4": (),
    "kubernetes-gpu": (),
}
"""The work pools that there are, and their queues."""


def require_valid(project: Path) -> None:
    """UserError with the first fault."""
    for fault in faults(project):
        raise UserError(fault)


def faults(project: Path) -> Iterator[str]:
    """What is wrong with the deployments, one sentence each."""
    content = read_project(project)
    for entry in content["deployments"]:
        for fault in _faults(entry):
            yield f"{PROJECT_FILE}, deployment {entry.get('name', '?')}: {fault}"


def _faults(entry: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"there is no key {key!r}{nearest(key, KEYS)}" for key in entry if key not in KEYS)
    if missing := [key for key in REQUIRED if key not in entry]:
        yield f"{missing[0]} is missing"
        return
    yield from _parameter_faults(entry["entrypoint"], entry["parameters"])
    yield from _pool_faults(entry["work_pool"])
    for schedule in entry["schedules"]:
        yield from _schedule_faults(schedule)


def _parameter_faults(entrypoint: str, parameters: Mapping[str, Any]) -> Iterator[str]:
    try:
        flow: Flow[..., Any] = load_flow_from_entrypoint(entrypoint)
    except (ImportError, AttributeError, ValueError) as error:
        yield f"entrypoint {entrypoint} cannot be loaded ({error}); it reads like flows.train.train"
        return
    known = list(inspect.signature(flow.fn).parameters)
    yield from (
        f"flow {flow.name} has no parameter {name!r}{nearest(name, known)}" for name in parameters if name not in known
    )
    if "settings" in parameters:
        try:
            validated(parameters["settings"])
        except UserError as error:
            yield str(error)


def _pool_faults(pool: Mapping[str, Any]) -> Iterator[str]:
    name = str(pool.get("name"))
    queue = pool.get("work_queue_name")
    if name not in QUEUES:
        yield f"there is no work pool {name!r}{nearest(name, QUEUES)}"
    elif queue is not None and queue not in QUEUES[name]:
        yield f"work pool {name} has no queue {queue!r}{nearest(queue, QUEUES[name])}"


def _schedule_faults(schedule: Mapping[str, Any]) -> Iterator[str]:
    yield from (
        f"schedules have no key {key!r}{nearest(key, SCHEDULE_KEYS)}" for key in schedule if key not in SCHEDULE_KEYS
    )
    if not schedule.get("slug"):
        yield "a schedule has no slug, the name by which it is found again"
    if schedule.get("timezone") not in zoneinfo.available_timezones():
        yield f"timezone {schedule.get('timezone')!r} is not known; write it like America/Sao_Paulo"
    try:
        CronSchedule(cron=schedule.get("cron", ""))
    except ValidationError:
        yield f"cron {schedule.get('cron')!r} is no schedule; five fields like 0 20 * * 5 (Fridays at 20:00)"
