"""Resumed in one process at chosen moments: what a step moves comes back, and what comes back wrong is refused."""

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import accelerate
import pytest
import torch
from safetensors.torch import load_file, save_file
from test_grpo_parity import (
    one_thread_and_the_signals_as_before,  # noqa: F401  the fixture is used by its name
    settings,
    tiny,
)
from trainings import job_in
from transformers import TrainerState

from benchmarks.drill_runs import newest_valid
from tucano.settings import PipelineSettings
from tucano.storage.journal import JournalWriter, read_journal
from tucano.training import grpo
from tucano.training.checkpoints import arithmetic, manifest
from tucano.training.checkpoints.arithmetic import Arithmetic
from tucano.training.checkpoints.beginning import Reporter
from tucano.training.checkpoints.states import NotAsSaved
from tucano.training.jobs import EVENT_MARK, parse
from tucano.training.policies import effect


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny(tmp_path_factory.mktemp("resume") / "tiny")


@pytest.fixture(scope="module")
def adapter(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter that has been trained: where the KL penalty has its reference."""
    place = tmp_path_factory.mktemp("adapter")
    train(folder, place, chosen())
    return place / "output" / "adapter"


def chosen(**more: object) -> PipelineSettings:
    """A look and a checkpoint after every step."""
    return settings(**{"eval_steps": 1, "save_steps": 1, "patience": 7, **more})


def train(folder: Path, place: Path, run: PipelineSettings, threads: int = 1, adapter: Path | None = None) -> Any:
    """One attempt; None when SIGTERM has ended it."""
    return grpo.run(job_in(place, "grpo", run, folder, folder / "model", adapter, threads=threads))


def interrupted(monkeypatch: pytest.MonkeyPatch, backward: int, attempt: Callable[[], Any]) -> None:
    """Send this process SIGTERM when the attempt has ended its n-th backward pass."""
    original, passes = accelerate.Accelerator.backward, [0]

    def counted(*args: Any, **kwargs: Any) -> None:
        original(*args, **kwargs)
        passes[0] += 1
        if passes[0] == backward:
            os.kill(os.getpid(), signal.SIGTERM)

    with monkeypatch.context() as patch:
        patch.setattr(accelerate.Accelerator, "backward", counted)
        assert attempt() is None, "it was to be interrupted"


def left(place: Path) -> tuple[dict[str, bytes], str]:
    """Weights of the last checkpoint and the delivered ones; the journal as a text, for NaN is no equal of itself."""
    newest = newest_valid(place / "work")
    assert newest is not None
    entries = read_journal(place / "work" / "journal.jsonl")
    history = repr([(entry.step, entry.results) for entry in entries])
    files = [*newest.glob("*.safetensors"), *(place / "output").rglob("*.safetensors")]
    return {file.parent.name: file.read_bytes() for file in files}, history


def logged(place: Path, name: str) -> list[float]:
    return [entry.values[name] for entry in read_journal(place / "work" / "journal.jsonl") if name in entry.values]


@pytest.mark.parametrize("start", ["new", "trained"])
def test_with_a_kl_penalty_the_policy_goes_on_and_its_reference_stays_behind(
    start: str,
    folder: Path,
    adapter: Path,
    stopped: tuple[PipelineSettings, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """TRL keeps the reference as a second adapter of the model; what is saved and delivered is the first alone."""
    run, begins = chosen(beta=0.04), adapter if start == "trained" else None
    train(folder, tmp_path / "alone", run, adapter=begins)
    if start == "trained":
        assert stopped[0] == run
        copy_of(stopped[1], tmp_path / "resumed")
    else:
        interrupted(monkeypatch, 6, lambda: train(folder, tmp_path / "resumed", run))
    before = load_file(next_adapter(tmp_path / "resumed"))
    assert sum(tensor.abs().sum() for name, tensor in before.items() if "lora_B" in name) > 0
    train(folder, tmp_path / "resumed", run, adapter=begins)
    assert left(tmp_path / "resumed") == left(tmp_path / "alone")
    assert any(value > 0 for value in logged(tmp_path / "resumed", "train/kl"))
    assert not list(tmp_path.rglob("ref")), "a stray reference adapter"


def next_adapter(place: Path) -> Path:
    newest = newest_valid(place / "work")
    assert newest is not None
    return newest / "adapter_model.safetensors"


def test_sigterm_while_a_finished_adapter_is_described_comes_too_late_to_end_anything(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an adapter does is measured by forward passes of the model that was trained: none of them may be dropped."""
    measure = effect.of

    def struck(*args: Any, **kwargs: Any) -> Any:
        os.kill(os.getpid(), signal.SIGTERM)
        return measure(*args, **kwargs)

    monkeypatch.setattr(effect, "of", struck)
    assert train(folder, tmp_path, chosen(max_steps=1)) is not None


@pytest.mark.parametrize("backward", [5, *(pytest.param(later, marks=pytest.mark.long) for later in (6, 7, 8))])
def test_sigterm_in_each_backward_pass_of_a_step_with_adaptive_entropy(
    backward: int, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TRL moves the coefficient in a step's last loss; if that step is dropped, the coefficient goes back."""
    rarely = {"save_steps": 7, "eval_steps": 7, "patience": 1}  # so that the step before is saved because of the signal
    run = chosen(
        entropy_coef=0.03, entropy_target=5.2, entropy_delta=0.01, entropy_coef_max=0.5, micro_batch=2, **rarely
    )
    train(folder, tmp_path / "alone", run)
    interrupted(monkeypatch, backward, lambda: train(folder, tmp_path / "resumed", run))
    saved = json.loads(
        (next_adapter(tmp_path / "resumed").parent / "entropy_ctrl_state.json").read_text(encoding="utf-8")
    )
    assert saved["entropy_coef"] == logged(tmp_path / "alone", "train/entropy_coef")[0]  # step 1 alone is finished
    train(folder, tmp_path / "resumed", run)
    assert left(tmp_path / "resumed") == left(tmp_path / "alone")


def test_a_training_goes_on_with_its_threads(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = chosen(
        batch_size=48, generations=8, micro_batch=48, max_completion_tokens=100, max_steps=2
    )  # few numbers are not split
    alone = train(folder, tmp_path / "alone", run, threads=2)
    interrupted(monkeypatch, 2, lambda: train(folder, tmp_path / "resumed", run, threads=2))
    resumed = train(folder, tmp_path / "resumed", run, threads=1)
    assert torch.get_num_threads() == 2
    assert left(tmp_path / "resumed") == left(tmp_path / "alone")
    # Whether other threads give other bits is the processor's; that these are those of before holds everywhere.
    assert resumed["arithmetic"] == alone["arithmetic"] and [one["threads"] for one in resumed["arithmetic"]] == [2]


def test_a_machine_that_adds_otherwise_is_said_and_recorded(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = chosen()
    interrupted(monkeypatch, 6, lambda: train(folder, tmp_path, run))
    newest = newest_valid(tmp_path / "work")
    assert newest is not None
    elsewhere = Arithmetic(1, "x86_64 AVX9", "0123456789abcdef")
    arithmetic.write([elsewhere], newest)
    reseal(newest)
    capsys.readouterr()
    result = train(folder, tmp_path, run)
    lines = [line for line in capsys.readouterr().out.splitlines() if EVENT_MARK in line]
    told = [json.loads(line.removeprefix(EVENT_MARK))["notice"] for line in lines]
    assert "adds otherwise than the one that trained before (x86_64 AVX9)" in str(told[0])
    assert [one["machine"] for one in result["arithmetic"]] == ["x86_64 AVX9", arithmetic.measured(1, "cpu").machine]


def reseal(checkpoint: Path) -> None:
    (checkpoint / manifest.MANIFEST).unlink()
    manifest.seal(checkpoint)


def other_weights(checkpoint: Path) -> None:
    stored = load_file(checkpoint / "adapter_model.safetensors")
    next(iter(stored.values())).view(torch.int32)[0, 0] ^= 1
    save_file(stored, checkpoint / "adapter_model.safetensors", {"format": "pt"})


def other_moments(checkpoint: Path) -> None:
    stored = torch.load(checkpoint / "optimizer.pt", weights_only=True)
    stored["state"][3]["exp_avg"].view(torch.int32)[0, 0] ^= 1
    torch.save(stored, checkpoint / "optimizer.pt")


def other_rate(checkpoint: Path) -> None:
    stored = torch.load(checkpoint / "scheduler.pt", weights_only=True)
    torch.save({**stored, "last_epoch": stored["last_epoch"] + 1}, checkpoint / "scheduler.pt")


def other_generator(checkpoint: Path) -> None:
    stored = torch.load(checkpoint / "rng_state.pth", weights_only=False)
    stored["cpu"][24] ^= 1  # the lowest bit of its first word
    torch.save(stored, checkpoint / "rng_state.pth")


def other_attributes(checkpoint: Path) -> None:
    stored = torch.load(checkpoint / "extra_state.pt", weights_only=True)
    stored["parts"]["validation"]["waited"] += 1
    torch.save(stored, checkpoint / "extra_state.pt")


DAMAGES: dict[Callable[[Path], None], str] = {
    other_weights: (
        r"1 values of its weights are not as they were saved: \['default'\]\.\['base_model\..*lora_A\.weight'\]$"
    ),
    other_moments: r"1 values of its optimizer .*: \['state'\]\.\[3\]\.\['exp_avg'\]$",
    other_rate: r"values of its scheduler .*\['last_epoch'\]",
    other_generator: r"1 values of its random .*: \['torch'\]$",
    other_attributes: r"1 values of its parts .*: \['validation'\]\.\['waited'\]$",
}


@pytest.fixture(scope="module")
def stopped(folder: Path, adapter: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[PipelineSettings, Path]:
    """A training with a KL penalty that stopped between two steps."""
    run, place, patch = chosen(beta=0.04), tmp_path_factory.mktemp("stopped"), pytest.MonkeyPatch()
    interrupted(patch, 6, lambda: train(folder, place, run, adapter=adapter))
    return run, place


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_what_was_loaded_is_not_what_was_saved(
    damage: Callable[[Path], None], folder: Path, adapter: Path, stopped: tuple[PipelineSettings, Path], tmp_path: Path
) -> None:
    """A bit is changed behind the manifest's back: only the read-back can notice, and it names what it found."""
    run, place = stopped
    copied = copy_of(place, tmp_path)
    damage(copied)
    reseal(copied)
    with pytest.raises(NotAsSaved, match=DAMAGES[damage]):
        train(folder, tmp_path, run, adapter=adapter)


def test_another_start_is_noticed_by_the_reference(
    folder: Path, adapter: Path, stopped: tuple[PipelineSettings, Path], tmp_path: Path
) -> None:
    run, place = stopped
    copy_of(place, tmp_path)
    policy = load_file(adapter / "adapter_model.safetensors")
    next(iter(policy.values())).view(torch.int32)[0, 0] ^= 1
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "adapter_config.json").write_bytes((adapter / "adapter_config.json").read_bytes())
    save_file(policy, tmp_path / "start" / "adapter_model.safetensors", {"format": "pt"})
    with pytest.raises(NotAsSaved, match=r"1 values of its weights .*: \['ref'\]\.\['base_model\."):
        train(folder, tmp_path, run, adapter=tmp_path / "start")


def copy_of(place: Path, target: Path) -> Path:
    """A copy of a training's folder; its newest checkpoint."""
    shutil.copytree(place / "work", target / "work", dirs_exist_ok=True)
    newest = newest_valid(target / "work")
    assert newest is not None
    return newest


def test_the_time_left_goes_by_the_steps_of_this_attempt_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A resumed run said 219 minutes and took 11: its first step had waited for loading and a look at validation."""
    with JournalWriter(tmp_path / "journal.jsonl", resume_step=None) as journal:
        reporter = Reporter(journal, "grpo seed 1", {})
        for step, clock in ((31, 1600.0), (32, 1610.0)):
            monkeypatch.setattr(time, "monotonic", lambda now=clock: now)
            state = TrainerState(global_step=step, max_steps=40)
            reporter.on_log(cast(Any, None), state, cast(Any, None), logs={"loss": 0.5})
    left = [found.seconds_left for line in capsys.readouterr().out.splitlines() if (found := parse(line))]
    assert left == [None, 80.0], "eight steps of ten seconds"
