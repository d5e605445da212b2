"""`tucano ui`: the Prefect page and the MLflow page over the stores that runs have written, on this machine only.

Both servers are child processes with a log file each. They stay until Ctrl-C, and nothing of them is left afterwards.
The Prefect server runs without its background services: it shows runs and leaves scheduling to `prefect server start`,
so it can stay open while a run of the same storage root is at work.
"""

import json
import os
import signal
import socket
import sys
import threading
import time
import urllib.request
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

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
from deployments.services import Service, ServiceDied, answers, start, wait_until
from deployments.services import stop as end_service
from tucano.overview.page import announced
from tucano.overview.runs import Addresses, write_addresses
from tucano.security.access import basic, credentials
from tucano.security.local_page import STOP_SIGNALS
from tucano.tracking.store import default_uri, is_server, settle
from tucano.tracking.views import PIPELINES, pipeline_links, registry_link, run_link, view_links

STOP_SECONDS = 8
LOOK_SECONDS = 0.25
RUN = "latest pipeline run"


@dataclass(frozen=True)
class Server:
    """A server that shows pages; it is up when `health` answers."""

    service: Service
    url: str
    health: str

    def answers(self) -> bool:
        return answers(self.url + self.health)


def serve(storage: Path, tracking_uri: str | None, prefect_port: int = 4200, mlflow_port: int = 5000) -> int:
    """Show both pages until Ctrl-C (exit code 0) or until a server dies (1).

    With an http(s) `tracking_uri` the MLflow page is that server's own, and only Prefect is started.
    """
    known = credentials(storage)
    require_history(storage)
    if not tracking_uri:
        settle(storage)
    stop = threading.Event()
    handlers = {number: signal.signal(number, lambda *_: stop.set()) for number in STOP_SIGNALS}
    servers: list[Server] = []
    try:
        servers.append(_start_prefect(storage, prefect_port, known))
        if not is_server(tracking_uri or ""):
            servers.append(_start_mlflow(storage, tracking_uri or default_uri(storage), mlflow_port, known))
        began = time.monotonic()
        for server in servers:
            wait_until(server.service, partial(_is_settled, server, stop))
            if stop.is_set():
                break
            print(f"{server.service.name} answers after {time.monotonic() - began:.0f} s", flush=True)
        if not stop.is_set():
            mlflow = servers[1].url if len(servers) > 1 else str(tracking_uri).rstrip("/")
            write_addresses(storage, Addresses(mlflow, servers[0].url))
            print(f"\n{how_to_log_in(storage, known, {server.service.name: server.url for server in servers})}")
            print(f"\nOverview  {announced(storage)}")
            _show(servers, mlflow, known)
            print("Ctrl-C stops.", flush=True)
        while not stop.wait(LOOK_SECONDS):
            for service in [server.service for server in servers if server.service.process() is None]:
                raise ServiceDied(f"{service.name} ended; its log says why: {service.log}")
        print("Stopping …", flush=True)
        return 0
    except ServiceDied as error:
        print(error, file=sys.stderr, flush=True)
        return 1
    finally:
        for server in servers:
            end_service(server.service, seconds=STOP_SECONDS)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _is_settled(server: Server, stop: threading.Event) -> bool:
    """Whether nobody has to wait for it any more."""
    return stop.is_set() or server.answers()


def _start_prefect(storage: Path, wanted_port: int, known: str) -> Server:
    with _listen("Prefect", wanted_port) as listener:
        address = _address(listener)
        command = prefect_command(listener, "pages")
        return _start(
            "Prefect", command, prefect_environment(storage, address, known), storage, listener, "/api/health"
        )


def _start_mlflow(storage: Path, store: str, wanted_port: int, known: str) -> Server:
    with _listen("MLflow", wanted_port) as listener:
        return _start(
            "MLflow", mlflow_command(listener), mlflow_environment(storage, store, known), storage, listener, "/health"
        )


def _start(
    name: str, command: list[str], environment: dict[str, str], storage: Path, listener: socket.socket, health: str
) -> Server:
    log = storage.resolve() / "logs" / f"ui-{name.lower()}.log"
    print(f"Starting {name} …", flush=True)
    service = start(name, command, os.environ | environment, log, pass_fds=[listener.fileno()])
    return Server(service, _address(listener), health)


def _address(listener: socket.socket) -> str:
    return f"http://{HOST}:{listener.getsockname()[1]}"


def _listen(name: str, wanted: int) -> socket.socket:
    """The wanted port, or any free one when somebody listens there."""
    listener = listen(wanted) or listen(0)
    if listener is None:
        raise ServiceDied(f"No free port for {name} on {HOST}; close a program that listens there")
    found = listener.getsockname()[1]
    if found != wanted:
        print(f"Port {wanted} is in use: {name} takes {found}", flush=True)
    return listener


def _show(servers: list[Server], mlflow: str, known: str) -> None:
    prefect = servers[0].url
    print(f"Prefect   {prefect}")
    for name, address in _prefect_links(PrefectApi(prefect, known)).items():
        print(f"  {name:<32} {address}")
    ours = len(servers) > 1
    print(f"MLflow    {mlflow}")
    for name, address in _mlflow_links(mlflow, {"Authorization": basic(known)} if ours else {}).items():
        if name == RUN or not name.startswith("latest "):  # the run's own page links to what belongs to it
            print(f"  {name:<32} {address}")


def _prefect_links(prefect: PrefectApi) -> dict[str, str]:
    newest = {"sort": "START_TIME_DESC", "limit": 1, "flow_runs": {"parent_task_run_id": {"is_null_": True}}}
    runs = prefect.ask("flow_runs/filter", newest)
    return {f"latest run, {run['name']}": f"{prefect.page}/runs/flow-run/{run['id']}" for run in runs}


def _mlflow_links(base: str, headers: dict[str, str]) -> dict[str, str]:
    """The newest pipeline run with a verdict and what belongs to it, the saved views, and a newer run that is at work
    or has failed; none where a server elsewhere is down or wants a login.
    """
    api = f"{base}/api/2.0/mlflow"
    try:
        found = _ask(f"{api}/experiments/search", headers, {"max_results": 1000})
        experiments = {experiment["name"]: experiment["experiment_id"] for experiment in found.get("experiments", [])}
        if PIPELINES not in experiments:
            return {}
        newest = {
            "experiment_ids": [experiments[PIPELINES]],
            "max_results": 1,
            "order_by": ["attributes.start_time DESC"],
        }
        ended = {**newest, "filter": "attributes.status = 'FINISHED' and tags.verdict != ''"}
        begun, runs = (_ask(f"{api}/runs/search", headers, which).get("runs", []) for which in (newest, ended))
        models = _ask(f"{api}/registered-models/search?max_results=100", headers).get("registered_models", [])
    except OSError:
        return {}
    links = dict(view_links(experiments))
    if runs and begun != runs:  # what it has not made yet has no page
        links["newest run, without a verdict"] = run_link(experiments[PIPELINES], begun[0]["info"]["run_id"])
    for run in runs or begun:
        tags = {tag["key"]: tag["value"] for tag in run["data"].get("tags", [])}
        links |= {
            f"latest {name}": page for name, page in pipeline_links(experiments, run["info"]["run_id"], tags).items()
        }
    for model in models:
        for alias in model.get("aliases", []):
            links[f"{model['name']}@{alias['alias']}"] = registry_link(model["name"], alias["version"])
    return {name: f"{base}/{page}" for name, page in links.items()}


def _ask(url: str, headers: dict[str, str], body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers | {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)
