"""What `tucano deploy kubernetes` makes, as plain values: a work pool whose jobs are Kubernetes Jobs with one GPU or
two. Asks nobody, and needs no cluster.

A Job is never restarted by Kubernetes (`backoffLimit` 0): Prefect schedules the run again, and that is a new Job.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deployments.jobs import COMMAND, Pool, environment, variable

NAME = "kubernetes-gpu"
DESCRIPTION = (
    "Kubernetes: Jobs with NVIDIA GPUs. Made by `tucano deploy kubernetes`; its worker is that of"
    " prefect-kubernetes, in the cluster."
)
GPU = "nvidia.com/gpu"
LONGEST_HOURS = 72
GRACE_SECONDS = 60
"""A container that is told to go needs ten seconds to save its last step."""
POD_SECONDS = 3600
"""How long a pod may wait for its node and its image before the worker takes the run for crashed."""
KEPT_SECONDS = 7 * 24 * 3600
"""A finished Job, with its log."""


@dataclass(frozen=True)
class Plan:
    """One Kubernetes work pool. `secret` is a Secret of the namespace whose keys are variables of the jobs; `nodes`
    labels that a node must have.
    """

    image: str
    namespace: str
    api_url: str
    tracking_uri: str
    secret: str
    service_account: str
    machine: str
    nodes: Mapping[str, str] = field(default_factory=dict)
    gpus: int = 1

    @property
    def environment(self) -> dict[str, str]:
        """Every variable that a job gets beside the ids of its run and its Secret."""
        return environment(self.api_url, self.tracking_uri, self.machine)


def pool(plan: Plan) -> Pool:
    return Pool(NAME, "kubernetes", DESCRIPTION, template(plan))


def template(plan: Plan) -> dict[str, Any]:
    """The work pool's job template: what may be changed for a run in the Prefect page, and the Job around it."""
    properties = {
        "name": {"type": "string", "description": "Name of the Job; the run's when empty."},
        "namespace": variable("string", plan.namespace, "Namespace of the Job."),
        "image": variable("string", plan.image, "Container image."),
        "env": variable("object", plan.environment, "Environment of the Job; secrets come from the Secret."),
        "labels": variable("object", {}, "Labels of the Job."),
        "command": variable("string", COMMAND, "First process of the container."),
        "service_account": variable("string", plan.service_account, "Account of the Job; it may write the bucket."),
        "node_selector": variable("object", dict(plan.nodes), "Labels that the node must have."),
        "tolerations": variable("array", TOLERATIONS, "Taints that the Job bears."),
        "cpu": variable("string", f"{6 * plan.gpus}", "CPUs that are asked for."),
        "memory": variable("string", f"{24 * plan.gpus}Gi", "Memory that is asked for."),
        "active_seconds": variable("integer", LONGEST_HOURS * 3600, "After so long a Job is ended."),
    }
    configuration = {
        **{name: f"{{{{ {name} }}}}" for name in ("name", "namespace", "env", "labels", "command")},
        "job_manifest": _job(plan.secret, str(plan.gpus)),
        "pod_watch_timeout_seconds": POD_SECONDS,
        "job_watch_timeout_seconds": None,
        "stream_output": True,
    }
    return {"variables": {"type": "object", "properties": properties}, "job_configuration": configuration}


TOLERATIONS = [
    {"key": GPU, "operator": "Exists", "effect": "NoSchedule"},
    {"key": "cloud.google.com/gke-spot", "operator": "Exists", "effect": "NoSchedule"},
]
"""Nodes with GPUs, and Spot nodes of GKE, are closed to who does not ask for them."""


def _job(secret: str, gpus: str) -> dict[str, Any]:
    container = {
        "name": "prefect-job",  # the worker of prefect-kubernetes asks for this name
        "image": "{{ image }}",
        "env": "{{ env }}",
        "envFrom": [{"secretRef": {"name": secret}}],
        "args": "{{ command }}",
        "resources": {"requests": {"cpu": "{{ cpu }}", "memory": "{{ memory }}", GPU: gpus}, "limits": {GPU: gpus}},
    }
    pod = {
        "parallelism": 1,  # these two are no fields of a pod; prefect-kubernetes refuses a template without them
        "completions": 1,
        "restartPolicy": "Never",
        "serviceAccountName": "{{ service_account }}",
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "nodeSelector": "{{ node_selector }}",
        "tolerations": "{{ tolerations }}",
        "containers": [container],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"labels": "{{ labels }}", "namespace": "{{ namespace }}", "generateName": "{{ name }}-"},
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": "{{ active_seconds }}",
            "ttlSecondsAfterFinished": KEPT_SECONDS,
            "template": {"spec": pod},
        },
    }


def example(plan: Plan) -> dict[str, Any]:
    """The Job of one run, as the pool's worker would make it of the template, without the ids of the run."""
    import shlex

    from prefect.utilities.templating import apply_values

    made = template(plan)
    values = {name: one["default"] for name, one in made["variables"]["properties"].items() if "default" in one}
    job: dict[str, Any] = apply_values(made["job_configuration"]["job_manifest"], {**values, "name": "tucano"})
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    container["env"] = [{"name": name, "value": value} for name, value in container["env"].items()]
    container["args"] = shlex.split(container["args"])
    del pod["parallelism"], pod["completions"]
    return job
