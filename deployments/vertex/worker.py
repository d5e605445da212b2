"""The worker of a Vertex AI work pool: `python -m deployments.vertex.worker [POOL]`, of vertex-l4 where none is named.

Prefect's own worker copies every setting of its environment into the job's: the API key, the database's password,
folders of its machine. Anybody who may look at the job in the console could read them. This one passes on what the work
pool says, and nothing else.

Prefect's own worker also reports a run as crashed when its job fails, even where the run has meanwhile been started
again in another job (a machine that was silent for long, and believed lost). This one leaves such a run alone.
"""

import argparse
import asyncio
import warnings
from typing import Any

from anyio.abc import TaskStatus
from prefect.client.schemas.objects import FlowRun
from prefect_gcp.workers import vertex

from deployments.jobs import MACHINE_NAME
from deployments.vertex.plan import LONGEST_WAIT_HOURS, POOL, POOL_TYPE, Provisioning, priced, scheduling


class Started:
    """Hears the name of the job that was submitted, and passes it on to whoever waits for it."""

    def __init__(self, status: TaskStatus[str] | None) -> None:
        self.status, self.job = status, ""

    def started(self, job: str) -> None:
        self.job = job
        if self.status is not None:
            self.status.started(job)


with warnings.catch_warnings():  # it takes the place of prefect_gcp's worker, and Prefect says so
    warnings.simplefilter("ignore", UserWarning)

    class JobConfiguration(vertex.VertexAIWorkerJobConfiguration):
        """A job whose environment holds the ids of its run and the work pool's own variables, and how its machine is
        had.
        """

        provisioning: Provisioning = "spot"

        @classmethod
        def _base_environment(cls) -> dict[str, str]:
            return {}

        def provide(self) -> None:
            """Ask for a machine of the run's kind, and tell the job its name in the price table."""
            (pool,) = self.job_spec["worker_pool_specs"]
            name = priced(pool["machine_spec"]["machine_type"], self.provisioning, self.region)
            others = [variable for variable in pool["container_spec"]["env"] if variable["name"] != MACHINE_NAME]
            pool["container_spec"]["env"] = [*others, {"name": MACHINE_NAME, "value": name}]
            self.job_spec["scheduling"] = scheduling(self.provisioning)

    class Worker(vertex.VertexAIWorker):
        """Prefect's Vertex AI worker with a clean environment for its jobs."""

        type = POOL_TYPE
        job_configuration = JobConfiguration

        async def run(
            self, flow_run: FlowRun, configuration: Any, task_status: TaskStatus[str] | None = None
        ) -> vertex.VertexAIWorkerResult:
            """Submit a job and watch it to its end; that it failed does not count once the run has gone on without
            it.
            """
            configuration.provide()
            self.get_flow_run_logger(flow_run).info("Asking for a machine (%s)", configuration.provisioning)
            started = Started(task_status)
            result = await super().run(flow_run, configuration, started)
            if result.status_code == 0:
                return result
            now = await self.client.read_flow_run(flow_run.id)
            if now.infrastructure_pid == started.job and not (now.state and now.state.is_scheduled()):
                return result
            self.get_flow_run_logger(flow_run).info("Job %s failed, but the run has gone on without it", started.job)
            return vertex.VertexAIWorkerResult(identifier=result.identifier, status_code=0)

        async def _watch_job_run(self, *, timeout: int, **named: Any) -> Any:
            """To its end, however long it may wait for its machine before it computes."""
            return await super()._watch_job_run(timeout=timeout + LONGEST_WAIT_HOURS * 3600, **named)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m deployments.vertex.worker", description="Runs jobs on Vertex AI.")
    parser.add_argument(
        "pool", nargs="?", default=POOL, help="work pool that `tucano deploy vertex` made (%(default)s)"
    )
    asyncio.run(Worker(work_pool_name=parser.parse_args().pool, name="vertex").start())


if __name__ == "__main__":
    main()
