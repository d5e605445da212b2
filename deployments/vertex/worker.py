"""The worker of the Vertex AI work pool: `python -m deployments.vertex.worker`.

Prefect's own worker copies every setting of its environment into the job's: the API key, the database's password, folders of its
machine. Anybody who may look at the job in the console could read them. This one passes on what the work pool says, and nothing else.
"""

import asyncio
import warnings

from prefect_gcp.workers import vertex

from deployments.vertex.plan import POOL, POOL_TYPE

with warnings.catch_warnings():  # it takes the place of prefect_gcp's worker, and Prefect says so
    warnings.simplefilter("ignore", UserWarning)

    class JobConfiguration(vertex.VertexAIWorkerJobConfiguration):
        """A job whose environment holds the ids of its run and the work pool's own variables."""

        @classmethod
        def _base_environment(cls) -> dict[str, str]:
            return {}

    class Worker(vertex.VertexAIWorker):
        """Prefect's Vertex AI worker with a clean environment for its jobs."""

        type = POOL_TYPE
        job_configuration = JobConfiguration


if __name__ == "__main__":
    asyncio.run(Worker(work_pool_name=POOL, name="vertex").start())
