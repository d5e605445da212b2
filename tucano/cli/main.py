"""The `tucano` command. Parsing and help are instant; Prefect and torch are imported only by what needs them."""

import argparse
import errno
import os
import signal
import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import NoReturn, TextIO

from data.own import command as own_data
from deployments.kubernetes import command as kubernetes
from deployments.vertex import command as vertex
from tucano.bundle import arguments as bundling
from tucano.errors import GateClosed, TucanoError, UserError
from tucano.monitoring import command as monitoring
from tucano.profiles import PROJECT_FILE, load_profile, project_root
from tucano.project import OWN_FILES
from tucano.rating import arguments as rating
from tucano.requirements import require_startable
from tucano.requirements.machines import MACHINES
from tucano.security.addresses import holds_secret, masked
from tucano.security.printable import PrintableStream
from tucano.serving import arguments as serving
from tucano.settings import PipelineSettings

EXAMPLES = """examples:
  tucano run laptop                                   the whole pipeline on a CPU, in minutes
  tucano run laptop --set grpo.max_steps=20           one setting changed; repeat --set for more
  tucano run laptop --set data.source=olist --set data.path=olist/
  tucano audit laptop                                 the reward audit alone
  tucano benchmark laptop                             trained arms and baselines judged by ground truth; trains nothing
  tucano benchmark laptop --set benchmark.b2w=reviews.csv
  tucano compare laptop                               the verdict of the last run, without running anything
  tucano compare l4 l4-v5                             any two profiles, runs, registered models or adapters
  tucano rate --rater ana                             rate answers of the last run blind; goes on where it stopped
  tucano rate mine --rater ana --from answers.jsonl   answers of a file, ratings kept in the folder mine/
  tucano data check prompts.jsonl                     which of your own prompts can be used, and why not
  tucano data export runs prompts.jsonl               the prompts of the last run as such a file
  tucano lineage tucano@champion                      from the promoted model back to its data, every link checked
  tucano bundle tucano@champion                       it, with all that it was made from, in one file
  tucano verify tucano-1.tar.gz --retrain             elsewhere: is it what it says, and trained again to the same bits
  tucano serve                                        the champion behind an OpenAI-compatible API, with a token
  tucano monitor                                      has what the champion answers changed since its test?
  tucano ui                                           Prefect and MLflow pages over what the runs left
  tucano up                                           database, Prefect, MLflow, a worker: runs start from a page
  tucano status                                       are they healthy?        tucano down   stops them
  tucano gc                                           list what old runs left and nothing needs; --yes removes it
  tucano doctor                                       what is installed, what is missing, what would run where
  tucano doctor l4-v5                                 what is known of a profile before it runs: memory, gates, warnings
  tucano forecast l4-v5 --machine l4                  memory, time and dollars of each stage, before a GPU is paid for
  tucano rehearse l4-v5                               every stage in minutes on this machine, with one file to send back
  tucano deploy vertex --project P --region R --bucket B --image I --dry-run
"""

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


SERVED = {"serve": serving, "monitor": monitoring}
"""Commands about a champion at work, whose arguments stand with them."""
TARGETS = {"vertex": vertex, "kubernetes": kubernetes}
"""Where `tucano deploy` makes a work pool."""

OWN = {"rate": rating.add_arguments, "data": own_data.add_arguments, **bundling.ARGUMENTS}
"""Commands that add all of their arguments themselves."""
SENTENCES = {
    "run": "run the pipeline with a profile of prefect.yaml",
    "audit": "compare the rewards of a profile with people's ratings",
    "benchmark": "judge the trained arms of a profile, baselines, other models and APIs by ground truth",
    "compare": "print the verdict of the last run again, or compare any two sides",
    "rate": "rate completions blind, from 1 to 5, in a local web page or in the terminal",
    "data": "check a file of your own prompts, or write a run's prompts into one",
    "lineage": "print the chain from a registered model back to its data, and check every link",
    "bundle": "pack a registered model with data recipe, answers, ratings, weights and verdict into one file",
    "verify": "hold such a file against itself, score its answers again and make its verdict again",
    "up": "start all that scheduled runs need on this machine: database, Prefect, MLflow, a worker",
    "down": "stop what tucano up started; all data stays",
    "status": "say whether what tucano up started is healthy (exit code 0) or not (1)",
    "gc": "remove what old runs left and nothing needs any more: files, MLflow runs, flow runs",
    "serve": "answer requests over HTTP with the champion, on this machine and with a token",
    "monitor": "hold what the champion answers against its own test answers; exit code 1 at an alarm",
    "ui": "open Prefect and MLflow pages over the runs of a storage",
    "doctor": "say what is installed, what is missing and what would run where",
    "forecast": "say what memory, time and money a run will take, before it starts",
    "rehearse": "run every stage of a profile in small, in a storage of its own, and write what was seen",
    "deploy": "make a work pool and its deployments for seeds and stages: machines of Vertex AI, or Kubernetes",
}
"""What each command does, in the order that `--help` names them."""


class Parser(argparse.ArgumentParser):
    """Repeats what it does not understand without the secrets in it."""

    def error(self, message: str) -> NoReturn:
        super().error(masked(message))


def main() -> NoReturn:
    sys.stdout, sys.stderr = PrintableStream(sys.stdout), PrintableStream(sys.stderr)
    arguments = _parser().parse_args()
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    warnings.showwarning = _show_warning
    try:
        code = COMMANDS[arguments.command](arguments)
    except UserError as error:
        code = _say(f"tucano: {error}", 2)
    except GateClosed as error:
        code = _say(f"tucano: {error}", 1)
    except TucanoError as error:
        code = _say(f"tucano: {error}\nThe same command goes on from what is done.", 1)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        where = f" ({error.filename})" if error.filename else ""
        code = _say(
            f"tucano: the disk is full{where}; free some space, and the same command goes on from what is done", 1
        )
    except KeyboardInterrupt:
        looks = arguments.command in LOOKS
        kept = "nothing was changed" if looks else "nothing is lost, the same command goes on from here"
        code = _say(f"tucano: interrupted; {kept}", 130)
    sys.stdout.flush()
    sys.exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="tucano",
        description="Trains, checks and promotes a small Portuguese language model for Brazilian e-commerce.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in SENTENCES.items():
        shown = {"gc": GC_EXAMPLES, "serve": serving.EXAMPLES}.get(name, EXAMPLES)
        command = commands.add_parser(
            name, help=text, description=text, epilog=shown, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if name == "compare":
            command.add_argument("profile", help="a profile, like laptop; or side A")
            command.add_argument(
                "other", nargs="?", metavar="B", help="side B: A and B are profiles, runs, models or adapter folders"
            )
        elif name == "doctor":
            command.add_argument("profile", nargs="?", help="a profile to say more about: memory, gates, warnings")
        elif name in ("run", "audit", "benchmark", "forecast", "rehearse"):
            command.add_argument("profile", help="a deployment of the train flow in prefect.yaml, like laptop")
        if name == "forecast":
            command.add_argument(
                "--machine", choices=sorted(MACHINES), default="l4", help="GPU of a CUDA profile (default: l4)"
            )
        if name == "lineage":
            command.add_argument(
                "model", help="a registered model with an alias or a version, like tucano@champion or tucano/3"
            )
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
    return parser


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


def _settings(arguments: argparse.Namespace, profile: str | None = None) -> PipelineSettings:
    return load_profile(_project(), profile or arguments.profile, arguments.set)


def _project() -> Path:
    """The folder whose prefect.yaml holds the profiles. Where it is not one of the user's own, that is said."""
    here = Path.cwd()
    root = project_root(here)
    if root == OWN_FILES and root not in (here, *here.parents):
        _say(f"tucano: no {PROJECT_FILE} at or above {here}; taking the profiles of {root / PROJECT_FILE}", 0)
    return root


def _prefect_home(settings: PipelineSettings) -> None:
    """Before Prefect is imported: its database lies in the storage, it sends nothing, and starts no open server."""
    from tucano.storage.root import writable

    if holds_secret(os.environ.get("PREFECT_API_URL", "")):
        raise UserError(
            "PREFECT_API_URL holds a password, and pages link to it: give it as PREFECT_API_AUTH_STRING=USER:PASSWORD"
        )
    root = writable(settings.storage)
    os.environ.setdefault("PREFECT_HOME", str(root / "prefect"))
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    os.environ["PREFECT_SERVER_ALLOW_EPHEMERAL_MODE"] = "false"
    os.environ.setdefault("PREFECT_LOGGING_SETTINGS_PATH", str(Path(__file__).with_name("logging.yml")))


def _run(arguments: argparse.Namespace) -> int:
    from tucano.cli import inprocess

    settings = _settings(arguments)
    require_startable(settings)
    _prefect_home(settings)
    return inprocess.run(settings, arguments.profile)


def _judge(arguments: argparse.Namespace) -> int:
    from tucano.cli import inprocess

    settings = _settings(arguments)
    _prefect_home(settings)
    return {"audit": inprocess.audit, "benchmark": inprocess.benchmark}[arguments.command](settings)


def _compare(arguments: argparse.Namespace) -> int:
    if arguments.other is not None:
        from tucano.cli import versus

        settings = _settings(arguments, "laptop")
        _prefect_home(settings)
        return versus.compare(settings, arguments.profile, arguments.other)
    from tucano.cli import inprocess

    return inprocess.compare(_settings(arguments))


def _rate(arguments: argparse.Namespace) -> int:
    from tucano.cli import rate

    if min(arguments.prompts, arguments.completions) < 1:
        raise UserError("--prompts and --completions are at least 1")
    draw = rate.Draw(Path(arguments.source), arguments.prompts, arguments.completions, arguments.seed)
    rater = rate.Rater(arguments.rater, arguments.kind, arguments.new_rater)
    port = None if arguments.terminal else arguments.port
    return rate.rate(Path(arguments.folder), draw, rater, port)


def _lineage(arguments: argparse.Namespace) -> int:
    from tucano.cli import lineage

    return lineage.show(_settings(arguments, "laptop"), arguments.model)


def _serve(arguments: argparse.Namespace) -> int:
    return SERVED[arguments.command].main(arguments, _settings(arguments))


def _ui(arguments: argparse.Namespace) -> int:
    from tucano.cli import ui
    from tucano.storage.root import private, working_copy
    from tucano.tracking.store import named

    settings = _settings(arguments, "laptop")
    return ui.serve(private(working_copy(settings.storage)), named(settings.tracking_uri))


def _doctor(arguments: argparse.Namespace) -> int:
    from tucano.cli import doctor

    return doctor.main(arguments.profile, arguments.set)


def _forecast(arguments: argparse.Namespace) -> int:
    from tucano.cli import forecast

    return forecast.show(_settings(arguments), arguments.machine)


def _rehearse(arguments: argparse.Namespace) -> int:
    from tucano.cli import rehearse

    settings = _settings(arguments)
    _prefect_home(rehearse.in_small(settings, arguments.profile))
    return rehearse.rehearse(settings, arguments.profile)


def _deploy(arguments: argparse.Namespace) -> int:
    return TARGETS[arguments.target].main(arguments, _project())


def _up(arguments: argparse.Namespace) -> int:
    from deployments import stack

    if arguments.workers < 1:
        raise UserError("--workers is at least 1")
    stack.up(stack.opened(arguments.home, _project(), arguments.prefect_port, arguments.mlflow_port), arguments.workers)
    return 0


def _down(arguments: argparse.Namespace) -> int:
    from deployments import stack

    stack.down(stack.opened(arguments.home, _project()))
    return 0


def _status(arguments: argparse.Namespace) -> int:
    from deployments import stack

    return 0 if stack.status(stack.opened(arguments.home, _project())) else 1


def _gc(arguments: argparse.Namespace) -> int:
    from deployments.gc import collect

    return collect(arguments.home, arguments.days, arguments.yes)


LOOKS = frozenset({"doctor", "forecast", "lineage", "status", "verify"})
"""Commands that change nothing."""
STACK = {"up": _up, "down": _down, "status": _status, "gc": _gc}
COMMANDS = {
    **STACK,
    "run": _run,
    "audit": _judge,
    "benchmark": _judge,
    "compare": _compare,
    "rate": _rate,
    "data": own_data.main,
    "lineage": _lineage,
    **bundling.COMMANDS,
    "serve": _serve,
    "monitor": _serve,
    "ui": _ui,
    "doctor": _doctor,
    "forecast": _forecast,
    "rehearse": _rehearse,
    "deploy": _deploy,
}


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """End the training children in order before anything else unwinds; a second signal does not wait for them."""
    signal.signal(number, signal.SIG_DFL)
    from tucano.training import launch

    if launch.running():
        print("\ntucano: stopping, the training children save their state ...", file=sys.stderr)
    launch.stop_all()
    raise KeyboardInterrupt


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, UserWarning) and not issubclass(category, DeprecationWarning):
        print(f"tucano: warning: {message}", file=sys.stderr)


def _say(text: str, code: int) -> int:
    print(masked(text), file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
