"""`tucano ui` for real: both servers over a storage root that holds a flow run and a tracked run."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from small_stack import free_port

from deployments.prefect_api import PrefectApi
from tucano.overview.runs import Addresses, read_addresses
from tucano.security.access import basic, credentials, credentials_file
from tucano.tracking import Tracker

FLOW = """
from prefect import flow, task

@task
def double(number: int) -> int:
    return 2 * number

@flow(name="tiny", flow_run_name="tiny-run")
def tiny() -> int:
    return double(21)

assert tiny() == 42
"""

SERVE = """
import sys
from pathlib import Path
from tucano.cli.ui import serve

sys.exit(serve(Path(sys.argv[1]), sys.argv[2] or None, int(sys.argv[3]), int(sys.argv[4])))
"""


class Ui:
    """`serve` in a process, what it printed, and every process below it."""

    def __init__(self, storage: Path, uri: str = "", prefect_port: int = 0, mlflow_port: int = 0) -> None:
        ports = [str(port or free_port()) for port in (prefect_port, mlflow_port)]
        command = [sys.executable, "-u", "-c", SERVE, str(storage), uri, *ports]
        output: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "encoding": "utf-8"}
        self.process = subprocess.Popen(command, **output)
        self.printed = ""

    def read_until(self, words: str) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.printed += line
            if words in line:
                break
        assert words in self.printed, self.printed
        return self.printed

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def end(self, number: signal.Signals) -> tuple[int, list[psutil.Process]]:
        """Exit code after a signal, and the processes that are left after it."""
        family = self.family()
        self.process.send_signal(number)
        code = self.process.wait(600)
        return code, psutil.wait_procs(family, timeout=600)[1]


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    storage = tmp_path_factory.mktemp("storage")
    (storage / "hello.txt").write_text("olá", encoding="utf-8")
    own = os.environ | {"PREFECT_HOME": str(storage / "prefect"), "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
    own["PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"] = "120"
    own.pop("PREFECT_API_URL", None)
    flow = subprocess.Popen([sys.executable, "-c", FLOW], env=own)
    track(storage)
    assert flow.wait(600) == 0
    return storage


def track(storage: Path) -> None:
    """Here and not in a process of its own: this one has MLflow's tables already."""
    tracker = Tracker.connect(None, storage)
    parent = tracker.start_pipeline("tracked", {"seed": 7}, {})
    run_id = tracker.start_training("grpo seed 1", parent, "grpo", 1, "laptop", {})
    tracker.log_metrics(run_id, {"reward": 0.5})
    tracker.log_artifact(run_id, storage / "hello.txt")
    tracker.ensure_views()


@pytest.fixture(scope="module")
def ui(storage: Path) -> Iterator[Ui]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ui = Ui(storage, mlflow_port=taken.getsockname()[1])
        ui.read_until("Ctrl-C stops")
    yield ui
    if ui.process.poll() is None:
        ui.end(signal.SIGTERM)


def page(ui: Ui, name: str) -> str:
    found = re.search(rf"^{name}\s+(http://127\.0\.0\.1:\d+)$", ui.printed, re.MULTILINE)
    assert found, ui.printed
    return found.group(1)


def test_a_port_in_use_is_said_and_another_taken(ui: Ui) -> None:
    assert re.search(r"^Port (\d+) is in use: MLflow takes (?!\1)\d+$", ui.printed, re.MULTILINE)


def test_who_logs_in_finds_those_links_first_and_then_the_overview_which_knows_where_the_others_are(
    ui: Ui, storage: Path
) -> None:
    links = re.findall(r"^(\w+) +((?:file|http)://\S+)$", ui.printed, re.MULTILINE)
    assert links[0] == ("Overview", (storage / "index.html").resolve().as_uri())
    assert ui.printed.index("/enter#") < ui.printed.index("Overview  ") < ui.printed.index("/runs/flow-run/")
    assert "Nenhuma comparação ainda" in (storage / "index.html").read_text(encoding="utf-8")
    assert read_addresses(storage) == Addresses(page(ui, "MLflow"), page(ui, "Prefect"))


def test_the_flow_run_is_in_the_prefect_page(ui: Ui, storage: Path) -> None:
    prefect = page(ui, "Prefect")
    api = PrefectApi(prefect, credentials(storage))
    (run,) = api.ask("flow_runs/filter", {})
    assert run["name"] == "tiny-run" and run["state_type"] == "COMPLETED"
    assert re.search(rf"latest run, tiny-run +{prefect}/runs/flow-run/{run['id']}\n", ui.printed)
    assert [task["state_type"] for task in api.ask("task_runs/filter", {})] == ["COMPLETED"]


def test_the_tracked_run_and_its_files_are_in_the_mlflow_page(ui: Ui, storage: Path) -> None:
    mlflow, api = page(ui, "MLflow"), "/api/2.0/mlflow"
    known = {"Authorization": basic(credentials(storage))}
    with httpx.Client(base_url=mlflow, headers=known, timeout=600) as client:
        named = client.get(f"{api}/experiments/get-by-name?experiment_name=tucano-training").json()
        training = named["experiment"]["experiment_id"]
        (run,) = client.post(f"{api}/runs/search", json={"experiment_ids": [training]}).json()["runs"]
        file = client.get(f"/get-artifact?path=hello.txt&run_uuid={run['info']['run_id']}")
    assert run["data"]["metrics"][0]["value"] == 0.5 and file.content.decode() == "olá"
    view = "runs?workflowType=machine_learning&viewStateShareKey=tucano-by-config"
    assert f"{mlflow}/#/experiments/{training}/{view}" in ui.printed


def test_who_does_not_know_the_password_sees_nothing(ui: Ui) -> None:
    for address in (
        f"{page(ui, 'Prefect')}/api/flows/count",
        f"{page(ui, 'MLflow')}/",
        f"{page(ui, 'MLflow')}/get-artifact?path=hello.txt",
    ):
        assert httpx.get(address, timeout=600).status_code == 401


def test_it_says_how_to_log_in_and_shows_no_password(ui: Ui, storage: Path) -> None:
    for name in ("Prefect", "MLflow"):
        assert re.search(rf"^  {name} +{page(ui, name)}/enter#\d+\.[\w-]+\.\w+$", ui.printed, re.MULTILINE)
    assert f"or as user tucano with the password in {credentials_file(storage)}" in ui.printed
    password = credentials(storage).partition(":")[2]
    shown = [ui.printed, *(" ".join(process.cmdline()) for process in ui.family())]
    assert not any(password in text for text in shown)


def test_both_listen_on_loopback_only(ui: Ui) -> None:
    listening = [
        c.laddr.ip for process in ui.family() for c in process.net_connections("inet") if c.status == psutil.CONN_LISTEN
    ]
    assert len(listening) >= 2 and set(listening) == {"127.0.0.1"}


def test_ctrl_c_leaves_no_process_behind(ui: Ui) -> None:
    assert ui.end(signal.SIGINT) == (0, [])


def test_a_server_that_dies_is_one_sentence_with_its_log(storage: Path, tmp_path: Path) -> None:
    (tmp_path / "no.db").write_text("not a database, not at all" * 9, encoding="utf-8")
    ui = Ui(storage, f"sqlite:///{tmp_path}/no.db")
    time.sleep(1)
    family = ui.family()
    printed, _ = ui.process.communicate(timeout=900)
    assert ui.process.returncode == 1
    last = printed.splitlines()[-1]
    assert re.fullmatch(r"MLflow ended while starting.*; its log: .*/logs/ui-mlflow\.log", last), printed
    assert psutil.wait_procs(family, timeout=600)[1] == []
