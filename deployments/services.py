"""Long-lived programs of the stack: started in the background, known by id and start, stopped with all they started."""

import contextlib
import json
import os
import pwd
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import psutil
from pydantic import Field, TypeAdapter

from tucano.errors import TucanoError, UserError
from tucano.security.access import basic
from tucano.security.printable import printable
from tucano.storage.logs import relayed
from tucano.storage.places import write_whole

T = TypeVar("T")

START_SECONDS = 300
LOOK_SECONDS = 0.25
LAST_WORDS_SECONDS = 20
BOOT = Path("/proc/sys/kernel/random/boot_id")
_ERROR = re.compile(r"\b(?:fatal|panic|error|received)\b", re.IGNORECASE)
MARK = "TUCANO_STACK"
"""In the environment of every program of a stack, and so of all that they start: the file that they stand in."""


class ServiceDied(TucanoError):
    """A program of the stack ended or never answered; the message names its log."""


@dataclass(frozen=True, slots=True)
class Service:
    """A program that was started: `started` tells it from a later process with the same id."""

    name: str
    pid: Annotated[int, Field(ge=1, lt=2**31)]
    started: str
    log: str

    def process(self) -> psutil.Process | None:
        """The living process, None when it has ended."""
        try:
            process = psutil.Process(self.pid)
            return process if start_of(self.pid) == self.started and _lives(process) else None
        except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
            return None


def start_of(pid: int) -> str:
    """When a process was started, in a form that stays the same when somebody sets the clock.

    Linux counts clock ticks since the machine was started, and names that start; macOS keeps the time of day at which
    each process was started.
    """
    if not BOOT.is_file():
        return str(psutil.Process(pid).create_time())
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    boot = BOOT.read_text(encoding="ascii").strip()
    return f"{boot} {fields[19]}"  # the 22nd field; the second, a program's name, may hold blanks and brackets


def answers(url: str, known: str | None = None) -> bool:
    """Whether a page answers with success, to who knows these credentials."""
    headers = {"Authorization": basic(known)} if known else {}
    try:
        urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=5).close()
    except OSError:
        return False
    return True


def start(
    name: str,
    command: list[str],
    environment: Mapping[str, str],
    log: Path,
    user: str | None = None,
    pass_fds: Iterable[int] = (),
) -> Service:
    """Start a program in a session of its own, its output in `log`; as `user` where we are root."""
    with relayed(log) as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=dict(environment),
            cwd="/" if user else None,
            pass_fds=tuple(pass_fds),
            **as_user(user),
        )
    return Service(name, process.pid, start_of(process.pid), str(log))


def as_user(user: str | None) -> dict[str, Any]:
    """What makes a program that we start one of this user and of its group alone; of ours where it is None."""
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user else {}


def wait_until(service: Service, healthy: Callable[[], bool]) -> None:
    """Return once the service is healthy; ServiceDied when it ends first or takes longer than START_SECONDS.

    Whether it lives is asked after every answer: on the port of one that has ended somebody else may answer.
    """
    deadline = time.monotonic() + START_SECONDS
    while True:
        well = healthy()
        if service.process() is None:
            raise ServiceDied(f"{service.name} ended while starting{_last_words(service)}; its log: {service.log}")
        if well:
            return
        if time.monotonic() > deadline:
            raise ServiceDied(f"{service.name} did not answer within {START_SECONDS} s; its log: {service.log}")
        time.sleep(LOOK_SECONDS)


def _last_words(service: Service) -> str:
    """The last error in its log, or its last line; another process writes it and may not have done so yet."""
    deadline = time.monotonic() + LAST_WORDS_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError):
            if lines := Path(service.log).read_text(encoding="utf-8", errors="replace").strip().splitlines():
                said = next((line for line in reversed(lines) if _ERROR.search(line)), lines[-1])
                return f": {printable(said[:300])}"
        time.sleep(LOOK_SECONDS)
    return ""


def stop(service: Service, number: signal.Signals = signal.SIGTERM, seconds: float = 20) -> None:
    """End a program and everything it started: politely, then for certain."""
    process = service.process()
    if process is None:
        return
    family = [process, *process.children(recursive=True)]
    process.send_signal(number)
    _wait([process], seconds)
    end([member for member in family if _lives(member)], seconds=2)


def end(processes: list[psutil.Process], seconds: float) -> None:
    """SIGTERM, `seconds` to leave, SIGKILL."""
    for process in processes:
        _signal(process, signal.SIGTERM)
    for process in _wait(processes, seconds):
        _signal(process, signal.SIGKILL)
    _wait(processes, 5)


def _wait(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Those that still live after `seconds`."""
    deadline = time.monotonic() + seconds
    while (living := [process for process in processes if _lives(process)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return living


def _lives(process: psutil.Process) -> bool:
    """Not a zombie either: only its parent can remove one, and in a container that may be a program that never does."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(number)


def read_services(file: Path) -> dict[str, Service]:
    """The services of a stack by name, as they were when last written; none where there is no file.

    UserError where it is damaged.
    """
    try:
        return read_json(file, dict[str, Service]) or {}
    except ValueError:
        lost = [str(process.pid) for process in psutil.process_iter() if _mark(process) == str(file)]
        stop_them = (
            f"stop what still runs of it with kill {' '.join(lost)}, then" if lost else "nothing of it runs any more:"
        )
        raise UserError(
            f"{file} is empty or damaged; {stop_them} remove that file and start again with tucano up"
        ) from None


def read_json(file: Path, kind: type[T]) -> T | None:
    """What a file of the stack holds, None where there is none. ValueError where it is damaged, or no file."""
    if not os.path.lexists(file):
        return None
    if not file.is_file():
        raise ValueError("it is no file")
    return TypeAdapter(kind).validate_json(file.read_bytes(), strict=True)


def _mark(process: psutil.Process) -> str | None:
    try:
        return process.environ().get(MARK)
    except (psutil.Error, OSError):
        return None


def write_services(file: Path, services: Mapping[str, Service]) -> None:
    write_json(file, {name: asdict(service) for name, service in services.items()})


def write_json(file: Path, content: object) -> None:
    """Replace a file as a whole: after a power cut it holds the old content or the new one."""
    write_whole(file, json.dumps(content, indent=1), durable=True)
