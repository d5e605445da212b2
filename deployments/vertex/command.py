"""`tucano deploy vertex`: says what it would make, asks Google whether that can work, and makes it with --yes."""

import argparse
import re
from pathlib import Path

from deployments.jobs import IMAGE, SOLD, add_gpus, add_options, both, require_sound, shown, trouble
from deployments.prefect_api import require_server
from deployments.vertex.plan import DISK_GB, LONGEST_HOURS, LONGEST_WAIT_HOURS, PROVISIONING, Plan, pool
from tucano.errors import UserError
from tucano.security.printable import short

NAMES = {
    "project": (r"[a-z][a-z0-9-]{2,28}[a-z0-9]", "shop-project"),
    "region": (r"[a-z]+-[a-z]+\d{1,2}", "us-central1"),
    "bucket": (r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]", "shop-bucket"),
    "image": (IMAGE.pattern, "us-central1-docker.pkg.dev/P/tucano/train:1"),
    "service_account": (r"[\w.-]+@[\w.-]+\.gserviceaccount\.com", "tucano-trainer@P.iam.gserviceaccount.com"),
}  # fmt: skip
"""{option: (what Google takes for one, an example)}"""
SECRET_VARIABLE = re.compile(r"(?!LD_|PYTHON|PATH\b|HOME\b|IFS\b|ENV\b|BASH)[A-Z_][A-Z0-9_]*")
"""Variables of a job that may hold a secret: none of those that decide what is run."""
ROLES = """  roles that its account needs: roles/storage.objectUser on the bucket,
                                roles/secretmanager.secretAccessor on each secret,
                                roles/aiplatform.user and roles/logging.logWriter in the project"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(parser, "only say what would be made: asks nobody and needs no credentials")
    parser.add_argument("--project", required=True, metavar="P", help="Google Cloud project")
    parser.add_argument("--region", required=True, metavar="R", help="region of the jobs, like us-central1")
    parser.add_argument(
        "--bucket", required=True, metavar="B", help="bucket for checkpoints and artifacts, without gs://"
    )
    parser.add_argument(
        "--service-account", metavar="A", help="account the jobs run as (default: tucano-trainer of the project)"
    )
    parser.add_argument(
        "--secret",
        action="append",
        default=[],
        metavar="VARIABLE=NAME",
        help="secret of Secret Manager for a variable of the jobs",
    )
    parser.add_argument(
        "--provisioning",
        choices=[*PROVISIONING],
        default="spot",
        help="how a job's machine is had: cheap and taken away at any time, after a wait in a queue, or at once"
        " (default: spot)",
    )
    add_gpus(parser, "l4", "default: l4")
    parser.add_argument("--anyway", action="store_true", help="apply although a check fails")


def main(arguments: argparse.Namespace, project: Path) -> int:
    plan = _plan(arguments)
    print(describe(plan))
    if arguments.dry_run:
        print("\nNothing was asked and nothing was changed (--dry-run).")
        return 0
    require_sound(plan.environment)
    require_server()
    plan, failing = _checked(plan)
    from deployments.pools import applied

    if arguments.yes and failing and not arguments.anyway:
        raise UserError(f"not applied, as a check fails: {', '.join(failing)}; mend it, or add --anyway")
    ready = applied(pool(plan), project, arguments.yes)
    if ready:
        print("Their worker, wherever it can reach Prefect and Google:")
        print(f"  python -m deployments.vertex.worker {plan.name}")
        print(f"What holds a model works there with:\n  {ready}{both(plan.gpus)} --set storage={plan.storage}")
    return 0


def _plan(arguments: argparse.Namespace) -> Plan:
    arguments.bucket = arguments.bucket.removeprefix("gs://").strip("/")
    for option, (pattern, like) in NAMES.items():
        given = getattr(arguments, option)
        if given is not None and not re.fullmatch(pattern, given, re.ASCII):
            raise UserError(f"--{option.replace('_', '-')} '{short(given)}' is no name that Google takes, like {like}")
    if arguments.gpu == "h100" and arguments.provisioning == "on-demand":
        raise UserError(
            f"Google sells {SOLD['h100'][arguments.gpus]} as spot and flex-start alone; choose one with --provisioning"
        )
    return Plan(
        project=arguments.project,
        region=arguments.region,
        bucket=arguments.bucket,
        image=arguments.image,
        api_url=arguments.api_url,
        tracking_uri=arguments.tracking_uri,
        service_account=arguments.service_account or f"tucano-trainer@{arguments.project}.iam.gserviceaccount.com",
        secrets=dict(map(_secret, arguments.secret)),
        provisioning=arguments.provisioning,
        gpu=arguments.gpu,
        gpus=arguments.gpus,
    )


def _secret(pair: str) -> tuple[str, str]:
    """A variable and the name of its secret. Secrets of other projects, and variables that decide what a job runs, are
    none.
    """
    variable, _, name = pair.partition("=")
    if not SECRET_VARIABLE.fullmatch(variable) or not re.fullmatch(r"[\w-]{1,255}", name, re.ASCII):
        raise UserError(
            f"--secret {short(variable)} names no secret for a variable of a job; write it as --secret VARIABLE=NAME,"
            " like PREFECT_API_AUTH_STRING=prefect-login (the secret's name in this project, not what it holds)"
        )
    return variable, name


def describe(plan: Plan) -> str:
    """The plan for a person, with what stands against it."""
    return f"""Work pool {plan.name}: each seed and each stage is a custom job of Vertex AI
  where    {plan.project}, {plan.region}
  machine  {plan.machine} with {plan.holds}, {_had(plan)}, {DISK_GB} GB
           never restarted by the platform: a job that loses its machine fails, and Prefect submits the next one
  image    {plan.image}
  account  {plan.service_account}
  storage  {plan.storage}
  environment of a job, beside the ids of its run:
{shown(plan.environment)}
{ROLES}{trouble(plan.environment)}"""


def _had(plan: Plan) -> str:
    """How a job's machine is had, and for how long."""
    waits = "with its time in the queue"
    if plan.provisioning == "flex-start":
        waits = f"after at most {LONGEST_WAIT_HOURS} h in the queue"
    return f"{plan.provisioning} (at most {LONGEST_HOURS} h {waits})"


def _checked(plan: Plan) -> tuple[Plan, list[str]]:
    """The plan with its image by digest, and the names of the checks that fail."""
    import google.auth.exceptions

    from deployments.vertex import checks
    from deployments.vertex.google import Google

    try:
        found, plan = checks.ask(plan, Google())
    except google.auth.exceptions.DefaultCredentialsError:
        raise UserError(
            "no Google credentials: run gcloud auth application-default login, or look with --dry-run"
        ) from None
    except google.auth.exceptions.GoogleAuthError as error:
        refused = isinstance(error, google.auth.exceptions.RefreshError) and not error.retryable
        raise UserError(f"Google {'refuses these credentials' if refused else 'cannot be asked'}: {error}") from None
    print("\nAsked Google:")
    for check in found:
        print(f"  {check.level:<10} {check.name:<34} {check.evidence}")
    return plan, [check.name for check in found if check.level == "fails"]
