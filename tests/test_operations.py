"""The way of a person who never opens a terminal, in a real browser against `tucano up`, told as one story."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest
from pace import slowness, until
from prefect_page import PrefectPage, login_links, prefect_page
from programs import answering
from small_stack import running_stack, stack_home

from benchmarks.operations import SMALL, Bench, engine_of, trainers
from deployments import stack

pytestmark = [pytest.mark.services, pytest.mark.timeout(900)]  # on a busy machine; alone it takes two minutes
ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "serving.md"
SCREENSHOTS = os.environ.get("TUCANO_SCREENSHOTS")
"""A folder for pictures of what the browser shows, to be looked at."""

TABS = "[role=tab], .p-tab, .p-tabs button, .p-tab-navigation__tab, li, a"
EASY = {
    # a step takes long enough for a person to look at the run and cancel it
    "grpo.batch_size": 64, "grpo.generations": 8, "grpo.micro_batch": 32, "grpo.max_completion_tokens": 64,
    # so small a model learns within seconds to write more, and nothing else; it is promoted for that
    "grpo.rewards": "controls.length", "comparison.rewards": "controls.length", "grpo.learning_rate": 0.01,
    "audit.override_by": "Ana Souza", "audit.override_reason": "the drill of the operators", "promotion.approval_hours": 1,
    "comparison.samples": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with stack_home() as folder:
        yield folder


@pytest.fixture(scope="module")
def bench(home: Path) -> Iterator[Bench]:
    said: list[str] = []
    with running_stack(home, SMALL | EASY, said.append) as bench:
        for step in ("starting postgres", "prefect answers after", "starting worker-1", "all is up"):
            assert any(line.startswith(step) for line in said), f"{step} was not said: for minutes nothing stood there"
        yield bench


class Receiver(ThreadingHTTPServer):
    """A shop's own server: it keeps what a webhook posts."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        super().__init__(("127.0.0.1", 0), Posted)


class Posted(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append(json.loads(body))
        self.send_response(204)
        self.end_headers()


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with answering(Receiver()) as server:
        yield server


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, bench: Bench) -> Iterator[PrefectPage]:
    """A browser in which the printed link was clicked on; nobody types a password."""
    with prefect_page(tmp_path_factory.mktemp("chromium")) as page:
        page.go(login_links(bench.stack)[0])
        page.wait_for_text("Dashboard")
        yield page


@pytest.fixture(scope="module")
def story() -> dict[str, Any]:
    """What the earlier tests of this file leave to the later ones."""
    return {}


def picture(page: PrefectPage, name: str) -> None:
    if SCREENSHOTS:
        page.screenshot(Path(SCREENSHOTS) / f"{name}.png")


def tucano(bench: Bench, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tucano.cli", *arguments, "--home", str(bench.stack.home)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=bench.stack.project, env=environment, capture_output=True, text=True, timeout=900, check=False
    )


def test_all_is_healthy_and_listens_on_loopback_only(bench: Bench) -> None:
    until(lambda: tucano(bench, "status").returncode == 0, lambda: tucano(bench, "status").stdout)
    said = tucano(bench, "status")
    assert re.findall(r"^(\S+) +ok", said.stdout, re.MULTILINE) == ["postgres", "prefect", "mlflow", "worker-1"]
    assert {"127.0.0.1"} == {
        connection.laddr.ip
        for service in stack.read_services(bench.stack.file).values()
        for process in (psutil.Process(service.pid), *psutil.Process(service.pid).children(recursive=True))
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }


def test_the_automation_of_the_docs_waits_for_promotions(
    bench: Bench, receiver: Receiver, story: dict[str, Any], tmp_path: Path
) -> None:
    """A Webhook block, and the file of docs/serving.md with its id, given to Prefect's own command."""
    save = "import sys; from prefect.blocks.webhook import Webhook; print(Webhook(url=sys.argv[1]).save('shop'))"
    saved = outside(bench, sys.executable, "-c", save, f"http://127.0.0.1:{receiver.server_port}/")
    asked = re.findall(r"```yaml\n(name: .*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    file = tmp_path / "promoted.yaml"
    file.write_text(asked.replace("00000000-0000-0000-0000-000000000000", saved), encoding="utf-8")
    outside(bench, sys.executable, "-m", "prefect", "automation", "create", "--from-file", str(file))
    story["told"] = receiver.heard


def outside(bench: Bench, *command: str) -> str:
    environment = os.environ | bench.stack.client_environment
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_a_run_is_started_from_the_form(bench: Bench, page: PrefectPage, story: dict[str, Any]) -> None:
    deployment = bench.ask("deployments/name/train/laptop")["id"]
    page.go(f"{bench.stack.prefect}/deployments/deployment/{deployment}/run")
    page.wait_for_text("Optimizer steps; the only length there is")
    page.fill("Max Steps (Optional)", "40")
    picture(page, "form")
    page.click("button", "Submit")
    runs = until(lambda: bench.ask("flow_runs/filter", {}), page.text)
    assert runs[0]["parameters"]["settings"]["grpo"]["max_steps"] == 40
    story["run"] = runs[0]["id"]
    page.rest()


def test_its_seeds_are_runs_of_their_own(bench: Bench, page: PrefectPage, story: dict[str, Any]) -> None:
    training(bench, story)
    page.go(f"{bench.stack.prefect}/runs/flow-run/{story['run']}")
    page.open(TABS, "Subflow Runs", "seed 42 of nano synthetic")
    page.wait_for_text("seed 123 of nano synthetic")
    assert re.search(r"laptop [^,]*, seeds 42 123, \d{4}-\d\d-\d\d \d\d:\d\d", page.text())
    picture(page, "run")


def training(bench: Bench, story: dict[str, Any]) -> list[psutil.Process]:
    """Both training children, once each has a checkpoint."""
    whole = "work/grpo-seed-*/*/attempt-*/checkpoint-*/COMPLETE.json"

    def found() -> list[psutil.Process]:
        running = [child for child in bench.children(story["run"]) if child["state_type"] == "RUNNING"]
        saved = {path.parts[-5] for path in bench.stack.home.glob(whole)}
        if len(running) == len(saved) == 2:
            both = [trainer for child in running for trainer in trainers(engine_of(child["id"]))]
            return both if len(both) == 2 else []
        assert bench.run(story["run"])["state_type"] not in ("FAILED", "COMPLETED"), bench.run(story["run"])["state"]
        return []

    return until(found)


def test_cancel_stops_the_trainings_within_15_seconds(bench: Bench, page: PrefectPage, story: dict[str, Any]) -> None:
    children = training(bench, story)
    page.click("button", "Cancel")
    page.wait_for_text("Cancel Flow Run")
    began = time.monotonic()
    page.click("[role=dialog] button", "Confirm")
    _, alive = psutil.wait_procs(children, timeout=600)
    assert not alive and time.monotonic() - began < 15 * slowness()
    bench.wait(story["run"], "CANCELLED", seconds=900)
    picture(page, "cancelled")
    page.rest()


def test_the_cancelled_run_is_started_again_and_goes_on(bench: Bench, page: PrefectPage, story: dict[str, Any]) -> None:
    before = {child["id"] for child in bench.children(story["run"])}
    page.go(f"{bench.stack.prefect}/runs/flow-run/{story['run']}")
    page.click("button", "Retry")
    page.click("[role=dialog] button", "Retry")
    until(lambda: bench.run(story["run"])["state_type"] != "CANCELLED", page.text)
    page.rest()
    training(bench, story)
    assert {child["id"] for child in bench.children(story["run"])} == before


def test_a_killed_seed_run_goes_on_by_itself(bench: Bench, story: dict[str, Any]) -> None:
    victim = next(child for child in bench.children(story["run"]) if child["state_type"] == "RUNNING")
    engine_of(victim["id"]).kill()
    bench.wait(victim["id"], "CRASHED", "AwaitingRetry", seconds=900)
    bench.wait(victim["id"], "RUNNING", "COMPLETED", seconds=900)
    assert bench.run(victim["id"])["run_count"] > victim["run_count"]


def test_a_person_approves_the_promotion(bench: Bench, page: PrefectPage, story: dict[str, Any]) -> None:
    bench.wait(story["run"], "Suspended", seconds=900)
    page.go(f"{bench.stack.prefect}/runs/flow-run/{story['run']}")
    page.click("button", "Resume")
    page.wait_for_text("become champion?")
    page.choose("approve")
    page.fill("Who", "Ana Souza")
    page.fill("Why", "as respostas estão melhores")
    picture(page, "approval")
    page.click("[role=dialog] button", "Submit")
    bench.wait(story["run"], "RUNNING", "COMPLETED", seconds=900)
    page.rest()
    bench.wait(story["run"], "COMPLETED", seconds=900)
    champion = bench.mlflow().get_model_version_by_alias("tucano", "champion")
    assert champion.tags["approval.who"] == "Ana Souza"
    assert champion.version == "1", "it was registered once"
    told = ["tucano 1 is the challenger", "tucano 1 is the champion"]
    until(lambda: [heard["text"] for heard in story["told"]] == told, lambda: str(story["told"]))


def test_artifacts_tell_what_came_of_it(bench: Bench, page: PrefectPage, story: dict[str, Any]) -> None:
    page.go(f"{bench.stack.prefect}/runs/flow-run/{story['run']}")
    page.open(TABS, "Artifacts", "verdict")
    picture(page, "artifacts")
    asked = page.page.evaluate(
        "[...new Set(performance.getEntriesByType('resource').map(e => new URL(e.name).origin))]"
    )
    assert asked == [bench.stack.prefect], "the page asks its own server and nobody else"
    of_run = {"artifacts": {"flow_run_id": {"any_": [story["run"]]}}}
    keys = {artifact["key"] for artifact in bench.ask("artifacts/filter", of_run)}
    assert keys >= {"verdict", "health", "reward-audit", "preflight", "promotion", "mlflow-run", "cost"}


def test_mlflow_has_one_run_per_seed_and_links_back(bench: Bench, story: dict[str, Any]) -> None:
    client = bench.mlflow()
    experiments = {experiment.name: experiment.experiment_id for experiment in client.search_experiments()}
    seeds = client.search_runs([experiments["tucano-training"]], "tags.stage = 'grpo'")
    assert sorted(run.data.tags["seed"] for run in seeds) == ["123", "42"]
    steps = [metric.step for metric in client.get_metric_history(seeds[0].info.run_id, "train/reward/total")]
    assert steps == sorted(set(steps)), "no step twice"
    (pipeline,) = client.search_runs([experiments["tucano-pipelines"]])
    assert pipeline.info.status == "FINISHED"
    assert f"{bench.stack.prefect}/runs/flow-run/{story['run']}" in pipeline.data.tags["mlflow.note.content"]


def test_a_schedule_is_switched_on_and_a_short_one_fires(bench: Bench, page: PrefectPage) -> None:
    deployment = bench.ask("deployments/name/audit/nightly")
    page.go(f"{bench.stack.prefect}/deployments/deployment/{deployment['id']}")
    page.wait_for_text("Schedules")
    page.click(".p-toggle, .p-toggle__control, [role=switch]")
    until(lambda: bench.ask("deployments/name/audit/nightly")["schedules"][0]["active"], page.text)
    picture(page, "schedule")
    page.rest()
    stack.register(bench.stack, automations=True, recover=False)
    assert bench.ask("deployments/name/audit/nightly")["schedules"][0]["active"], "tucano up leaves it on"
    bench.ask(f"deployments/{deployment['id']}/schedules", [{"schedule": {"interval": 20}, "active": True}])

    def ended() -> list[dict[str, Any]]:
        runs = bench.ask("flow_runs/filter", {})
        return [run for run in runs if run["auto_scheduled"] and run["state_type"] == "COMPLETED"]

    fired = until(ended)  # the scheduler looks once a minute
    assert fired[0]["name"].startswith("nightly, ")


def test_nothing_is_left_after_down(bench: Bench) -> None:
    pids = [service.pid for service in stack.read_services(bench.stack.file).values()]
    family = [
        process for pid in pids for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True))
    ]
    assert tucano(bench, "down").returncode == 0
    assert psutil.wait_procs(family, timeout=600)[1] == []
    assert tucano(bench, "status").returncode == 1
    assert (bench.stack.home / "stack" / "postgres" / "PG_VERSION").is_file()
