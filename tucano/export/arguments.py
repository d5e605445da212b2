"""`tucano export` and `tucano publish`: their arguments. What they need is imported when they run."""

import argparse
from pathlib import Path

from tucano.profiles import load_profile, project_root

FORMS = ("merged", "adapter", "gguf")


def add_export_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", help="a registered model with an alias or a version, like tucano@champion")
    command.add_argument("folder", type=Path, metavar="FOLDER", help="a new folder")
    _add_form(command)


def add_publish_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", help="a registered model with an alias or a version, like tucano@champion")
    command.add_argument("repository", metavar="OWNER/NAME", help="on the hub; made, and private, where there is none")
    command.add_argument("--yes", action="store_true", help="send it; without, it is only shown what would be sent")
    _add_form(command)


def _add_form(command: argparse.ArgumentParser) -> None:
    what = "for transformers (default), for PEFT, or for llama.cpp in float16"
    command.add_argument("--to", choices=FORMS, default="merged", help=what)
    what = "a checkout of llama.cpp, whose converter writes the GGUF"
    command.add_argument("--llama-cpp", type=Path, metavar="FOLDER", help=what)
    what = "the licence of a base that is not ours, for the card, like apache-2.0"
    command.add_argument("--base-licence", metavar="NAME", help=what)
    command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="like storage=/data/runs")


def run(arguments: argparse.Namespace) -> int:
    from tucano.export import command
    from tucano.export.folders import Wanted

    settings = load_profile(project_root(Path.cwd()), "laptop", arguments.set)
    wanted = Wanted(arguments.model, arguments.to, arguments.llama_cpp, arguments.base_licence)
    if arguments.command == "publish":
        return command.publish(settings, wanted, arguments.repository, arguments.yes)
    return command.export(settings, wanted, arguments.folder)


ARGUMENTS = {"export": add_export_arguments, "publish": add_publish_arguments}
COMMANDS = {"export": run, "publish": run}
