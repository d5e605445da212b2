"""What every work pool of ours has whose jobs are containers on other machines: their environment, and what it may not
hold. Asks nobody.
"""

import argparse
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tucano.errors import UserError
from tucano.security.addresses import holds_secret, is_http, masked

COMMAND = "python -m deployments.vertex.start"
"""First process of a container."""
HEARTBEAT_SECONDS = 30
"""A run that stays silent for three of these is taken for lost."""
MACHINE_NAME = "TUCANO_MACHINE"
"""Says where a run computes, as the price table knows it."""
SECRETS = "TUCANO_SECRETS"
"""Names variables and the secrets that a job fetches for them."""
SERVERS = {"--api-url": ("PREFECT_API_URL", "Prefect"), "--tracking-uri": ("MLFLOW_TRACKING_URI", "MLflow")}
"""What jobs have to reach: the option for its address, the variable that holds it, and its name."""
LOOPBACK = re.compile(r"(localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1\]?)", re.IGNORECASE)
IMAGE = re.compile(r"[\w.-]+(:\d+)?(/[a-z0-9._-]+)*(:[\w.-]+)?(@sha256:[0-9a-f]{64})?", re.ASCII)
SECRET_NAME = re.compile(r"(PASSWORD|SECRET|TOKEN|API_KEY|AUTH_STRING|CREDENTIAL|CONNECTION_URL)", re.IGNORECASE)

SOLD = {
    "l4": ("NVIDIA_L4", "g2-standard-8", "g2-standard-24"),
    "a100": ("NVIDIA_TESLA_A100", "a2-highgpu-1g", "a2-highgpu-2g"),
    "a100-80gb": ("NVIDIA_A100_80GB", "a2-ultragpu-1g", "a2-ultragpu-2g"),
    "h100": ("NVIDIA_H100_80GB", "a3-highgpu-1g", "a3-highgpu-2g"),
}
"""GPUs by the names of `tucano forecast`: Google's name for each, and its machine types with one and with two
(https://docs.cloud.google.com/compute/docs/accelerator-optimized-machines; the names:
https://cloud.google.com/vertex-ai/docs/reference/rest/v1/MachineSpec). Those with few H100 are not sold on demand
(https://cloud.google.com/blog/products/compute/announcing-smaller-machine-types-for-a3-high-vms).
"""


def add_options(parser: argparse.ArgumentParser, dry_run: str) -> None:
    """What every work pool has: its image, the servers that jobs reach, and whether it is made."""
    parser.add_argument(
        "--image", required=True, metavar="I", help="container image (deployments/image/Dockerfile), like HOST/PATH:TAG"
    )
    for option, (variable, server) in SERVERS.items():
        what = f"where jobs reach the {server} server (default: ${variable})"
        parser.add_argument(option, default=os.environ.get(variable, ""), metavar="URL", help=what)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--yes", action="store_true", help="apply; without it nothing is changed")
    how.add_argument("--dry-run", action="store_true", help=dry_run)


def add_gpus(parser: argparse.ArgumentParser, default: str | None, said: str) -> None:
    """The options that choose GPUs."""
    parser.add_argument("--gpu", choices=[*SOLD], default=default, help=f"the machine's GPU ({said})")
    parser.add_argument("--gpus", type=int, choices=[1, 2], default=1, help="how many a machine has (default: 1)")


def both(gpus: int) -> str:
    """The setting by which two GPUs train a seed each."""
    return " --set worker.parallel=2" if gpus == 2 else ""


@dataclass(frozen=True)
class Pool:
    """A work pool as a Prefect server shall know it; its deployments bear its name."""

    name: str
    type: str
    description: str
    template: Mapping[str, Any]
    like: str = ""
    """The deployments of prefect.yaml that it gets, where they do not bear its own name."""


def environment(api_url: str, tracking_uri: str, machine: str) -> dict[str, str]:
    """What a job has to know, beside the ids of its run and its secrets."""
    return {
        "PREFECT_API_URL": api_url,
        "PREFECT_CLIENT_MAX_RETRIES": "7",  # 2 + 4 + ... + 128 s: a server that is restarted is back by then
        "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": str(HEARTBEAT_SECONDS),
        "MLFLOW_TRACKING_URI": tracking_uri,
        MACHINE_NAME: machine,
    }


def faults(environment: Mapping[str, str]) -> list[str]:
    """What must not stand in a job's environment, which the console shows to everybody: secrets, and addresses of this
    machine.
    """
    found = []
    for name, value in environment.items():
        if value and not is_http(value) and (name == "PREFECT_API_URL" or value.startswith(("http://", "https://"))):
            found.append(f"{name}={masked(value)} is no address of a server, like https://prefect.example/api")
            continue
        address = urlsplit(value)
        if LOOPBACK.fullmatch(address.hostname or ""):
            found.append(f"{name}={masked(value)} is an address of this machine, which a job cannot reach")
        elif address.scheme and not address.hostname and "/" in value and not name.startswith("TUCANO_"):
            found.append(f"{name}={masked(value)} is a file of this machine, which a job cannot read")
        if name != SECRETS and (holds_secret(value) or SECRET_NAME.search(name)):
            found.append(f"{name} holds a secret; give it as one (--secret), and the address without it")
    return found


def require_sound(environment: Mapping[str, str]) -> None:
    """UserError for what cannot work, whoever is asked."""
    for option, (variable, server) in SERVERS.items():
        if not environment[variable]:
            raise UserError(f"no address of the {server} server is known: set {variable} or give {option} https://...")
    if found := faults(environment):
        raise UserError("; ".join(found))


def trouble(environment: Mapping[str, str]) -> str:
    """The same for a person who only looks."""
    missing = [f"{name} is missing" for name, value in environment.items() if not value and name != SECRETS]
    return "".join(f"\n  to mend: {fault}" for fault in [*faults(environment), *missing])


def shown(environment: Mapping[str, str]) -> str:
    return "\n".join(f"    {name}={value if name == SECRETS else masked(value)}" for name, value in environment.items())


def variable(kind: str, default: object, description: str) -> dict[str, Any]:
    """What may be changed for a run in the Prefect page."""
    return {"type": kind, "default": default, "description": description}
