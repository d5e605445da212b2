"""Make a work pool and its deployments on the Prefect server, or bring them up to date; safe to repeat."""

from pathlib import Path
from typing import Any

from prefect import get_client
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import WorkPoolCreate, WorkPoolUpdate
from prefect.client.schemas.objects import WorkPool
from prefect.exceptions import ObjectNotFound
from prefect.utilities.callables import parameter_schema
from prefect.utilities.importtools import import_object

from deployments.jobs import Pool
from tucano.errors import UserError
from tucano.profiles import read_project

PULL = [{"prefect.deployments.steps.set_working_directory": {"directory": "."}}]
"""The image has the project in its working directory."""


def applied(pool: Pool, project: Path, really: bool) -> str:
    """Say what would change and, `really`, change it. Returns the settings by which runs work there; none where nothing
    was done.
    """
    with get_client(sync_client=True) as client:
        found = _found(client, pool)
        print("\nOn the Prefect server:", *(_changes(found, pool) or ["nothing would change"]), sep="\n  ")
        if not really:
            print("\nNothing was changed. The same command with --yes applies this.")
            return ""
        _write_pool(client, found, pool)
        ready = [_write_deployment(client, described, pool) for described in _described(project, pool)]
    print(f"\n{' and '.join(ready)} are ready.", end=" ")
    return " ".join(f"--set execution.{name.split('/')[0]}s={name}" for name in ready)


def _found(client: SyncPrefectClient, pool: Pool) -> WorkPool | None:
    """The pool as the server has it."""
    try:
        return client.read_work_pool(pool.name)
    except ObjectNotFound:
        return None


def _changes(found: WorkPool | None, pool: Pool) -> list[str]:
    """What is other than it should be, in words."""
    if found is None:
        return [f"work pool {pool.name} is new"]
    before = _flat(found.base_job_template)
    after = _flat(pool.template)
    return [
        f"{name}: {before.get(name)} -> {after.get(name)}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


def _write_pool(client: SyncPrefectClient, found: WorkPool | None, pool: Pool) -> None:
    content = {"description": pool.description, "base_job_template": dict(pool.template)}
    if found is None:
        client.create_work_pool(WorkPoolCreate(name=pool.name, type=pool.type, **content))
    elif found.type == pool.type:
        client.update_work_pool(pool.name, WorkPoolUpdate(**content))
    else:
        raise UserError(
            f"work pool {pool.name} exists with type {found.type}; delete it (prefect work-pool delete {pool.name}) and"
            " try again"
        )


def _described(project: Path, pool: Pool) -> list[dict[str, Any]]:
    name = pool.like or pool.name
    found = [dict(deployment) for deployment in read_project(project)["deployments"] if deployment["name"] == name]
    if not found:
        raise UserError(f"prefect.yaml has no deployment {name}; take it from the released one")
    return found


def _write_deployment(client: SyncPrefectClient, described: dict[str, Any], pool: Pool) -> str:
    flow = import_object(described["entrypoint"])
    client.create_deployment(
        flow_id=client.create_flow_from_name(flow.name),
        name=pool.name,
        description=described["description"],
        tags=described["tags"],
        entrypoint=described["entrypoint"],
        parameters=described.get("parameters", {}),
        parameter_openapi_schema=parameter_schema(flow).model_dump_for_openapi(),
        enforce_parameter_schema=True,
        work_pool_name=pool.name,
        pull_steps=PULL,
    )
    return f"{flow.name}/{pool.name}"


def _flat(value: Any, prefix: str = "") -> dict[str, object]:
    """Nested JSON by path, like `job_configuration.region`."""
    if not isinstance(value, dict | list):
        return {prefix: value}
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return {name: one for key, inner in items for name, one in _flat(inner, f"{prefix}.{key}".lstrip(".")).items()}
