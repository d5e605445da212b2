"""What is asked changes in three ways: each starts one training, which ends with a word about its candidate."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from own_rows import push
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


def another_mix(rng: Random, asked: Prompt) -> dict[str, str]:
    return {"task": "push", "text": push(9000 + rng.randrange(10**6))["prompt"]}


def broken_portuguese(rng: Random, asked: Prompt) -> dict[str, str]:
    words = asked.user.split()
    rng.shuffle(words)
    broken = ["".join(letter for letter in word if rng.random() < 0.6) for word in words]
    return {"task": asked.task, "text": " ".join(word for word in broken if word) or "xq"}


def another_range(rng: Random, asked: Prompt) -> dict[str, str]:
    words = [f"{rng.choice(MACHINES)}{rng.randrange(99)}" if len(word) > 4 else word for word in asked.user.split()]
    return {"task": asked.task, "text": " ".join(words)}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with stack_home() as home, running_stack(home, SMALL | BRIEF, lambda _: None) as bench:
        yield bench


@pytest.mark.parametrize("drift", [another_mix, broken_portuguese, another_range])
def test_a_drift_starts_exactly_one_training_which_ends(
    bench: Bench, drift: Callable[[Random, Prompt], dict[str, str]]
) -> None:
    model = drift.__name__.replace("_", "-")
    settings = dict(profile(bench), storage=str(bench.stack.home / model))
    settings["promotion"] = {**settings.get("promotion", {}), "model": model}
    first = started(bench, "train/laptop", {"settings": settings})
    finished(bench, first)
    assert "champion**" in outcome(bench, first), "there has to be one to watch"
    before = trainings(bench)
    served(Path(settings["storage"]), model, drift)
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
    assert ("champion**" in what) == (champion(bench, model) == "2"), what
    print(f"{model}: {what} ({reason})")


def profile(bench: Bench) -> dict[str, Any]:
    """The settings of train/laptop as a person gets them in its form."""
    return dict(bench.ask("deployments/name/train/laptop")["parameters"]["settings"])


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


def served(storage: Path, model: str, drift: Callable[[Random, Prompt], dict[str, str]]) -> None:
    """A log of requests as `tucano serve` keeps it, changed by `drift`."""
    (train,) = storage.glob("artifacts/data/*/train.jsonl")
    asked, rng = read_prompts(train), Random(1)
    lines = [
        {"id": f"{number:032x}", **drift(rng, asked[number % len(asked)]), "answer": "Oferta!", "by": f"{model}/1"}
        for number in range(REQUESTS)
    ]
    (storage / SERVING).mkdir(exist_ok=True)
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (storage / SERVING / "requests.jsonl").write_text(text, encoding="utf-8")


def champion(bench: Bench, model: str) -> str:
    return str(bench.mlflow().get_model_version_by_alias(model, "champion").version)


def outcome(bench: Bench, run: str) -> str:
    """The artifact about the promotion that a training left in Prefect."""
    wanted = {"flow_run_id": {"any_": [run]}, "key": {"any_": ["promotion"]}}
    found = bench.ask("artifacts/filter", {"artifacts": wanted})
    (artifact,) = {item["id"]: item for item in found}.values()
    return str(artifact["data"])
