"""Operations drills against a real Prefect server, worker, database and MLflow: what dies, and what goes on by itself.

    python -m benchmarks.operations --home FOLDER                      # all drills, about half an hour
    python -m benchmarks.operations --home FOLDER --only flow parent   # some of them

A pipeline of two tiny seeds is run undisturbed first. Every drill then trains the same seeds again while something is
taken away, and ends well when the run is Completed without a hand, the weights have the same SHA-256, the journal has
the same metrics, and MLflow has one run per seed. Printed as a Markdown table: seconds from the blow to the crash being
known and to the next attempt training, and steps that were trained twice.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import psutil

from deployments import services, stack
from deployments.services import read_services
from tucano.profiles import load_profile, project_root
from tucano.security.access import credentials, tracking_environment
from tucano.storage.journal import read_journal

if TYPE_CHECKING:
    from mlflow import MlflowClient

SMALL = {
    "data.train_prompts": 60,
    "data.validation_prompts": 26,
    "data.test_prompts": 26,
    "data.demonstrations": 80,
    "model.nano_hidden": 32,
    "model.nano_layers": 2,
    "model.nano_vocabulary": 700,
    "sft.max_epochs": 1,
    "sft.eval_steps": 5,
    "sft.save_steps": 5,
    "grpo.seeds": [42, 123],
    "grpo.max_steps": 80,
    "grpo.batch_size": 32,
    "grpo.generations": 8,
    "grpo.micro_batch": 32,
    "grpo.max_completion_tokens": 48,
    "grpo.eval_steps": 20,
    "grpo.save_steps": 5,
    "grpo.patience": 3,
    "audit.resamples": 100,
    "audit.search_calls": 0,
    # so small a model says nothing true, before or after
    "comparison.truth_margin": 1,
    "health.stop_on": [],
    # so small a model babbles, and the preflight says so
    "preflight.allow_red": [
        "completion length",
        "served length",
        "signal: extraction",
        "signal: sql_qa",
        "signal: insights",
        "signal: push",
    ],
    "execution.seeds": "seed/local",
}
SHARED = ("data", "audit", "sft", "preflight")
"""Stages that the drills take from the undisturbed run."""
BLOW_STEP = 8
"""Three steps after the first checkpoint, two before the second."""
LONGEST_SECONDS = 900
GOES_ON = r"goes on from attempt-\d+/checkpoint-(\d+)"
T = TypeVar("T")
FINAL = ("COMPLETED", "FAILED", "CANCELLED")


def as_overrides(settings: Mapping[str, object]) -> list[str]:
    """Settings as `--set` takes them, `name=value` each."""
    return [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in settings.items()]


def as_options(settings: Mapping[str, object]) -> list[str]:
    """The words of a command that set them."""
    return [word for override in as_overrides(settings) for word in ("--set", override)]


@dataclass
class Bench:
    """A stack, and requests to its servers."""

    stack: stack.Stack

    def ask(self, path: str, body: dict[str, Any] | list[dict[str, Any]] | None = None) -> Any:
        return self.stack.api.ask(path, body, seconds=120)

    def mlflow(self) -> MlflowClient:
        """A client that knows the password."""
        from mlflow import MlflowClient

        os.environ |= tracking_environment(credentials(self.stack.home))
        return MlflowClient(self.stack.mlflow)

    def start(self, storage: Path, **more: object) -> str:
        """A run of train/nano in small, writing to `storage`; returns its id."""
        overrides = SMALL | {"storage": str(storage)} | {name.replace("__", "."): value for name, value in more.items()}
        settings = load_profile(self.stack.project, "nano", as_overrides(overrides))
        deployment = self.ask("deployments/name/train/nano")["id"]
        parameters = {"settings": settings.model_dump(mode="json", exclude_defaults=True)}
        return str(self.ask(f"deployments/{deployment}/create_flow_run", {"parameters": parameters})["id"])

    def run(self, run_id: str) -> dict[str, Any]:
        return dict(self.ask(f"flow_runs/{run_id}"))

    def children(self, run_id: str) -> list[dict[str, Any]]:
        """The seed runs of a pipeline's run."""
        return list(self.ask("flow_runs/filter", {"flow_runs": {"parent_flow_run_id": {"any_": [run_id]}}}))

    def shown(self, run_id: str, key: str) -> str:
        """The text of a run's artifact, the newest one; empty where it has none."""
        wanted = {"artifacts": {"flow_run_id": {"any_": [run_id]}, "key": {"any_": [key]}}, "sort": "CREATED_DESC"}
        return next((str(artifact["data"]) for artifact in self.ask("artifacts/filter", wanted)), "")

    def states(self, run_id: str) -> list[tuple[float, str]]:
        """When a run entered which state (seconds since 1970)."""
        found = self.ask(f"flow_run_states/?flow_run_id={run_id}")
        return sorted((datetime.fromisoformat(state["timestamp"]).timestamp(), state["name"]) for state in found)

    def wait(self, run_id: str, *names: str, seconds: float = LONGEST_SECONDS) -> str:
        """The state's type or name once it is one of `names`; a run that has ended otherwise is not waited for."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                state = self.run(run_id)["state"]
            except OSError:
                state = {"type": "", "name": ""}
            if state["type"] in names or state["name"] in names:
                return str(state["name"])
            if state["type"] == "COMPLETED":  # after any other end a run may be started again
                raise RuntimeError(
                    f"run {run_id} ended as {state['name']}, not as one of {names}: {self.shown(run_id, 'promotion')}"
                )
            time.sleep(0.5)
        raise TimeoutError(f"run {run_id} is {state['name']}, not one of {names}, after {seconds:.0f} s")

    def until(self, comes: Callable[[], object], what: str, seconds: float = LONGEST_SECONDS) -> None:
        """Wait until something is true; TimeoutError says `what` did not come."""
        deadline = time.monotonic() + seconds
        while not comes():
            if time.monotonic() > deadline:
                raise TimeoutError(f"after {seconds:.0f} s still not: {what}")
            time.sleep(0.5)


def engine_of(run_id: str) -> psutil.Process:
    """The process that runs a flow run on this machine."""
    return next(process for process in psutil.process_iter() if _run_of(process) == run_id)


def trainers(process: psutil.Process) -> list[psutil.Process]:
    """The training children below a process."""
    return [
        child
        for child in process.children(recursive=True)
        if "tucano.training." in " ".join(_cmdline(child)) and child.name() not in ("fork server", "keeper")
    ]


def _run_of(process: psutil.Process) -> str | None:
    try:
        return (
            process.environ().get("PREFECT__FLOW_RUN_ID") if "prefect.engine" in " ".join(process.cmdline()) else None
        )
    except psutil.Error:
        return None


def _cmdline(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def weights(storage: Path) -> dict[str, str]:
    """{stage: SHA-256 of the trained adapter}."""
    files = storage.glob("artifacts/grpo-seed-*/*/adapter/adapter_model.safetensors")
    return {file.parts[-4]: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def history(storage: Path) -> dict[str, list[Any]]:
    """{stage: steps and metrics of its journal, without timings}."""
    return {
        file.parts[-3]: [(entry.step, entry.results) for entry in read_journal(file)]
        for file in storage.glob("artifacts/grpo-seed-*/*/journal.jsonl")
    }


def mlflow_runs(bench: Bench, storage: Path) -> int:
    """GRPO runs in MLflow whose checkpoints were below this storage."""
    client = bench.mlflow()
    experiment = client.get_experiment_by_name("tucano-training")
    assert experiment is not None
    found = client.search_runs([experiment.experiment_id], "tags.stage = 'grpo'", max_results=1000)
    return sum(f":{storage}/" in run.data.tags.get("work", "") for run in found)


@dataclass
class Drill:
    """A pipeline whose seeds are training, to be disturbed."""

    bench: Bench
    storage: Path
    run_id: str
    training: int = 0
    given_up: bool = False
    blows: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)

    def seed(self) -> str:
        """The id of a seed's run that is training, in the middle between two checkpoints."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while time.monotonic() < deadline:
            for child in self.bench.children(self.run_id):
                self.training = child["parameters"]["seed"]
                if child["state_type"] == "RUNNING" and self.step() >= BLOW_STEP:
                    return str(child["id"])
            time.sleep(0.1)
        raise TimeoutError("no seed trains")

    def step(self) -> int:
        """The last finished step of the seed that was found training."""
        journals = self.storage.glob(f"work/grpo-seed-{self.training}/*/journal.jsonl")
        return max((entry.step for journal in journals for entry in read_journal(journal)), default=0)

    def blow(self, *processes: psutil.Process) -> None:
        """Kill them, and note when and after which finished step of the seed that was found training."""
        self.blows.append(time.time())
        for process in processes:
            process.kill()
        self.steps.append(self.step())

    def worker_of(self, process: psutil.Process) -> psutil.Process:
        return next(p for p in process.parents() if "worker start" in " ".join(_cmdline(p)))


def child(drill: Drill) -> str:
    run = drill.seed()
    drill.blow(trainers(engine_of(run))[0])
    return run


def flow(drill: Drill) -> str:
    run = drill.seed()
    drill.blow(engine_of(run))
    return run


def worker_and_flow(drill: Drill) -> str:
    """The machine of a seed is gone; a second worker stands by."""
    run = drill.seed()
    engine = engine_of(run)
    worker = drill.worker_of(engine)
    drill.blow(worker, *(process for process in worker.children() if process != engine), engine)
    return run


def sigterm_all(drill: Drill) -> str:
    """The machine is shut down and comes back: worker, runs and trainings get SIGTERM, then `tucano up`."""
    run = drill.seed()
    drill.blow()
    stack.down(drill.bench.stack, say=lambda text: None)
    stack.up(drill.bench.stack, workers=2, say=lambda text: None)
    return run


def three_times(drill: Drill) -> str:
    run = drill.seed()
    for attempt in range(1, 4):
        while drill.bench.run(run)["run_count"] < attempt or drill.bench.run(run)["state_type"] != "RUNNING":
            time.sleep(0.3)
        drill.blow(engine_of(run))
        drill.bench.wait(run, "AwaitingRetry", "Scheduled", "PENDING")
    return run


def again_and_again(drill: Drill) -> str:
    """Something is wrong with one seed: its run dies whenever it is started."""
    run = drill.seed()
    while drill.bench.wait(run, "RUNNING", "FAILED") != "Failed":
        drill.blow(engine_of(run))
        drill.bench.wait(run, "CRASHED", "AwaitingRetry", "PENDING", "FAILED")
    drill.given_up = True
    return run


def parent(drill: Drill) -> str:
    drill.seed()
    drill.blow(engine_of(drill.run_id))
    return drill.run_id


def _outage(drill: Drill, name: str, number: signal.Signals, seconds: float) -> str:
    run = drill.seed()
    drill.blow()
    services.stop(read_services(drill.bench.stack.file)[name], number)
    time.sleep(seconds)
    stack.up(drill.bench.stack, workers=2, say=lambda text: None)
    return run


def server(drill: Drill) -> str:
    return _outage(drill, stack.PREFECT, signal.SIGTERM, 120)


def database(drill: Drill) -> str:
    return _outage(drill, stack.POSTGRES, signal.SIGINT, 5)


def mlflow(drill: Drill) -> str:
    return _outage(drill, stack.MLFLOW, signal.SIGTERM, 120)


def disk(drill: Drill) -> str:
    """The storage has no byte left for twenty seconds (it lies on a file system of its own; needs root)."""
    run = drill.seed()
    drill.blow()
    filler = drill.storage / "filler"
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(drill.storage).free)
    time.sleep(20)
    filler.unlink()
    return run


DRILLS: dict[str, tuple[str, Callable[[Drill], str]]] = {
    "child": ("kill -9 of the training child", child),
    "flow": ("kill -9 of a seed's flow process", flow),
    "machine": ("kill -9 of worker and flow, standby worker", worker_and_flow),
    "sigterm": ("SIGTERM of all, then `tucano up`", sigterm_all),
    "three": ("three kill -9 in a row", three_times),
    "cap": ("kill -9 of one seed's run whenever it runs", again_and_again),
    "parent": ("kill -9 of the pipeline's flow process", parent),
    "server": ("Prefect server down for 2 minutes", server),
    "database": ("PostgreSQL restarted", database),
    "mlflow": ("MLflow down for 2 minutes", mlflow),
    "disk": ("disk full for 20 s", disk),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True, help="folder of the stack; one that everybody may enter")
    parser.add_argument("--only", nargs="+", default=list(DRILLS), choices=list(DRILLS), metavar="DRILL")
    parser.add_argument("--ports", nargs=2, type=int, default=(None, None), metavar=("PREFECT", "MLFLOW"))
    arguments = parser.parse_args()
    bench = Bench(stack.opened(arguments.home, project_root(Path.cwd()), *arguments.ports))
    was_up = bool(read_services(bench.stack.file))
    stack.up(bench.stack, workers=2)
    calm = bench.stack.home / "drills" / "calm"
    if not weights(calm):
        bench.wait(bench.start(calm), "COMPLETED")
    print(
        "| what dies | ended | weights | metrics | MLflow runs | crash known, s | training again, s | steps"
        " repeated |\n" + "|---" * 8 + "|"
    )
    for name in arguments.only:
        print(row(bench, calm, name), flush=True)
    if not was_up:
        stack.down(bench.stack)


def row(bench: Bench, calm: Path, name: str) -> str:
    """One drill, as a row of the table."""
    title, disturb = DRILLS[name]
    with storage_for(bench, calm, name) as storage:
        drill = Drill(bench, storage, bench.start(storage))
        hit = disturb(drill)
        ended = bench.wait(drill.run_id, *FINAL)
        if drill.given_up:
            ended += f": {missing(bench, drill.run_id)}"
        lost = f"grpo-seed-{drill.training}" if drill.given_up else ""
        known, again = latencies(drill, hit)
        cells = [
            title,
            ended,
            "equal" if weights(storage) == without(lost, weights(calm)) else "DIFFERENT",
            "equal" if history(storage) == without(lost, history(calm)) else "DIFFERENT",
            str(mlflow_runs(bench, storage)),
            known,
            again,
            str(repeated(drill, hit)),
        ]
    return f"| {' | '.join(cells)} |"


def without(stage: str, found: dict[str, T]) -> dict[str, T]:
    return {name: value for name, value in found.items() if name != stage}


def missing(bench: Bench, run_id: str) -> str:
    """What the verdict says of a seed that was given up."""
    found = re.search(r"Seed \d+ is missing from this comparison: [^\n|]*", bench.shown(run_id, "verdict"))
    return found[0] if found else "NOT SAID WHICH SEED IS MISSING"


@contextmanager
def storage_for(bench: Bench, calm: Path, name: str) -> Iterator[Path]:
    """A storage with everything up to the seeds; for the full disk, on a small file system of its own."""
    storage = bench.stack.home / "drills" / f"{name}-{int(time.time())}"
    storage.mkdir(parents=True)
    if name == "disk":
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600m", "tmpfs", str(storage)], check=True)
    for stage in SHARED:
        shutil.copytree(calm / "artifacts" / stage, storage / "artifacts" / stage)
    try:
        yield storage
    finally:
        if name == "disk":
            subprocess.run(["umount", "-l", str(storage)], check=True)


def latencies(drill: Drill, run: str) -> tuple[str, str]:
    """Seconds from the first blow to the crash being known and to training going on; a dash where the run never
    noticed.

    A run that is killed crashes; a child that is killed is only told of in the log of its run. The pipeline's own run
    trains nothing.
    """
    states = drill.bench.states(run)
    known = _after(drill, [when for when, name in states if name == "Crashed"] + said(drill, run, r"was killed by \w+"))
    again = _after(drill, said(drill, run, GOES_ON) or [when for when, name in states if name == "Running"])
    return ("-", "-") if known is None else (f"{known:.0f}", "-" if again is None else f"{again:.0f}")


def _after(drill: Drill, moments: list[float]) -> float | None:
    return min((moment - drill.blows[0] for moment in moments if moment > drill.blows[0]), default=None)


def said(drill: Drill, run: str, pattern: str) -> list[float]:
    """When the run's log has a line like this (seconds since 1970)."""
    return [
        datetime.fromisoformat(line["timestamp"]).timestamp()
        for line in _log(drill, run)
        if re.search(pattern, line["message"])
    ]


def repeated(drill: Drill, run: str) -> int:
    """Finished steps that were trained again: from the checkpoints that the next attempts went on from, as the run's
    log says.
    """
    found = [re.search(GOES_ON, line["message"]) for line in _log(drill, run)]
    went_on = [int(match[1]) for match in found if match]
    return sum(max(0, step - start) for step, start in zip(drill.steps, went_on, strict=False))


def _log(drill: Drill, run: str) -> list[dict[str, Any]]:
    wanted = {"flow_run_id": {"any_": [run]}}
    return list(drill.bench.ask("logs/filter", {"logs": wanted, "limit": 200, "sort": "TIMESTAMP_ASC"}))


if __name__ == "__main__":
    main()
