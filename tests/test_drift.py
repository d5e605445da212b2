"""What is asked changes: that starts one training, which ends with a word about its candidate."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from small_stack import running_stack, stack_home

from benchmarks.operations import SMALL, Bench
from tucano.prompts import Prompt, read_prompts
from tucano.serving.request_log import FOLDER as SERVING

pytestmark = [pytest.mark.services, pytest.mark.long, pytest.mark.timeout(1800)]
BRIEF = {
    "grpo.max_steps": 40, "grpo.max_completion_tokens": 64,
    "grpo.rewards": "controls.length",  # so small a model learns to write more, and is promoted for that
    "comparison.rewards": "controls.length", "grpo.learning_rate": 0.01, "audit.override_by": "Ana Souza",
    "audit.override_reason": "the drill of the operators", "comparison.samples": 1,
    "promotion.approval_hours": None,
}  # fmt: skip
REQUESTS = 200
MACHINES = (
    "betoneira", "guindaste", "retroescavadeira", "empilhadeira", "compressor", "andaime", "martelete", "esteira",
)  # fmt: skip


def another_range(rng: Random, asked: Prompt) -> dict[str, str]:
    words = [f"{rng.choice(MACHINES)}{rng.randrange(99)}" if len(word) > 4 else word for word in asked.user.split()]
    return {"task": asked.task, "text": " ".join(words)}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with stack_home() as home, running_stack(home, SMALL | BRIEF, lambda _: None) as bench:
        yield bench


def test_a_drift_starts_exactly_one_training_which_ends(bench: Bench) -> None:
    """Which drifts are alarms: tests/test_monitor.py."""
    settings = bench.ask("deployments/name/train/laptop")["parameters"]["settings"]
    first = started(bench, "train/laptop", {"settings": settings})
    finished(bench, first)
    assert "champion**" in outcome(bench, first), "there has to be one to watch"
    before = trainings(bench)
    served(Path(settings["storage"]))
    watched = {"settings": settings | {"monitor": {"retrain": "train/laptop"}}}

    finished(bench, started(bench, "monitor/laptop", watched))
    bench.until(lambda: trainings(bench) - before, "the alarm starts a training")
    (training,) = trainings(bench) - before
    run = bench.run(training)
    (old, new) = run["parameters"]["settings"]["data"]["sources"]
    assert (old["source"], new["source"]) == ("synthetic", "jsonl")
    alarm = Path(new["path"]).stem.removeprefix("prompts-")
    assert run["idempotency_key"] == f"tucano-alarm-{alarm}"
    assert run["parameters"]["settings"]["promotion"]["each_source"]

    again = started(bench, "retrain/any", {"storage": settings["storage"], "alarm": alarm})
    assert "has taken this alarm up" in finished(bench, again)
    finished(bench, started(bench, "monitor/laptop", watched))
    finished(bench, training)
    assert trainings(bench) - before == {training}
    what, _, reason = outcome(bench, training).partition("\n\n")
    assert reason, "a champion or a refusal says why"
    champion = bench.mlflow().get_model_version_by_alias("tucano", "champion")
    assert ("champion**" in what) == (str(champion.version) == "2"), what


def started(bench: Bench, deployment: str, parameters: dict[str, Any]) -> str:
    identity = bench.ask(f"deployments/name/{deployment}")["id"]
    return str(bench.ask(f"deployments/{identity}/create_flow_run", {"parameters": parameters})["id"])


def finished(bench: Bench, run: str) -> str:
    """What a run says when it is completed."""
    bench.wait(run, "COMPLETED", "FAILED", "CRASHED", seconds=900)
    state = bench.run(run)["state"]
    assert state["type"] == "COMPLETED", state
    return str(state["message"])


def trainings(bench: Bench) -> set[str]:
    of_laptop = {"flow_runs": {"deployment_id": {"any_": [bench.ask("deployments/name/train/laptop")["id"]]}}}
    return {str(run["id"]) for run in bench.ask("flow_runs/filter", of_laptop)}


def served(storage: Path) -> None:
    """A log of requests as `tucano serve` keeps it, of a shop that sells machines now."""
    (train,) = storage.glob("artifacts/data/*/train.jsonl")
    asked, rng = read_prompts(train), Random(1)
    same = {"answer": "Oferta!", "by": "tucano/1"}
    lines = [
        {"id": f"{number:032x}", **same, **another_range(rng, asked[number % len(asked)])} for number in range(REQUESTS)
    ]
    (storage / SERVING).mkdir(exist_ok=True)
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (storage / SERVING / "requests.jsonl").write_text(text, encoding="utf-8")


def outcome(bench: Bench, run: str) -> str:
    """The artifact about the promotion that a training left in Prefect."""
    wanted = {"flow_run_id": {"any_": [run]}, "key": {"any_": ["promotion"]}}
    found = bench.ask("artifacts/filter", {"artifacts": wanted})
    (artifact,) = {item["id"]: item for item in found}.values()
    return str(artifact["data"])
