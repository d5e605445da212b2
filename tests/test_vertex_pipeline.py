# ruff: noqa: F811  what is imported from another test is a fixture
"""A whole pipeline whose own run holds no model: SFT, preflight, seed, answers and merge are jobs of Vertex AI.

Google stands on loopback, as in tests/test_vertex.py. Three machines are taken away: in SFT, in the seed, and while the
arms answer.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_google import ROOT, Cloud, Jobs
from mlflow import MlflowClient
from prefect import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterState, FlowRunFilterStateType
from prefect.states import AwaitingRetry, StateType
from test_vertex import cloud, environment, jobs, place, server, until, worker  # noqa: F401

from benchmarks.bad_days import TINY
from tucano.profiles import load_profile

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]
ELSEWHERE = {
    "execution.stages": "stage/vertex-l4",
    "execution.seeds": "seed/vertex-l4",
    "grpo.seeds": [42],
    "sft.max_epochs": 12,  # long enough for a machine to be taken away in the middle
    "storage": "gs://shop-bucket/tucano",
}
PARENT = """
import json, sys
from flows.train import train
from tucano.profiles import validated
from tucano.training import launch

def none_here(*given, **named):
    raise AssertionError("this machine has no GPU")

launch.run_job = none_here
print("report", train(validated(json.loads(sys.argv[1]))))
"""


@pytest.fixture(scope="module")
def parent(
    worker: None,
    environment: dict[str, str],
    cloud: Cloud,
    place: Path,
) -> Iterator[subprocess.Popen[str]]:
    overrides = TINY | ELSEWHERE | {"tracking_uri": f"sqlite:///{place}/mlflow.db"}
    texts = [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in overrides.items()]
    settings = load_profile(ROOT, "laptop", texts).model_dump(mode="json")
    with (place / "parent.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", PARENT, json.dumps(settings)],
            env={**environment, "STORAGE_EMULATOR_HOST": cloud.url},
            cwd=place,
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
        )
    yield process
    process.kill()
    process.wait()


def crashed_again() -> bool:
    """What the automation does ten seconds after a crash; false, to be asked again."""
    crashed = FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.CRASHED])))
    with get_client(sync_client=True) as client:
        for run in client.read_flow_runs(flow_run_filter=crashed):
            client.set_flow_run_state(run.id, AwaitingRetry(), force=True)
    return False


def log(place: Path, number: int) -> str:
    return (place / "machines" / f"job-{number + 1}.log").read_text(encoding="utf-8", errors="replace")


def numbers(jobs: Jobs, place: Path, what: str) -> list[int]:
    """The jobs so far of one kind, in their order, once they say what they do."""
    return [number for number in range(len(jobs.jobs)) if f"Flow run '{what}" in log(place, number)]


def test_every_stage_survives_its_machine(
    parent: subprocess.Popen[str],
    jobs: Jobs,
    cloud: Cloud,
    place: Path,
) -> None:
    def gone() -> bool:
        return crashed_again() or parent.poll() is not None

    def checkpoint(stage: str) -> Callable[[], Any]:
        found = re.compile(rf"/{stage}[^/]*/.*checkpoint-\d+/COMPLETE\.json$")
        return lambda: any(found.search(name) for name in list(cloud.objects)) or gone()

    def take_away(kind: str) -> None:
        (first,) = numbers(jobs, place, kind)
        jobs.take_away(first, notice_s=0)
        until(lambda: len(numbers(jobs, place, kind)) == 2 or gone())

    until(checkpoint("sft"))
    take_away("sft")
    until(checkpoint("grpo-seed-42"))
    take_away("seed 42")
    until(lambda: any("answers of base" in log(place, one) for one in numbers(jobs, place, "answer")) or gone())
    take_away("answer")
    until(gone)
    said = (place / "parent.log").read_text(encoding="utf-8")
    assert parent.returncode == 0 and "report" in said, said[-3000:]
    kinds = ("sft", "preflight", "seed 42", "answer")
    assert [len(numbers(jobs, place, kind)) for kind in kinds] == [2, 1, 2, 2]
    assert "goes on from attempt-1/checkpoint-" in log(place, numbers(jobs, place, "sft")[1])
    versions = MlflowClient(f"sqlite:///{place}/mlflow.db").search_model_versions("")
    assert len(numbers(jobs, place, "merge")) == len(versions), "what is promoted is merged elsewhere, too"


def test_a_run_of_the_same_settings_asks_for_no_machine(
    parent: subprocess.Popen[str],
    jobs: Jobs,
    environment: dict[str, str],
    cloud: Cloud,
    place: Path,
) -> None:
    """What is in the storage is found before a job is paid for."""
    before = len(jobs.jobs)
    assert before
    arguments = parent.args
    assert isinstance(arguments, list)
    again = subprocess.run(
        arguments, env={**environment, "STORAGE_EMULATOR_HOST": cloud.url}, cwd=place, capture_output=True, text=True
    )
    assert again.returncode == 0, again.stdout[-2000:] + again.stderr[-2000:]
    assert len(jobs.jobs) == before
