"""What can be written after `tucano`: commands, options, help. Reading it imports nothing that is slow."""

import argparse
import re
from pathlib import Path
from typing import Any, NoReturn

from data.own import command as own_data
from deployments.kubernetes import command as kubernetes
from deployments.vertex import command as vertex
from tucano.bundle import arguments as bundling
from tucano.export import arguments as exporting
from tucano.judging import arguments as judging
from tucano.monitoring import command as monitoring
from tucano.profiles import nearest
from tucano.rating import arguments as rating
from tucano.requirements.machines import MACHINES
from tucano.security.addresses import masked
from tucano.security.printable import short
from tucano.serving import arguments as serving

EXAMPLES = """
  tucano run laptop                                   the whole pipeline on a CPU, in minutes
  tucano run laptop --set grpo.max_steps=20           one setting changed; repeat --set for more
  tucano run laptop --set data.source=olist --set data.path=olist/
  tucano audit laptop                                 the reward audit alone
  tucano benchmark laptop                             trained arms and baselines judged by ground truth; trains nothing
  tucano benchmark laptop --set benchmark.b2w=reviews.csv
  tucano compare laptop                               the verdict of the last run, without running anything
  tucano compare l4 l4-v5                             any two profiles, runs, registered models or adapters
  tucano try                                          ask base, SFT and champion of the last run, on a page
  tucano rate --rater ana                             rate answers of the last run blind; goes on where it stopped
  tucano judge show                                   what the judge that comes with the program has learned
  tucano data check prompts.jsonl                     which of your own prompts can be used, and why not
  tucano data export runs prompts.jsonl               the prompts of the last run as such a file
  tucano data feedback fixes                          demonstrations and preference pairs out of what people corrected
  tucano lineage tucano@champion                      from the promoted model back to its data, every link checked
  tucano bundle tucano@champion                       it, with all that it was made from, in one file
  tucano verify tucano-1.tar.gz                       elsewhere: is it what it says?
  tucano export tucano@champion shop --to merged      a folder that transformers loads; or adapter, or gguf
  tucano publish tucano@champion ana/loja             what would be sent to a hub; --yes sends it
  tucano promote --back --why "misses discounts"      the champion before this one is champion again
  tucano serve                                        the champion behind an OpenAI-compatible API, with a token
  tucano monitor                                      has what the champion answers changed since its test?
  tucano ui                                           Prefect and MLflow pages over what the runs left
  tucano up                                           database, Prefect, MLflow, a worker: runs start from a page
  tucano status                                       are they healthy?
  tucano down                                         stops them; all data stays
  tucano gc                                           list what old runs left and nothing needs; --yes removes it
  tucano doctor                                       what is installed, what is missing, what would run where
  tucano doctor --fix                                 and mend what can be mended
  tucano doctor l4-v5                                 what is known of a profile before it runs: memory, gates, warnings
  tucano diagnose                                     one file for a maintainer, without secrets
  tucano forecast l4-v5 --machine l4                  memory, time and dollars of each stage, before a GPU is paid for
  tucano rehearse l4-v5                               every stage in minutes on this machine, with one file to send back
  tucano deploy vertex --project P --region R --bucket B --image I --dry-run
"""
"""The first one of a command stands on the page of all commands; its own page shows all of them."""


GC_EXAMPLES = """What goes: artifacts, checkpoints and locks that were not used for so long, runs in the storage's own
MLflow store, flow runs in Prefect's database with their logs and events. What stays, whatever its age: the
newest artifact of every stage, what a registered model was made from, and the runs of both. A run that is at
work is never disturbed: while there is one, --yes is refused.

examples:
  tucano gc                             list what is older than 30 days and unused; nothing is removed
  tucano gc --yes                       remove it
  tucano gc --days 90 --home /data/runs
  0 4 * * 0  cd PROJECT && .venv/bin/tucano gc --yes     a line for crontab: every Sunday at four
"""


TRY_EXAMPLES = """examples:
  tucano try                                          the newest run of the storage runs; a browser opens
  tucano try l4 --no-browser --port 8080              the newest run of the profile l4, at a port of your choice
  tucano try --set storage=/data/runs                 the newest run of another storage

The page shows where your ratings are kept; tucano audit and tucano judge fit --ratings read that folder.
"""


STACK = ("up", "down", "status", "gc")
"""Commands over a home folder."""


SERVED = {"serve": serving, "monitor": monitoring}
"""Commands about a champion at work, whose arguments stand with them."""
OWN = {
    "rate": rating.add_arguments,
    "judge": judging.add_arguments,
    "data": own_data.add_arguments,
    **bundling.ARGUMENTS,
    **exporting.ARGUMENTS,
}
"""Commands that add all of their arguments themselves."""
TARGETS = {"vertex": vertex, "kubernetes": kubernetes}
"""Where `tucano deploy` makes a work pool."""


GROUPS = {
    "run: from data to a trained model": {
        "run": "run the pipeline with a profile of prefect.yaml",
        "data": "check a file of your own prompts, write a run's prompts into one, or what people taught",
        "forecast": "say what memory, time and money a run will take, before it starts",
        "rehearse": "run every stage of a profile in small, in a storage of its own, and write down all that fails",
        "deploy": "make a work pool and its deployments for seeds and stages: machines of Vertex AI, or Kubernetes",
    },
    "judge: what is better, and how sure that is": {
        "compare": "print the verdict of the last run again, or compare any two sides",
        "audit": "compare the rewards of a profile with ratings",
        "benchmark": "judge the trained arms of a profile, baselines, other models and APIs by ground truth",
        "rate": "rate completions blind, choose between two models, or correct what was served; a page or the terminal",
        "judge": "learn from ratings what is a good answer, or say what the judge has learned",
    },
    "use: what a run has promoted": {
        "try": "ask base, SFT and champion of a run on a page, and see what reward and truth say of the answers",
        "serve": "answer requests over HTTP with the champion, on this machine and with a token",
        "monitor": "hold what the champion answers against its own test answers; exit code 1 at an alarm",
        "ui": "open Prefect and MLflow pages over the runs of a storage",
        "promote": "make the champion before this one champion again",
        "lineage": "print the chain from a registered model back to its data, and check every link",
        "bundle": "pack a registered model with data recipe, answers, ratings, weights and verdict into one file",
        "export": "write a registered model as others load it: for transformers, PEFT or llama.cpp",
        "publish": "show what would be sent of a registered model to a hub, with its card; --yes sends it",
        "verify": "hold such a file against itself, score its answers again and make its verdict again",
    },
    "keep: servers, storage and this machine": {
        "up": "start all that scheduled runs need on this machine: database, Prefect, MLflow, a worker",
        "status": "say whether what tucano up started is healthy (exit code 0) or not (1)",
        "down": "stop what tucano up started; all data stays",
        "gc": "remove what old runs left and nothing needs any more: files, MLflow runs, flow runs",
        "doctor": "say what is installed, what is missing and what would run where; --fix mends what it can",
        "diagnose": "pack what a maintainer needs to see into one file, without secrets",
    },
}
"""What each command does, in the groups and the order in which `--help` names them."""
SENTENCES = {name: text for commands in GROUPS.values() for name, text in commands.items()}


class Parser(argparse.ArgumentParser):
    """Repeats what it does not understand without the secrets in it."""

    def error(self, message: str) -> NoReturn:
        unknown = re.match(r"argument COMMAND: invalid choice: (['\"])(.*?)\1 \(choose", message, re.DOTALL)
        if unknown:
            hint = nearest(unknown[2], SENTENCES) or "; tucano --help names them all"
            self._refuse(f"there is no command {short(unknown[2])!r}{hint}")
        super().error(masked(message))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As the parsers of the commands are asked: each knows which of its own options is meant."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            given = unknown[0].partition("=")[0]
            hint = nearest(given, self._option_string_actions) or f"; {self.prog} --help names what it has"
            self._refuse(f"{self.prog} has no {short(given)!r}{hint}")
        return found, unknown

    def _refuse(self, sentence: str) -> NoReturn:
        self.exit(2, f"tucano: {masked(sentence)}\n")


def examples(name: str) -> list[str]:
    """The examples of a command, each with what it does."""
    return [line for line in EXAMPLES.splitlines() if line.split()[:2] == ["tucano", name]]


def example(name: str) -> str:
    """The first one, as it is typed."""
    return re.split(r"\s{2,}", examples(name)[0].strip())[0]


def _page() -> str:
    """All commands in their groups, each with a line and an example."""
    groups = (
        f"{title}\n" + "".join(f"  {name:<10} {text}\n{'':13}{example(name)}\n" for name, text in commands.items())
        for title, commands in GROUPS.items()
    )
    return "\n".join(groups)


def _epilog(name: str) -> str:
    own = {
        "gc": GC_EXAMPLES,
        "serve": serving.EXAMPLES,
        "rate": rating.EXAMPLES,
        "judge": judging.EXAMPLES,
        "try": TRY_EXAMPLES,
    }
    return own.get(name) or "\n".join(["examples:", *examples(name)])


def parser() -> argparse.ArgumentParser:
    made = Parser(
        prog="tucano",
        usage="tucano [COMMAND ...]",
        description="Trains, checks and promotes a small Portuguese language model for Brazilian e-commerce. Without a"
        " command it\nsays what to do next in this folder. More of a command: tucano COMMAND --help",
        epilog=_page(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = made.add_subparsers(dest="command", metavar="COMMAND", prog="tucano", help=argparse.SUPPRESS)
    for name, text in SENTENCES.items():
        command = commands.add_parser(
            name, description=text, epilog=_epilog(name), formatter_class=argparse.RawDescriptionHelpFormatter
        )
        _add_arguments(command, name)
    return made


def _add_arguments(command: argparse.ArgumentParser, name: str) -> None:
    if name == "compare":
        command.add_argument("profile", help="a profile, like laptop; or side A")
        command.add_argument(
            "other", nargs="?", metavar="B", help="side B: A and B are profiles, runs, models or adapter folders"
        )
    elif name == "doctor":
        command.add_argument("profile", nargs="?", help="a profile to say more about: memory, gates, warnings")
        command.add_argument("--fix", action="store_true", help="mend what can be mended without asking")
    elif name in ("run", "audit", "benchmark", "forecast", "rehearse"):
        command.add_argument("profile", help="a deployment of the train flow in prefect.yaml, like laptop")
    if name == "forecast":
        command.add_argument(
            "--machine", choices=sorted(MACHINES), default="l4", help="GPU of a CUDA profile (default: l4)"
        )
    if name == "rehearse":
        command.add_argument(
            "--minutes", type=float, metavar="N", help="be over by then; what does not fit is left out, and said"
        )
    if name == "lineage":
        command.add_argument(
            "model", help="a registered model with an alias or a version, like tucano@champion or tucano/3"
        )
    if name == "try":
        command.add_argument("profile", nargs="?", help="a profile, or a run as tucano compare names it (newest)")
        command.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
        command.add_argument("--no-browser", action="store_true", help="only print the link")
    if name == "promote":
        command.add_argument("--back", action="store_true", required=True, help="to the version called `previous`")
        command.add_argument("--why", required=True, metavar="REASON", help="recorded in the registry")
    if name in SERVED:
        SERVED[name].add_arguments(command)
    if name in OWN:
        OWN[name](command)
    elif name == "deploy":
        targets = command.add_subparsers(dest="target", required=True, metavar="TARGET")
        for target, module in TARGETS.items():
            module.add_arguments(targets.add_parser(target, help=module.__doc__, description=module.__doc__))
    elif name in STACK:
        _add_stack_arguments(command, name)
    else:
        command.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="override one setting, like grpo.max_steps=20",
        )


def _add_stack_arguments(command: argparse.ArgumentParser, name: str) -> None:
    command.add_argument(
        "--home", type=Path, default=Path("runs"), metavar="FOLDER", help="what runs write, logs, data (default: runs)"
    )
    if name == "up":
        command.add_argument(
            "--workers", type=int, default=1, metavar="N", help="workers; a second one stands by (default: 1)"
        )
        command.add_argument("--prefect-port", type=int, metavar="PORT", help="default: 4200, or a free one")
        command.add_argument("--mlflow-port", type=int, metavar="PORT", help="default: 5000, or a free one")
    if name == "gc":
        command.add_argument(
            "--days", type=int, default=30, metavar="N", help="age at which what nothing needs goes (default: 30)"
        )
        command.add_argument("--yes", action="store_true", help="remove; without it the list is only shown")
