"""The training children for real, in small: SFT, GRPO, answers; killed, interrupted and resumed."""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from pace import slowness
from trainings import job_in

from benchmarks.drill_runs import newest_valid
from data.prepare import prepare
from tucano.comparison.forgetting import read_readings
from tucano.errors import UserError, WorkerCrashed
from tucano.profiles import validated
from tucano.settings import PipelineSettings
from tucano.settings.model import LoadedModel
from tucano.storage.journal import read_journal
from tucano.training import launch
from tucano.training.checkpoints.manifest import step_of
from tucano.training.jobs import Arm, Progress
from tucano.training.launch import forking, run_job

SMALL: dict[str, dict[str, Any]] = {
    "data": {"train_prompts": 60, "validation_prompts": 26, "test_prompts": 26, "demonstrations": 80},
    "model": {"nano_hidden": 32, "nano_layers": 2, "nano_vocabulary": 700, "max_length_tokens": 512},
    "sft": {"max_epochs": 2, "batch_size": 8, "learning_rate": 0.003, "eval_steps": 10, "save_steps": 5},
    "grpo": {
        "max_steps": 8, "batch_size": 8, "generations": 4, "micro_batch": 4, "max_completion_tokens": 24, "learning_rate": 0.001,
        "eval_steps": 2, "save_steps": 2, "validation_samples": 1, "patience": 9,  # so small a model may earn nothing yet
    },
}  # fmt: skip


def settings(**grpo: object) -> PipelineSettings:
    return validated({**SMALL, "grpo": {**SMALL["grpo"], **grpo}})


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prompts")
    prepare(settings().data, 7, settings().tasks, folder)
    return folder


@pytest.fixture(scope="module")
def start(prompts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The nano model after a short SFT."""
    place = tmp_path_factory.mktemp("sft")
    result = run_job(job_in(place, "sft", settings(), prompts), None, lambda progress: None)
    losses = [loss for _, loss in result["validation_losses"]]
    assert losses[-1] < losses[0]
    return place / "output" / "model"


def journal_steps(place: Path, name: str) -> list[int]:
    return [entry.step for entry in read_journal(place / "work" / "journal.jsonl") if name in entry.values]


def adapter_bytes(place: Path) -> bytes:
    return (place / "output" / "adapter" / "adapter_model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def forked(start: Path) -> Iterator[None]:
    """Children are forked of one server from here on; that of `start` was started."""
    with forking(LoadedModel(), None):
        yield


@pytest.fixture(scope="module")
def undisturbed(prompts: Path, start: Path, forked: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("grpo")
    run_job(job_in(place, "grpo", settings(), prompts, base=start), None, lambda progress: None)
    return place


def test_a_forked_child_computes_the_bits_of_a_started_one(
    prompts: Path, start: Path, forked: None, tmp_path: Path
) -> None:
    """That it does so in GRPO, too, the test of SIGTERM says."""
    run_job(job_in(tmp_path, "sft", settings(), prompts), None, lambda progress: None)
    assert (tmp_path / "output" / "model" / "model.safetensors").read_bytes() == (
        start / "model.safetensors"
    ).read_bytes()


def test_a_killed_child_goes_on_from_its_checkpoint_and_ends_as_if_nothing_had_happened(
    prompts: Path, start: Path, undisturbed: Path, tmp_path: Path
) -> None:
    chosen = job_in(tmp_path, "grpo", settings(), prompts, base=start)

    with pytest.raises(WorkerCrashed, match="SIGKILL"):
        run_job(chosen, None, SignalAt(3, signal.SIGKILL))
    newest = newest_valid(tmp_path / "work")
    assert newest is not None and step_of(newest.name) in (2, 4, 6)  # the child may run ahead of its parent
    seen: list[int] = []
    run_job(chosen, None, lambda progress: None if progress.notice else seen.append(progress.step))
    assert seen == list(range(step_of(newest.name) + 1, 9))
    assert adapter_bytes(tmp_path) == adapter_bytes(undisturbed)
    assert journal_steps(tmp_path, "train/reward/total") == list(range(1, 9))


class SignalAt:
    """A listener that sends the training child a signal, once, when it hears of a step."""

    def __init__(self, step: int, number: signal.Signals) -> None:
        self.step, self.number = step, number
        self.sent_at_s: float | None = None

    def __call__(self, progress: Progress) -> None:
        if progress.step >= self.step and self.sent_at_s is None:
            self.sent_at_s = time.monotonic()
            os.kill(child_of_this_process(), self.number)


def child_of_this_process() -> int:
    """The training child, whether it was started or forked."""
    living = (c for c in psutil.Process().children(recursive=True) if c.status() != psutil.STATUS_ZOMBIE)
    return next(
        child.pid
        for child in living
        if "tucano.training." in " ".join(child.cmdline()) and child.name() not in ("fork server", "keeper")
    )


@pytest.mark.parametrize("way", ["started", "forked"])
def test_sigterm_loses_no_finished_step_and_leaves_no_trace(
    way: str, prompts: Path, start: Path, undisturbed: Path, tmp_path: Path
) -> None:
    """Whoever goes on from there is forked, as the undisturbed one is."""
    chosen = job_in(tmp_path, "grpo", settings(), prompts, base=start)
    at_three = SignalAt(3, signal.SIGTERM)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(WorkerCrashed, match="saved its state"):
        if way == "started":
            patch.setattr(launch, "_fork_server", None)
        run_job(chosen, None, at_three)
    assert at_three.sent_at_s is not None and time.monotonic() - at_three.sent_at_s < 10 * slowness()
    newest = newest_valid(tmp_path / "work")
    assert newest is not None and step_of(newest.name) == journal_steps(tmp_path, "train/reward/total")[-1]
    run_job(chosen, None, lambda progress: None)
    assert adapter_bytes(tmp_path) == adapter_bytes(undisturbed)
    assert values(tmp_path) == values(undisturbed)


def values(place: Path) -> list[tuple[int, dict[str, float]]]:
    """The journal without what is a time."""
    entries = read_journal(place / "work" / "journal.jsonl")
    return [(entry.step, entry.results) for entry in entries]


def test_answers_of_every_arm(prompts: Path, start: Path, undisturbed: Path, tmp_path: Path) -> None:
    """The start answers twice as often here, as it does beside two seeds."""
    arms = [Arm("sft", str(start), times=2), Arm("seed-1", str(start), str(undisturbed / "output" / "adapter"))]
    asked = job_in(tmp_path, "answer", settings(), prompts, arms=arms)
    run_job(asked, None, lambda progress: None)
    rows = [
        json.loads(line) for line in (tmp_path / "output" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    each = 26 * (1 + 4)
    assert Counter(row["arm"] for row in rows) == {"sft": 2 * each, "seed-1": each}
    assert all(0 <= row["reward"] <= 1 and row["loss"] >= 0 for row in rows)
    read = read_readings(tmp_path / "output" / "language.jsonl")
    assert len(read) == 2 * 40 and all(reading.nats > 0 < reading.tokens for reading in read)
    before = {}
    for arm in arms[1:]:
        alone = job_in(tmp_path / arm.name, "answer", settings(), prompts, arms=[arm], reference=arms[0])
        run_job(alone, None, lambda progress: None)
        before[arm.name] = alone.output
    joined = job_in(tmp_path / "joined", "answer", settings(), prompts, arms=arms, answered=before)
    run_job(joined, None, lambda progress: None)
    for name in ("answers.jsonl", "language.jsonl"):
        together = (tmp_path / "output" / name).read_bytes()
        assert (Path(joined.output) / name).read_bytes() == together, (
            "alike, alone and beside others, and in the same order"
        )


def test_a_users_mistake_in_the_child_is_a_user_error_here(prompts: Path, forked: None, tmp_path: Path) -> None:
    model = {**SMALL["model"], "name": "no/such-model"}
    plain = validated({**SMALL, "model": model, "sft": {"enabled": False}})
    with pytest.raises(UserError, match=r"needs model\.revision"):
        run_job(job_in(tmp_path, "grpo", plain, prompts, base=Path("no/such-model")), None, lambda progress: None)


@pytest.mark.long
def test_a_given_model_gets_an_adapter_that_sft_and_grpo_train(prompts: Path, start: Path, tmp_path: Path) -> None:
    """A local Qwen3 folder stands for a downloaded model; the path through LoRA is the one that a real model takes."""
    model = {"name": str(start), "max_length_tokens": 512}
    given = validated({**SMALL, "model": model, "sft": {**SMALL["sft"], "max_epochs": 1}})
    run_job(job_in(tmp_path / "sft", "sft", given, prompts, base=start), None, lambda progress: None)
    adapter = tmp_path / "sft" / "output" / "adapter"
    before = (adapter / "adapter_model.safetensors").read_bytes()
    chosen = job_in(tmp_path / "grpo", "grpo", given, prompts, base=start, adapter=adapter)
    result = run_job(chosen, None, lambda progress: None)
    assert result["steps"] == 8
    if result["best_step"] > 0:
        assert adapter_bytes(tmp_path / "grpo") != before
    arms = [Arm("base", str(start)), Arm("sft", str(start), str(adapter))]
    answering = job_in(tmp_path / "answers", "answer", given, prompts, arms=arms)
    assert run_job(answering, None, lambda progress: None) == {"arms": ["base", "sft"]}
