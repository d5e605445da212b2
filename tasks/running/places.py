"""Where stages and seeds work elsewhere: what of that Prefect's server can refuse before the first stage."""

import time
from pathlib import Path

from prefect import get_client, runtime
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.objects import WorkPool, WorkPoolStatus
from prefect.exceptions import ObjectNotFound

from tucano.errors import UserError
from tucano.security.addresses import is_external
from tucano.settings import PipelineSettings
from tucano.storage.folder import is_remote
from tucano.tracking.store import named

ON_THIS_MACHINE = "process"
"""The type of the work pool whose runs are processes beside its worker."""
WORKER_SECONDS = 60.0
"""A worker that was started at the same moment takes some seconds to say so."""
LOOK_SECONDS = 2.0


def no_deployment(name: str) -> UserError:
    return UserError(
        f"{name} is no deployment of this Prefect server; tucano up makes those of prefect.yaml, tucano deploy vertex"
        " those of Vertex AI"
    )


def require_places(settings: PipelineSettings) -> None:
    """UserError for a deployment, work pool or worker that `execution` needs and that is not there, and for what the
    machines of its pool could not reach.
    """
    wanted = [name for name in (settings.execution.stages, settings.execution.seeds) if name is not None]
    if not wanted:
        return
    with get_client(sync_client=True) as client:
        for name in wanted:
            pool = pool_of(client, name)
            if pool.type != ON_THIS_MACHINE:
                _require_reachable(settings, f"a job of work pool {pool.name} ({pool.type})")
            if int(runtime.flow_run.run_count or 1) == 1:  # a run that goes on may wait for jobs that go on, too
                _require_worker(client, pool)


def pool_of(client: SyncPrefectClient, deployment: str) -> WorkPool:
    """Where a deployment works. UserError where there is no such deployment, or its pool is gone."""
    try:
        name = client.read_deployment_by_name(deployment).work_pool_name
    except ObjectNotFound:
        raise no_deployment(deployment) from None
    if name is None:
        raise UserError(
            f"the work pool of {deployment} was deleted, so nothing would start there; make it again (tucano up, or"
            " tucano deploy)"
        )
    return client.read_work_pool(name)


def _require_reachable(settings: PipelineSettings, job: str) -> None:
    if not is_remote(settings.storage):
        raise UserError(
            f"storage={settings.storage} is a folder of this machine, which {job} does not see; name a bucket, like"
            " --set storage=gs://BUCKET/tucano"
        )
    if not settings.model.is_ours and Path(settings.model.name).exists():
        raise UserError(
            f"model.name={settings.model.name} is a folder of this machine, which {job} does not see; name a model of"
            " the Hub, with its commit in model.revision"
        )
    tracking = named(settings.tracking_uri) or ""
    if not tracking.startswith(("http://", "https://")):
        raise UserError(
            f"{job} writes to an MLflow server, and this run would write to"
            f" {'a file of this machine' if tracking else 'one beside its storage'}; name the server in"
            " MLFLOW_TRACKING_URI (docs/gpu.md)"
        )
    if settings.tracking_uri and not is_external(settings.tracking_uri):
        raise UserError(
            f"tracking_uri={settings.tracking_uri} is an address of this machine, which {job} does not reach; leave it"
            " out and name the server in MLFLOW_TRACKING_URI, which every machine has its own of"
        )


def _require_worker(client: SyncPrefectClient, pool: WorkPool) -> None:
    """UserError where the pool is paused, or no worker has polled it within WORKER_SECONDS."""
    deadline = time.monotonic() + WORKER_SECONDS
    while pool.status != WorkPoolStatus.READY:
        if pool.is_paused:
            raise UserError(f"work pool {pool.name} is paused: prefect work-pool resume {pool.name}")
        if time.monotonic() > deadline:
            raise UserError(
                f"no worker polls work pool {pool.name}, so nothing would start there; start one"
                f" ({'tucano up' if pool.type == ON_THIS_MACHINE else 'docs/gpu.md says how'}) and try again"
            )
        time.sleep(LOOK_SECONDS)
        pool = client.read_work_pool(pool.name)
