"""What `tucano deploy vertex` makes, as plain values: a work pool whose jobs are machines with one GPU or two. Asks
nobody.

A job is submitted once (`disable_retries`): when its machine is taken away it fails, Prefect schedules the run again,
and that is a new job. Left to itself the platform would restart the container as well, and two processes would train
one seed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from deployments.jobs import COMMAND, SECRETS, SOLD, Pool, environment, variable

POOL, POOL_TYPE = "vertex-l4", "vertex-ai"
DESCRIPTION = "Vertex AI: machines with {}. Made by `tucano deploy vertex`; its worker is deployments.vertex.worker."
LONGEST_HOURS = 72
"""Bounds a job's time in the queue and its training together; with flex-start its training alone."""
MOST_HOURS = 7 * 24
"""Google's bound, for flex-start."""
LONGEST_WAIT_HOURS = 24
"""With flex-start, how long a job may wait for its machine."""
Provisioning = Literal["spot", "flex-start", "on-demand"]
PROVISIONING: Mapping[str, str] = {"spot": "SPOT", "flex-start": "FLEX_START", "on-demand": "STANDARD"}
"""How a machine is had, by Google's name of it: cheap and taken away at any time; after a wait in a queue; at once."""
DISK_GB = 200
CHANGEABLE = ("name", "command", "env", "labels", "job_watch_poll_interval", "provisioning")
"""What may be changed for a run beside what is inside its job."""


@dataclass(frozen=True)
class Plan:
    """One Vertex AI work pool. `secrets` maps environment variables to names of secrets in the project's Secret
    Manager.
    """

    project: str
    region: str
    bucket: str
    image: str
    api_url: str
    tracking_uri: str
    service_account: str
    secrets: Mapping[str, str]
    provisioning: str = "spot"
    gpu: str = "l4"
    gpus: int = 1

    @property
    def name(self) -> str:
        """Of its work pool, like `vertex-h100`, or `vertex-h100x2` where there are two."""
        return f"vertex-{self.gpu}{f'x{self.gpus}' if self.gpus > 1 else ''}"

    @property
    def accelerator(self) -> str:
        """Google's name for the GPU."""
        return SOLD[self.gpu][0]

    @property
    def machine(self) -> str:
        """Google's machine type."""
        return SOLD[self.gpu][self.gpus]

    @property
    def holds(self) -> str:
        """What the machine has."""
        return f"{('one', 'two')[self.gpus - 1]} {self.accelerator}"

    @property
    def storage(self) -> str:
        """What runs that train here set `storage` to."""
        return f"gs://{self.bucket}/tucano"

    @property
    def environment(self) -> dict[str, str]:
        """Every variable that a job gets, beside the ids of its run. Secrets go by name; the job fetches them
        itself.
        """
        versions = (
            f"{name}=projects/{self.project}/secrets/{secret}/versions/latest" for name, secret in self.secrets.items()
        )
        machine = priced(self.machine, self.provisioning, self.region)
        return environment(self.api_url, self.tracking_uri, machine) | {SECRETS: ",".join(versions)}


def priced(machine: str, provisioning: str, region: str) -> str:
    """A machine's name in the price table, like `g2-standard-8 spot us-central1`."""
    return f"{machine} {provisioning} {region}"


def scheduling(provisioning: str) -> dict[str, Any]:
    """Google's words for how a job's machine is had. A job that loses it fails, and is not restarted."""
    once = {"strategy": PROVISIONING[provisioning], "disable_retries": True, "restart_job_on_worker_restart": False}
    if provisioning == "flex-start":
        return once | {"max_wait_duration": f"{LONGEST_WAIT_HOURS * 3600}s"}
    return once


def pool(plan: Plan) -> Pool:
    return Pool(plan.name, POOL_TYPE, DESCRIPTION.format(plan.holds), template(plan), like=POOL)


def template(plan: Plan) -> dict[str, Any]:
    """The work pool's job template: what may be changed for a run in the Prefect page, and the job around it."""
    properties = {
        "image": variable("string", plan.image, "Container image, by digest."),
        "env": variable("object", plan.environment, "Environment of the job; secrets go by name into TUCANO_SECRETS."),
        "machine_type": variable("string", plan.machine, "Compute Engine machine type."),
        "boot_disk_size_gb": variable("integer", DISK_GB, "Disk for the image, the model and checkpoints."),
        "maximum_run_time_hours": {
            **variable("integer", LONGEST_HOURS, "Bounds queue and training together; flex-start: training alone."),
            "minimum": 1,
            "maximum": MOST_HOURS,
        },
        "provisioning": {
            **variable("string", plan.provisioning, "How the machine is had."),
            "enum": [*PROVISIONING],
        },
        "command": variable("string", COMMAND, "First process of the container."),
        "labels": variable("object", {}, "Labels of the job."),
        "job_watch_poll_interval": variable("number", 10, "Seconds between two looks of the worker at the job."),
        "name": {"type": "string", "description": "Name of the job; the run's when empty."},
    }
    job = {
        "service_account_name": plan.service_account,
        "maximum_run_time_hours": "{{ maximum_run_time_hours }}",
        "scheduling": scheduling(plan.provisioning),
        "base_output_directory": {"output_uri_prefix": f"gs://{plan.bucket}/vertex"},
        "worker_pool_specs": [
            {
                "replica_count": 1,
                "container_spec": {"image_uri": "{{ image }}", "command": "{{ command }}", "args": []},
                "machine_spec": {
                    "machine_type": "{{ machine_type }}",
                    "accelerator_type": plan.accelerator,
                    "accelerator_count": plan.gpus,
                },
                "disk_spec": {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": "{{ boot_disk_size_gb }}"},
            }
        ],
    }
    configuration = {
        **{name: f"{{{{ {name} }}}}" for name in CHANGEABLE},
        "region": plan.region,
        "credentials": {"project": plan.project},
        "job_spec": job,
    }
    return {"variables": {"type": "object", "properties": properties}, "job_configuration": configuration}
