"""Long-lived programs of the stack: started in the background, known by process id and start time, stopped with all they started."""

import contextlib
import json
import pwd
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from tucano.errors import TucanoError

START_SECONDS = 300
LOOK_SECONDS = 0.25


class ServiceDied(TucanoError):
    """A program of the stack ended or never answered; the message names its log."""


@dataclass(frozen=True, slots=True)
class Service:
    """A program that was started: `created` (seconds since 1970) tells it from a later process with the same id."""

    name: str
    pid: int
    created: float
    log: str

    def process(self) -> psutil.Process | None:
        """The living process, None when it has ended."""
        try:
            process = psutil.Process(self.pid)
            return process if abs(process.create_time() - self.created) < 1 and _lives(process) else None
        except psutil.NoSuchProcess:
            return None


def answers(url: str) -> bool:
    """Whether a health page answers with success."""
    try:
        urllib.request.urlopen(url, timeout=5).close()
    except OSError:
        return False
    return True


def start(name: str, command: list[str], environment: Mapping[str, str], log: Path, user: str | None = None) -> Service:
    """Start a program in a session of its own, its output in `log`; as `user` where we are root."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=dict(environment),
            cwd="/" if user else None,
            user=user,
            group=pwd.getpwnam(user).pw_gid if user else None,
            extra_groups=[] if user else None,
        )
    return Service(name, process.pid, psutil.Process(process.pid).create_time(), str(log))


def wait_until(service: Service, healthy: Callable[[], bool]) -> None:
    """Return once the service is healthy; ServiceDied when it ends first or takes longer than START_SECONDS."""
    deadline = time.monotonic() + START_SECONDS
    while not healthy():
        if service.process() is None:
            raise ServiceDied(f"{service.name} ended while starting; its log says why: {service.log}")
        if time.monotonic() > deadline:
            raise ServiceDied(f"{service.name} did not answer within {START_SECONDS} s; its log: {service.log}")
        time.sleep(LOOK_SECONDS)


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
    """The services of a stack by name, as they were when last written; none where there is no file."""
    if not file.is_file():
        return {}
    return {name: Service(**fields) for name, fields in json.loads(file.read_text(encoding="utf-8")).items()}


def write_services(file: Path, services: Mapping[str, Service]) -> None:
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps({name: asdict(service) for name, service in services.items()}, indent=1), encoding="utf-8")
    Path(draft).replace(file)
