"""`tucano up`, `down` and `status`: everything that scheduled runs need, on this machine and on loopback only.

    HOME/stack/postgres   the database of the Prefect server     HOME/stack/services.json   what runs, by process id
    HOME/logs             one log per service                    HOME/mlflow, HOME/prefect  as `tucano run` leaves them

Both servers ask for the home's password, which lies elsewhere (tucano.security.access). The services stay
when the command ends. `up` starts what is missing and is safe to repeat; `down` leaves no process and keeps all data.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from socket import socket
from typing import Annotated

from pydantic import Field

from deployments import services
from deployments.postgres import Cluster, find_cluster
from deployments.prefect_api import PrefectApi
from deployments.servers import (
    HOST,
    how_to_log_in,
    listen,
    mlflow_command,
    mlflow_environment,
    prefect_command,
    prefect_environment,
    require_history,
)
from deployments.services import MARK, Service, answers, read_json, read_services, write_json, write_services
from tucano.errors import TucanoError, UserError
from tucano.overview.page import announced
from tucano.overview.runs import Addresses, write_addresses
from tucano.security.access import credentials, credentials_file, tracking_environment
from tucano.storage.locks import owned
from tucano.storage.logs import BoundedLog
from tucano.storage.root import private
from tucano.tracking.store import default_uri, settle

POSTGRES, PREFECT, MLFLOW, WORKER = "postgres", "prefect", "mlflow", "worker"
POOL = "local"
LAST_PORT = 65535
Port = Annotated[int, Field(ge=1, le=LAST_PORT)]
GRACE_SECONDS = 20
"""A run has this long to end its training children, which have ten seconds, and to report."""

FORGETTING = {
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "true",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD": str(90 * 24 * 3600),
}
"""The server itself forgets flow runs that ended so many seconds ago, with their logs; events go after a week. `tucano
gc` goes by its own limit.
"""
CLIENT_ENVIRONMENT = {
    "PREFECT_CLI_PROMPT": "false",
    "PREFECT_CLIENT_MAX_RETRIES": "7",  # 2 + 4 + ... + 128 s: a server that is restarted is back by then
    "PREFECT_CLIENT_RETRY_EXTRA_CODES": "500",  # what the server answers while its database restarts
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}
"""Of the worker and of the runs it starts."""


@dataclass(frozen=True)
class Stack:
    """The services over one home folder; `project` is where prefect.yaml is."""

    home: Path
    project: Path
    prefect_port: int
    mlflow_port: int

    @property
    def file(self) -> Path:
        return self.home / "stack" / "services.json"

    @property
    def prefect(self) -> str:
        return f"http://{HOST}:{self.prefect_port}"

    @property
    def mlflow(self) -> str:
        return f"http://{HOST}:{self.mlflow_port}"

    @property
    def cluster(self) -> Cluster | None:
        """PostgreSQL, where this system has it."""
        return find_cluster(self.home / "stack" / "postgres")

    @property
    def api(self) -> PrefectApi:
        return PrefectApi(self.prefect, credentials(self.home))

    @property
    def client_environment(self) -> dict[str, str]:
        """What programs need to reach the stack."""
        known = credentials(self.home)
        addresses = {
            "PREFECT_API_URL": f"{self.prefect}/api",
            "PREFECT_UI_URL": self.prefect,
            "MLFLOW_TRACKING_URI": self.mlflow,
        }
        passwords = {"PREFECT_API_AUTH_STRING": known} | tracking_environment(known)
        folders = {"PREFECT_HOME": str(self.home / "prefect"), "TUCANO_HOME": str(self.project)}
        return CLIENT_ENVIRONMENT | addresses | passwords | folders

    def log(self, name: str) -> Path:
        return self.home / "logs" / f"{name}.log"


def opened(home: Path, project: Path, prefect_port: int | None = None, mlflow_port: int | None = None) -> Stack:
    """The stack of a home folder, on the given ports, those of last time, or free ones near 4200 and 5000."""
    for name, port in ((PREFECT, prefect_port), (MLFLOW, mlflow_port)):
        if port is not None and not 1 <= port <= LAST_PORT:
            raise UserError(
                f"--{name}-port {port} is no port; choose one from 1 to {LAST_PORT}, or leave it out for a free one"
            )
    home = home.resolve()
    file = home / "stack" / "ports.json"
    try:
        known = read_json(file, dict[str, Port]) or {}
    except ValueError:
        raise UserError(
            f"{file} is empty or damaged; remove it and run tucano down, then tucano up: it chooses ports anew"
        ) from None
    return Stack(
        home,
        project,
        prefect_port or known.get(PREFECT) or _free_port(4200),
        mlflow_port or known.get(MLFLOW) or _free_port(5000),
    )


def up(stack: Stack, workers: int = 1, say: Callable[[str], None] = print) -> None:
    """Start what is missing, wait until it is healthy, make pools, limits, automations and deployments."""
    from deployments.validate import require_valid

    require_valid(stack.project)
    private(stack.home)
    began = time.monotonic()
    with owned(stack.home / "stack", say), ExitStack() as sockets:
        running = {
            name: service for name, service in read_services(stack.file).items() if service.process() is not None
        }
        ports = {MLFLOW: stack.mlflow_port, PREFECT: stack.prefect_port}
        taken = {
            name: sockets.enter_context(_listen(port, name)) for name, port in ports.items() if name not in running
        }
        write_json(stack.file.with_name("ports.json"), ports)
        settle(stack.home)
        cluster = _start_database(stack, running, say)
        if cluster is None:
            require_history(stack.home)
        for name, (command, environment) in _servers(stack, cluster).items():
            if name in taken:
                say(f"starting {name} ...")
                _start(stack, running, name, command(taken[name]), environment, listener=taken[name])
        sockets.close()  # only the servers hold them now: a request to one that has ended is refused
        for name in (PREFECT, MLFLOW):
            services.wait_until(running[name], partial(_is_up, stack, name))
            say(f"{name} answers after {_seconds(began)}")
            if trouble := _trouble(stack, name, running[name]):
                raise UserError(f"{name} {trouble}")
        say("writing pools, limits, automations and deployments (half a minute the first time) ...")
        register(stack, automations=cluster is not None, recover=not any(name.startswith(WORKER) for name in running))
        for name in [f"{WORKER}-{number}" for number in range(1, workers + 1)]:
            if name not in running:
                say(f"starting {name} ...")
                _start(stack, running, name, _worker(name), _clean() | stack.client_environment)
        for name in [name for name in running if name.startswith(WORKER)]:
            services.wait_until(running[name], partial(_is_online, stack, name))
    say(f"all is up after {_seconds(began)}")
    write_addresses(stack.home, Addresses(stack.mlflow, stack.prefect if stack.cluster is None else ""))
    say(how_to_log_in(stack.home, credentials(stack.home), {PREFECT: stack.prefect, MLFLOW: stack.mlflow}))
    say(f"Overview  {announced(stack.home)}")
    say(f"Prefect   {stack.prefect}\nMLflow    {stack.mlflow}\nLogs      {stack.home / 'logs'}\nStop      tucano down")


def _seconds(began: float) -> str:
    return f"{time.monotonic() - began:.0f} s"


def register(stack: Stack, automations: bool, recover: bool) -> None:
    """Pools, limits, automations and deployments as prefect.yaml and this package say; `recover` schedules runs again
    that died with us.
    """
    environment = _clean() | stack.client_environment
    flags = [*(["--automations"] if automations else []), *(["--recover"] if recover else [])]
    command = [sys.executable, "-m", "deployments.setup", str(stack.home), *flags]
    done = subprocess.run(command, cwd=stack.project, env=environment, capture_output=True, text=True, check=False)
    with closing(BoundedLog(stack.log("setup"))) as log:
        log.write(done.stdout + done.stderr)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise TucanoError(f"setting up the Prefect server failed: {last} (log: {stack.log('setup')})")


def down(stack: Stack, say: Callable[[str], None] = print) -> None:
    """Stop everything, runs included: they save their state and go on after the next `up`."""
    if not stack.file.parent.is_dir():
        return
    with owned(stack.file.parent, say):
        running = read_services(stack.file)
        workers = [name for name in running if name.startswith(WORKER)]
        for name in [*workers, *(name for name in (MLFLOW, PREFECT, POSTGRES) if name in running)]:
            if running[name].process() is not None:
                say(f"stopping {name}")
            if name in workers:
                _stop_runs(running[name])
            services.stop(running[name], signal.SIGINT if name == POSTGRES else signal.SIGTERM)
        left = {name: service for name, service in running.items() if service.process() is not None}
        if left:
            write_services(stack.file, left)
            raise TucanoError(
                f"{', '.join(left)} did not end, even killed; tucano status and tucano down still know what is left"
            )
        stack.file.unlink(missing_ok=True)


def status(stack: Stack, say: Callable[[str], None] = print) -> bool:
    """Whether all is healthy; one line per service, and what is wrong with it; then how a person logs in."""
    running = read_services(stack.file)
    if not any(service.process() for service in running.values()):
        fell = f"; they should be, see the logs in {stack.log(PREFECT).parent}" if running else ""
        say(f"The servers of `tucano up` are not running{fell}. `tucano run` needs none; `tucano up` starts them.")
        return False
    workers = [name for name in running if name.startswith(WORKER)] or [f"{WORKER}-1"]
    healthy = True
    pages = {}
    for name in [*([POSTGRES] if stack.cluster else []), PREFECT, MLFLOW, *workers]:
        trouble = _trouble(stack, name, running.get(name))
        healthy &= trouble is None
        address = {PREFECT: stack.prefect, MLFLOW: stack.mlflow}.get(name, "")
        if address and trouble is None:
            pages[name] = address
        say(f"{name:<10} {trouble or 'ok':<4} {address}".rstrip())
    if stack.cluster is None:
        say("no PostgreSQL: crashed runs are not started again by themselves")
    if pages:
        say(how_to_log_in(stack.home, credentials(stack.home), pages))
    return healthy


def _trouble(stack: Stack, name: str, service: Service | None) -> str | None:
    """What is wrong with a service; None where all is well."""
    if service is None or service.process() is None:
        return f"is not running (log: {stack.log(name)})"
    if not _is_up(stack, name):
        return f"does not answer (log: {stack.log(name)})"
    locked = {PREFECT: f"{stack.prefect}/api/admin/version", MLFLOW: f"{stack.mlflow}/version"}.get(name)
    if locked and not answers(locked, credentials(stack.home)):
        return f"takes another password than the one in {credentials_file(stack.home)}: tucano down, then tucano up"
    return None


def _is_up(stack: Stack, name: str) -> bool:
    checks: Mapping[str, Callable[[], bool]] = {
        POSTGRES: lambda: stack.cluster is not None and stack.cluster.ready(),
        PREFECT: lambda: answers(f"{stack.prefect}/api/ready"),
        MLFLOW: lambda: answers(f"{stack.mlflow}/health"),
    }
    return checks.get(name, lambda: _is_online(stack, name))()


def _is_online(stack: Stack, worker: str) -> bool:
    try:
        found = stack.api.ask(f"work_pools/{POOL}/workers/filter", {})
    except OSError:
        return False
    return any(one["name"] == worker and one["status"] == "ONLINE" for one in found)


def _start_database(stack: Stack, running: dict[str, Service], say: Callable[[str], None]) -> Cluster | None:
    """The running PostgreSQL; None where this system has none."""
    cluster = stack.cluster
    if cluster is None:
        say(
            "PostgreSQL is not installed: the Prefect server uses SQLite, without automations; crashed runs wait for"
            " the next tucano up"
        )
    elif POSTGRES not in running:
        say(f"starting {POSTGRES} ...")
        cluster.prepare()
        _start(stack, running, POSTGRES, cluster.command, cluster.environment, cluster.user)
        services.wait_until(running[POSTGRES], cluster.ready)
    return cluster


def _start(
    stack: Stack,
    running: dict[str, Service],
    name: str,
    command: list[str],
    environment: Mapping[str, str],
    user: str | None = None,
    listener: socket | None = None,
) -> None:
    """Start a service; it is on record before it is healthy, so that `down` finds it."""
    inherited = () if listener is None else (listener.fileno(),)
    running[name] = services.start(
        name, command, {**environment, MARK: str(stack.file)}, stack.log(name), user, inherited
    )
    write_services(stack.file, running)


def _servers(stack: Stack, cluster: Cluster | None) -> dict[str, tuple[Callable[[socket], list[str]], dict[str, str]]]:
    """How each server is called on its socket, and its environment.

    MLflow stays on the SQLite file that `tucano run` writes, so that both kinds of runs stand side by side.
    """
    known = credentials(stack.home)
    database = {"PREFECT_SERVER_DATABASE_CONNECTION_URL": cluster.url} if cluster else {}
    return {
        MLFLOW: (mlflow_command, _clean() | mlflow_environment(stack.home, default_uri(stack.home), known)),
        PREFECT: (
            partial(prefect_command, scope="all"),
            _clean() | prefect_environment(stack.home, stack.prefect, known) | database | FORGETTING,
        ),
    }


def _worker(name: str) -> list[str]:
    return [sys.executable, "-m", "prefect", "worker", "start", "--pool", POOL, "--type", "process", "--name", name]


def _clean() -> dict[str, str]:
    """Our environment without what would send a service, or a run, elsewhere."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "MLFLOW_"))}


def _stop_runs(worker: Service) -> None:
    """End the runs of a worker in order, before the worker itself: each saves its state and reports that it crashed."""
    process = worker.process()
    if process is not None:
        services.end(process.children(), seconds=GRACE_SECONDS)


def _free_port(wanted: int) -> int:
    for port in (wanted, 0):
        if listener := listen(port):
            with listener:
                return int(listener.getsockname()[1])
    raise UserError(f"no port is free on {HOST}; close a program that listens there")


def _listen(port: int, name: str) -> socket:
    listener = listen(port)
    if listener is None:
        raise UserError(
            f"port {port} is in use by another program; close it, or choose another port with --{name}-port"
        )
    return listener
