"""Failures that each ruined a run, put back: the preflight or the first five steps say so; healthy runs are quiet."""

import shutil
import signal
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
import trl
from safetensors.torch import load_file, save_file
from torch import Tensor
from trainings import job_in

from data.prepare import prepare
from rewards import PromptLike, RewardSet, Score
from tucano.errors import UserError
from tucano.profiles import load_profile, profiles
from tucano.settings import PipelineSettings
from tucano.training import grpo, preflight, sft, validation
from tucano.training.jobs import Job
from tucano.training.rollouts.examiner import Examiner

ROOT = Path(__file__).parent.parent
SMALL = [
    "model.name=nano", "model.backend=transformers", "model.device=cpu", "model.quantization=none", "model.dtype=float32",
    "model.nano_hidden=64", "model.nano_layers=1", "model.nano_vocabulary=1200", "model.max_length_tokens=512",
    "data.train_prompts=60", "data.validation_prompts=16", "data.test_prompts=16", "data.demonstrations=240",
    "data.mix={extraction: 0.5, push: 0.5}", "sft.enabled=true", "sft.max_epochs=6", "sft.batch_size=16",
    "sft.learning_rate=0.01", "sft.schedule=linear", "sft.eval_steps=200", "grpo.batch_size=16", "grpo.generations=4",
    "grpo.micro_batch=16", "grpo.max_completion_tokens=112", "grpo.learning_rate=0.001", "grpo.max_steps=6",
    "grpo.eval_steps=3", "grpo.save_steps=3", "grpo.patience=1", "grpo.validation_samples=1", "grpo.warmup_share=0",
    "preflight.steps=12",
]  # fmt: skip
"""A machine and a model for a test: the nano model learns at a hundred times the rate of a real one."""
OF_THEIR_OWN = {name: ["grpo.overlong_tokens=28"] for name in ("l4-v5", "l4-1.5b", "l4-3.7b")}
"""Settings that are shares of another one, scaled with it."""


def small(profile: str = "nano", *overrides: str) -> PipelineSettings:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_profile(ROOT, profile, [*SMALL, *OF_THEIR_OWN.get(profile, []), *overrides])


def job(kind: Any, start: Path, place: Path, settings: PipelineSettings, model: Path | None = None) -> Job:
    """`start` holds prompts and, from SFT on, the model."""
    return job_in(place / kind, kind, settings, start / "prompts", model or start / "sft" / "output" / "model")


@pytest.fixture(autouse=True, scope="module")
def one_thread_and_the_signals_as_before() -> Iterator[None]:
    """A training child would have both to itself."""
    threads, handler = torch.get_num_threads(), signal.getsignal(signal.SIGTERM)
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture(autouse=True)
def a_short_rehearsal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "PROMPTS_PER_TASK", 4)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prompts, and a nano model that has learnt the form of answers and when they end."""
    place, settings = tmp_path_factory.mktemp("start"), small()
    prepare(settings.data, 7, settings.tasks, place / "prompts")
    sft.run(job("sft", place, place, settings))
    return place


def red(start: Path, place: Path, settings: PipelineSettings, model: Path | None = None) -> dict[str, str]:
    """Names and evidence of the red checks."""
    table: Any = preflight.run(job("preflight", start, place, settings, model))
    return {line["name"]: line["evidence"] for line in table["checks"] if line["level"] == "red"}


def alarms(start: Path, place: Path, settings: PipelineSettings) -> list[tuple[str, int, bool]]:
    """Name, step and whether it stopped the run."""
    result: Any = grpo.run(job("grpo", start, place, settings))
    return [(alarm["name"], alarm["step"], alarm["stops"]) for alarm in result["alarms"]]


@pytest.mark.parametrize("profile", profiles(ROOT))
def test_a_healthy_run_of_every_shipped_profile_raises_nothing(start: Path, tmp_path: Path, profile: str) -> None:
    assert red(start, tmp_path, small(profile)) == {}
    assert alarms(start, tmp_path, small(profile)) == []


@dataclass(frozen=True)
class Doubled(RewardSet):
    def score(self, prompt: PromptLike, completion: str) -> Score:
        score = super().score(prompt, completion)
        return Score(min(1.0, 2 * score.total), {name: 2 * value for name, value in score.components.items()})


Failure = Callable[[pytest.MonkeyPatch, Path], list[str]]
"""Puts a failure back, into the code or into the copy of the start model that it gets; returns what it overrides in the
settings.
"""


def cold(put: pytest.MonkeyPatch, model: Path) -> list[str]:
    """The trainer takes over a temperature that is not the settings'."""
    arguments = grpo.arguments

    def overwritten(*given: Any) -> trl.GRPOConfig:
        made = arguments(*given)
        made.temperature = 0.1
        return made

    put.setattr(grpo, "arguments", overwritten)
    return []


def doubled(put: pytest.MonkeyPatch, model: Path) -> list[str]:
    """The predecessor's set: form alone earns this start more than a half, so twice as much is more than 1."""
    put.setattr(grpo, "load_reward_set", Doubled)
    return ["grpo.rewards=v4.2"]


def sixteen_tokens(put: pytest.MonkeyPatch, model: Path) -> list[str]:
    return ["grpo.max_completion_tokens=16"]


def short_evaluations(put: pytest.MonkeyPatch, model: Path) -> list[str]:
    """Answers are examined with another budget than they are trained with."""
    put.setattr(grpo, "Examiner", lambda *given: replace(Examiner(*given), max_new_tokens=16))
    return []


def repeating(put: pytest.MonkeyPatch, model: Path) -> list[str]:
    """Served answers repeat themselves up to the ceiling, rollouts do not."""
    answer = Examiner.answer

    def cold_ones_go_on(self: Examiner, model: Any, prompts: Any, samples: int, temperature: float, seed: int) -> Any:
        drawn = answer(self, model, prompts, samples, temperature, seed)
        return [replace(one, truncated=one.truncated or temperature < 0.5) for one in drawn]

    put.setattr(Examiner, "answer", cold_ones_go_on)
    return []


def identical(put: pytest.MonkeyPatch, model: Path) -> list[str]:
    """A start whose distribution has collapsed onto one token at every place."""
    file, name = model / "model.safetensors", "model.norm.weight"
    weights = load_file(file)
    save_file({**weights, name: 10_000 * weights[name]}, file, {"format": "pt"})
    return []


def diverging(put: pytest.MonkeyPatch, model: Path) -> list[str]:
    """NaN from the second step on."""
    return ["grpo.learning_rate=1.0e+25"]


def no_tokenizer(put: pytest.MonkeyPatch, model: Path) -> list[str]:
    """Lost on its way to the evaluations; the trainer finds one of its own in the model's folder."""
    examiner: Any = grpo.Examiner
    put.setattr(grpo, "Examiner", lambda tokenizer, *rest: examiner(None, *rest))
    return []


@pytest.mark.parametrize(
    ("failure", "check", "said"),
    [
        (cold, "generation", "temperature is 0.1, not 1.0"),
        (doubled, "signal: extraction", "components add up to more than 1"),
        (sixteen_tokens, "completion length", "ceiling 16"),
        (short_evaluations, "completion length", "ceiling 16"),
        (repeating, "served length", "100% of 48 cut off"),
        (identical, "signal: push", "there is almost nothing to learn from"),
        (diverging, "finite", "from step 2 on: lower grpo.learning_rate"),
        (no_tokenizer, "tokenizer", "evaluations have none"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_the_preflight_is_red(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Failure, check: str, said: str
) -> None:
    model = shutil.copytree(start / "sft" / "output" / "model", tmp_path / "model")
    found = red(start, tmp_path, small("nano", *failure(monkeypatch, model)), model)
    assert said in found.get(check, ""), found


def schedule_gone(put: pytest.MonkeyPatch) -> list[str]:
    """A cosine over a fifth of the steps: at their end the learning rate is 0, and stays there."""
    create = trl.GRPOTrainer.create_scheduler
    early: Any = lambda self, num_training_steps, **more: create(self, num_training_steps // 5, **more)  # noqa: E731
    put.setattr(trl.GRPOTrainer, "create_scheduler", early)
    steps = [f"grpo.{name}=20" for name in ("max_steps", "eval_steps", "save_steps")]
    return ["grpo.schedule=cosine", *steps, "health.stop_on=[rate_gone]"]


def test_a_schedule_that_is_gone_after_a_fifth_of_the_run_raises_its_alarm(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert alarms(start, tmp_path, small("nano", *schedule_gone(monkeypatch))) == [("rate_gone", 5, True)]


@pytest.mark.parametrize(("failure", "alarm", "step"), [(diverging, "not_finite", 2), (doubled, "reward_scale", 1)])
def test_what_gets_past_the_preflight_stops_the_run(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Failure, alarm: str, step: int
) -> None:
    assert alarms(start, tmp_path, small("nano", *failure(monkeypatch, tmp_path))) == [(alarm, step, True)]


def test_a_save_interval_that_misses_the_best_is_refused_and_would_not_lose_it(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best look comes after step 1, checkpoints after 3: what is delivered is the policy of step 1."""
    with pytest.raises(UserError, match="never meet"):
        small("nano", "grpo.eval_steps=2", "grpo.save_steps=3")
    policies: dict[int, dict[str, Tensor]] = {}
    look, measure = validation.Validation.look, validation.summary

    def peaked(completions: Any) -> dict[str, float]:
        return {**measure(completions), "reward": 1.0 if len(policies) == 2 else 0.5}

    def noted(self: validation.Validation, model: Any, step: int) -> None:
        policies[step] = {name: weight.detach().clone() for name, weight in model.named_parameters() if "lora" in name}
        look(self, model, step)

    monkeypatch.setattr(validation, "summary", peaked)
    monkeypatch.setattr(validation.Validation, "look", noted)
    settings = small("nano", "grpo.max_steps=3", "grpo.eval_steps=1", "grpo.patience=5", "health.stop_on=[]")
    result: Any = grpo.run(job("grpo", start, tmp_path, settings))
    delivered = load_file(tmp_path / "grpo" / "output" / "adapter" / "adapter_model.safetensors")
    assert result["best_step"] == 1 and result["steps"] == 3
    assert all(torch.equal(weight, delivered[name.replace(".default", "")]) for name, weight in policies[1].items())
    assert not all(torch.equal(policies[1][name], policies[3][name]) for name in policies[1])
