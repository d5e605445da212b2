"""`tucano bundle` and `tucano verify`: their arguments. What they need is imported when they run."""

import argparse
from pathlib import Path

from tucano.artifacts.identity import SHIPPED
from tucano.profiles import load_profile, project_root


def add_bundle_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", help="a registered model with an alias or a version, like tucano@champion")
    command.add_argument("out", nargs="?", type=Path, metavar="OUT", help="file (default: MODEL-VERSION.tar.gz, here)")
    command.add_argument(
        "--consent", metavar="NAME", help="who answers for passing on texts of others, where it would hold some"
    )
    command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="like storage=/data/runs")


def add_verify_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "bundle",
        type=Path,
        metavar="BUNDLE",
        help="what tucano bundle wrote; or mini, the base model that comes with the program",
    )


def bundle(arguments: argparse.Namespace) -> int:
    from tucano.bundle.command import write

    settings = load_profile(project_root(Path.cwd()), "laptop", arguments.set)
    return write(settings, arguments.model, arguments.out, arguments.consent)


def verify(arguments: argparse.Namespace) -> int:
    from tucano.bundle.command import verify, verify_shipped

    if str(arguments.bundle) in SHIPPED and not arguments.bundle.exists():
        return verify_shipped(str(arguments.bundle))
    return verify(arguments.bundle)


ARGUMENTS = {"bundle": add_bundle_arguments, "verify": add_verify_arguments}
COMMANDS = {"bundle": bundle, "verify": verify}
