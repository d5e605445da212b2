"""Make, or bring up to date, the work pool and the deployment on the Prefect server. Repeating it changes nothing
more.
"""

from pathlib import Path
from typing import Any

import yaml
from prefect import get_client
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import WorkPoolCreate, WorkPoolUpdate
from prefect.exceptions import ObjectNotFound
from prefect.utilities.callables import parameter_schema
from prefect.utilities.importtools import import_object

from deployments.vertex.plan import DEPLOYMENT, POOL, POOL_TYPE, Plan, template
from tucano.errors import UserError

POOL_DESCRIPTION = (
    "Vertex AI: machines with one NVIDIA L4. Made by `tucano deploy vertex`; its worker is deployments.vertex.worker."
)
PULL = [{"prefect.deployments.steps.set_working_directory": {"directory": "."}}]
"""The image has the project in its working directory."""


def apply(plan: Plan, project: Path) -> list[str]:
    """Write the plan to the Prefect server; returns the deployments' full names, like `seed/vertex-l4`."""
    with get_client(sync_client=True) as client:
        _write_pool(client, plan)
        return [_write_deployment(client, described) for described in _described(project)]


def changes(plan: Plan) -> list[str]:
    """What `apply` would change, in words; an empty list where everything is as it should be already."""
    with get_client(sync_client=True) as client:
        try:
            pool = client.read_work_pool(POOL)
        except ObjectNotFound:
            return [f"work pool {POOL} is new"]
        before = _flat(pool.base_job_template)
        after = _flat(template(plan))
        return [
            f"{name}: {before.get(name)} -> {after.get(name)}"
            for name in sorted({*before, *after})
            if before.get(name) != after.get(name)
        ]


def _write_pool(client: SyncPrefectClient, plan: Plan) -> None:
    try:
        found = client.read_work_pool(POOL)
    except ObjectNotFound:
        client.create_work_pool(
            WorkPoolCreate(name=POOL, type=POOL_TYPE, description=POOL_DESCRIPTION, base_job_template=template(plan))
        )
        return
    if found.type != POOL_TYPE:
        raise UserError(
            f"work pool {POOL} exists with type {found.type}; delete it (prefect work-pool delete {POOL}) and try again"
        )
    client.update_work_pool(POOL, WorkPoolUpdate(description=POOL_DESCRIPTION, base_job_template=template(plan)))


def _described(project: Path) -> list[dict[str, Any]]:
    content = yaml.safe_load((project / "prefect.yaml").read_text(encoding="utf-8"))
    found = [dict(deployment) for deployment in content["deployments"] if deployment["name"] == DEPLOYMENT]
    if not found:
        raise UserError(f"prefect.yaml has no deployment {DEPLOYMENT}; take it from the released one")
    return found


def _write_deployment(client: SyncPrefectClient, described: dict[str, Any]) -> str:
    flow = import_object(described["entrypoint"])
    client.create_deployment(
        flow_id=client.create_flow_from_name(flow.name),
        name=DEPLOYMENT,
        description=described["description"],
        tags=described["tags"],
        entrypoint=described["entrypoint"],
        parameters=described.get("parameters", {}),
        parameter_openapi_schema=parameter_schema(flow).model_dump_for_openapi(),
        enforce_parameter_schema=True,
        work_pool_name=POOL,
        pull_steps=PULL,
    )
    return f"{flow.name}/{DEPLOYMENT}"


def _flat(value: Any, prefix: str = "") -> dict[str, object]:
    """Nested JSON by path, like `job_configuration.region`."""
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = {str(number): item for number, item in enumerate(value)}.items()
    else:
        return {prefix: value}
    return {
        name: item for key, inner in items for name, item in _flat(inner, f"{prefix}.{key}" if prefix else key).items()
    }
