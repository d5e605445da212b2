"""`tucano deploy kubernetes`: prints a Job as it would be, and makes the work pool and its deployments with --yes."""

import argparse
import re
from pathlib import Path

import yaml

from deployments.jobs import IMAGE, SOLD, add_gpus, add_options, both, require_sound, trouble
from deployments.kubernetes.plan import Plan, example, pool
from deployments.prefect_api import require_server
from tucano.errors import UserError
from tucano.security.printable import short

ACCELERATOR = "cloud.google.com/gke-accelerator"
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
"""Of an object: RFC 1123, as Kubernetes asks for."""
VALUE = re.compile(r"[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?", re.ASCII)
LABEL = re.compile(rf"([a-z0-9.-]{{1,253}}/)?{VALUE.pattern}", re.ASCII)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(parser, "only print a Job: asks nobody, for kubectl create --dry-run=server -f -")
    parser.add_argument("--namespace", default="tucano", metavar="N", help="namespace of the jobs (default: tucano)")
    parser.add_argument(
        "--secret",
        default="tucano",
        metavar="NAME",
        help="Secret of that namespace; its keys are variables of the jobs (default: tucano)",
    )
    parser.add_argument(
        "--service-account",
        default="tucano",
        metavar="A",
        help="account of that namespace that may write the bucket (default: tucano)",
    )
    parser.add_argument(
        "--node",
        action="append",
        default=[],
        metavar="LABEL=VALUE",
        help="label that a node must have, like cloud.google.com/gke-accelerator=nvidia-l4",
    )
    add_gpus(parser, None, f"as the label {ACCELERATOR} of GKE's nodes; without it, and elsewhere, --node names them")
    parser.add_argument(
        "--machine", default="kubernetes", metavar="NAME", help="the node's name in cost.prices (default: kubernetes)"
    )


def main(arguments: argparse.Namespace, project: Path) -> int:
    plan = _plan(arguments)
    print(yaml.safe_dump(example(plan), sort_keys=False), end="")
    print(trouble(plan.environment).replace("\n", "\n#"))
    if arguments.dry_run:
        return 0
    require_sound(plan.environment)
    require_server()
    from deployments.pools import applied

    ready = applied(pool(plan), project, arguments.yes)
    if ready:
        print("Their worker, in the cluster (pip install prefect-kubernetes):")
        print(f"  prefect worker start --pool {pool(plan).name} --type kubernetes")
        print(f"What holds a model works there with:\n  {ready}{both(plan.gpus)} --set storage=BUCKET")
    return 0


def _plan(arguments: argparse.Namespace) -> Plan:
    nodes = dict(label.partition("=")[::2] for label in arguments.node)
    if arguments.gpu is not None and ACCELERATOR in nodes:
        raise UserError(f"--gpu {arguments.gpu} stands for --node {ACCELERATOR}; leave one of the two out")
    if arguments.gpu is not None:  # GKE writes NVIDIA_L4 as nvidia-l4
        nodes[ACCELERATOR] = SOLD[arguments.gpu][0].lower().replace("_", "-")
    if not all(map(LABEL.fullmatch, nodes)) or not all(map(VALUE.fullmatch, nodes.values())):
        raise UserError("--node names a label and its value, like --node cloud.google.com/gke-accelerator=nvidia-l4")
    for option in ("namespace", "secret", "service_account"):
        name = getattr(arguments, option)
        if not NAME.fullmatch(name):
            raise UserError(
                f"--{option.replace('_', '-')} {short(name)} is no name in Kubernetes: small letters, digits and"
                " dashes, 63 at most"
            )
    if not IMAGE.fullmatch(arguments.image):
        raise UserError(f"--image {short(arguments.image)} is no name of an image, like REGISTRY/tucano/train:1")
    return Plan(
        image=arguments.image,
        namespace=arguments.namespace,
        api_url=arguments.api_url,
        tracking_uri=arguments.tracking_uri,
        secret=arguments.secret,
        service_account=arguments.service_account,
        machine=arguments.machine,
        nodes=nodes,
        gpus=arguments.gpus,
    )
