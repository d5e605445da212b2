"""The `tucano` command. Parsing and help are instant; Prefect and torch are imported only by what needs them."""

import argparse
import errno
import gc
import os
import select
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import NoReturn, TextIO
from urllib.request import getproxies_environment

from data.own import command as own_data
from deployments.prefect_api import require_address
from tucano.bundle import arguments as bundling
from tucano.cli.arguments import SENTENCES, SERVED, TARGETS, examples, parser
from tucano.errors import GateClosed, TucanoError, UserError
from tucano.export import arguments as exporting
from tucano.profiles import PROJECT_FILE, load_profile, profiles, project_root
from tucano.project import OWN_FILES
from tucano.requirements import require_startable
from tucano.security.addresses import holds_secret, masked
from tucano.security.printable import PrintableStream, short
from tucano.settings import PipelineSettings

_signalled = threading.Event()
READER_GONE = 141
"""What a shell reports of a program that SIGPIPE ended."""
OUR_SERVERS = ("127.0.0.1", "localhost")


def _nowhere() -> TextIO:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def main() -> NoReturn:
    # A stream that a shell has closed (`2>&-`) is None: what goes there is lost, and the work goes on.
    outputs = (stream or _nowhere() for stream in (sys.stdout, sys.stderr))
    sys.stdout, sys.stderr = map(PrintableStream, outputs)
    arguments = parser().parse_args()
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    warnings.showwarning = _show_warning
    try:
        ask_here_directly()
        code = COMMANDS[arguments.command](arguments) if arguments.command else _next()
    except (KeyboardInterrupt, Exception) as error:
        code = _ended_by(error, arguments.command)
    if code != READER_GONE:
        sys.stdout.flush()
    gc.freeze()  # else the interpreter takes its half a million objects apart, for seconds, before it ends
    sys.exit(code)


def _ended_by(error: BaseException, command: str) -> int:
    """Says why a command ended; its exit code. A signal may come where its exception is lost (a finaliser) or becomes
    another one (a child that may not start any more): what ends the command then is the signal still.
    """
    from tucano.cli.machine.full_disk import StorageFull

    if _signalled.is_set() and not isinstance(error, StorageFull):
        kept = "nothing was changed" if command in LOOKS else "nothing is lost, the same command goes on from here"
        return _say(f"tucano: interrupted; {kept}", 130)
    if isinstance(error, UserError | GateClosed):
        return _say(f"tucano: {error}", 2 if isinstance(error, UserError) else 1)
    if isinstance(error, TucanoError):
        return _say(f"tucano: {error}\nThe same command goes on from what is done.", 1)
    if isinstance(error, OSError):
        return _say_of_files(error)
    raise error


def ask_here_directly() -> None:
    """Our own servers are on this machine, where no proxy reaches them: NO_PROXY says so from here on, to children too.
    UserError for proxies that the HTTP client cannot read; it would end in a traceback wherever it is first used.
    """
    named = getproxies_environment()
    if not named:
        return
    direct = ",".join(dict.fromkeys(filter(None, [*named.get("no", "").split(","), *OUR_SERVERS])))
    os.environ.update(no_proxy=direct, NO_PROXY=direct)
    import httpx  # takes as long to import as all settings

    try:
        httpx.Client().close()
    except (ImportError, ValueError, httpx.InvalidURL) as fault:
        raise UserError(
            f"the proxies in the environment cannot be used ({fault}); HTTP_PROXY, HTTPS_PROXY and ALL_PROXY take"
            " http:// addresses, NO_PROXY names and addresses, no IPv6 networks"
        ) from None


def _has_no_reader() -> bool:
    """Whether nobody reads what is said any more (`tucano data check FILE | head`)."""
    asked = select.poll()
    asked.register(1, 0)
    return any(event & select.POLLERR for _, event in asked.poll(0))


def _say_of_files(error: OSError) -> int:
    """What a user can mend about files; anything else is raised again."""
    if isinstance(error, BrokenPipeError) and _has_no_reader():
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python complains at its end
        return READER_GONE
    where = f" ({short(str(error.filename))})" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _say(
            f"tucano: the disk is full{where}; free some space, and the same command goes on from what is done", 1
        )
    if error.errno == errno.ENAMETOOLONG:
        return _say(f"tucano: a name is longer than files may have{where}; choose a shorter one", 2)
    raise error


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
    require_address()
    root = writable(settings.storage)
    os.environ.setdefault("PREFECT_HOME", str(root / "prefect"))
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    os.environ["PREFECT_SERVER_ALLOW_EPHEMERAL_MODE"] = "false"
    os.environ.setdefault("PREFECT_LOGGING_SETTINGS_PATH", str(Path(__file__).with_name("logging.yml")))


def _next() -> int:
    """What to do next in this folder: `tucano` alone."""
    from deployments.services import read_services
    from tucano.overview.next_steps import next_steps
    from tucano.storage.root import working_copy

    root = working_copy(load_profile(project_root(Path.cwd()), "laptop", []).storage)
    file = root / "stack" / "services.json"
    said, commands = next_steps(root, lambda: any(service.process() for service in read_services(file).values()))
    print(*said, "", sep="\n")
    print(*(examples(name)[0] for name in commands if name in SENTENCES), sep="\n")
    print(f"  {'tucano --help':<52}all commands")
    return 0


def _run(arguments: argparse.Namespace) -> int:
    from tucano.cli.machine.doctor import require_own_fitting

    settings = _settings(arguments)
    require_startable(settings)
    if long := require_own_fitting(settings):
        _say(f"tucano: warning: {long}", 0)
    _prefect_home(settings)
    from tucano.cli import inprocess

    return inprocess.run(settings, arguments.profile)


def _judge(arguments: argparse.Namespace) -> int:
    settings = _settings(arguments)
    _prefect_home(settings)
    from tucano.cli import inprocess

    return {"audit": inprocess.audit, "benchmark": inprocess.benchmark}[arguments.command](settings)


def _compare(arguments: argparse.Namespace) -> int:
    if arguments.other is not None:
        from tucano.cli import versus

        settings = _settings(arguments, "laptop")
        _prefect_home(settings)
        return versus.compare(settings, arguments.profile, arguments.other)
    settings = _settings(arguments)
    from tucano.cli import inprocess

    return inprocess.compare(settings, arguments.profile, arguments.set)


def _main_of(module: str) -> Callable[[argparse.Namespace], int]:
    """A command that its module does, with the arguments as they are."""
    return lambda arguments: int(import_module(module).main(arguments))


def _try(arguments: argparse.Namespace) -> int:
    from tucano.cli.trying import command

    given = arguments.profile
    settings = _settings(arguments, given if given in profiles(_project()) else "laptop")
    command.require_run(settings)
    _prefect_home(settings)
    return command.serve(settings, given, arguments.port, not arguments.no_browser)


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
    from tucano.cli.machine import doctor

    if arguments.fix:
        return doctor.mend(_project())
    return doctor.main(arguments.profile, arguments.set)


def _diagnose(arguments: argparse.Namespace) -> int:
    from tucano.cli.machine import diagnose
    from tucano.storage.root import working_copy

    return diagnose.main(working_copy(_settings(arguments, "laptop").storage))


def _promote(arguments: argparse.Namespace) -> int:
    from tucano.cli import back

    return back.promote(_settings(arguments, "laptop"), arguments.why)


def _forecast(arguments: argparse.Namespace) -> int:
    from tucano.cli import forecast

    return forecast.show(_settings(arguments), arguments.machine)


def _rehearse(arguments: argparse.Namespace) -> int:
    from tucano.cli import rehearse

    if arguments.minutes is not None and not arguments.minutes >= 1:
        raise UserError(f"--minutes={arguments.minutes} leaves no time for anything; it is at least 1")
    settings = _settings(arguments)
    _prefect_home(rehearse.in_small(settings, arguments.profile))
    return rehearse.rehearse(settings, arguments.profile, arguments.set, arguments.minutes)


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
COMMANDS = {
    "up": _up,
    "down": _down,
    "status": _status,
    "gc": _gc,
    "promote": _promote,
    "diagnose": _diagnose,
    "run": _run,
    "audit": _judge,
    "benchmark": _judge,
    "compare": _compare,
    "try": _try,
    "rate": _main_of("tucano.cli.rating.command"),
    "judge": _main_of("tucano.judging.command"),
    "data": own_data.main,
    "lineage": _lineage,
    **bundling.COMMANDS,
    **exporting.COMMANDS,
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
    _signalled.set()
    from tucano.training import launch

    if launch.running():
        print("\ntucano: stopping, the training children save their state ...", file=sys.stderr)
    launch.stop_all()
    raise KeyboardInterrupt


def _show_warning(message: Warning | str, category: type[Warning], *where: object, **more: object) -> None:
    if issubclass(category, UserWarning) and not issubclass(category, DeprecationWarning):
        print(f"tucano: warning: {message}", file=sys.stderr)


def _say(text: str, code: int) -> int:
    print(masked(text), file=sys.stderr)
    return code
