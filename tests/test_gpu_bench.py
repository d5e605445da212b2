"""benchmarks/gpu.py without a GPU: its sentence, its table, and its parts on a CPU with a base of two layers."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import Qwen3ForCausalLM

from benchmarks import gpu, gpu_parts
from benchmarks.gpu_parts import Setup
from tucano.training.checkpoints import exact

SMALL = (
    "model.device=cpu", "model.dtype=float32", "model.max_length_tokens=512", "grpo.batch_size=8", "grpo.generations=4",
    "grpo.micro_batch=4", "grpo.max_completion_tokens=12", "grpo.overlong_tokens=4", "grpo.refill_rounds=0",
)  # fmt: skip
SHAPE = json.dumps(
    {
        "vocab_size": 6000, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 1024,
    }
)  # fmt: skip
OTHERS = "attention flash, efficient, math, cudnn; any order"
"""Torch's own choice, which is that of whoever makes none."""


@pytest.fixture(scope="module")
def setup(tmp_path_factory: pytest.TempPathFactory) -> Setup:
    folder = tmp_path_factory.mktemp("gpu")
    gpu.prepare_on_a_cpu(folder, demonstrations=80)
    killed = ("grpo.validation_samples=1",)
    made = Setup(folder, "cpu", SHAPE, 0.1, 4, rows=8, tokens=20, overrides=SMALL, killed=killed)
    made.write()
    assert Setup.read(folder) == made
    assert gpu_parts.base(made)["weights"] > 6000 * 32
    return made


@pytest.fixture
def strict() -> Iterator[str]:
    """The kernels that we choose on a GPU, for the time of a test."""
    cudnn = torch.backends.cuda.cudnn_sdp_enabled()
    exact.choose(deterministic=True, patched=False)
    yield exact.chosen()
    exact.choose(deterministic=False, patched=False)
    torch.backends.cuda.enable_cudnn_sdp(cudnn)
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]


def kernels_of(owner: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is chosen whenever this is called."""
    kernels, called = list[str](), getattr(owner, name)

    def noted(*given: Any, **how: Any) -> Any:
        kernels.append(exact.chosen())
        return called(*given, **how)

    monkeypatch.setattr(owner, name, noted)
    return kernels


def test_without_a_gpu_it_says_so(setup: Setup, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu.main(["--folder", str(setup.folder)]) == 2
    assert gpu.main(["--folder", str(tmp_path)]) == 2
    assert gpu.main(["--folder", str(tmp_path), "--docs"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert "no usable CUDA device" in said[0] and "--prepare" in said[1] and "results.json is not there" in said[2]


def test_draws_are_timed_and_drawn_twice_alike(setup: Setup, strict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = kernels_of(Qwen3ForCausalLM, "generate", monkeypatch)
    seen = gpu_parts.draws(setup)
    assert [one.startswith(OTHERS) for one in kernels] == [True] and exact.chosen() == strict
    assert seen["drawn twice alike"] and seen["kernel by kernel alike"] and seen["rollout s"] > 0
    assert seen["graphs"] == 0  # a CPU captures none


def test_a_training_pass_and_a_step_beside_trls(setup: Setup, strict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL with the kernels that it gets where nobody chooses any."""
    assert gpu_parts.training(setup)["products per s"] > 0
    kernels = kernels_of(gpu_parts.Steps, "on_step_begin", monkeypatch)
    seen = gpu_parts.step(setup)
    assert seen["ratio"] > 0 and seen["ours tokens"] > 0 and seen["stock tokens"] > 0
    assert kernels[:2] == [strict] * 2 and [one.startswith(OTHERS) for one in kernels[2:]] == [True] * 2
    assert exact.chosen() == strict


@pytest.mark.long  # four trainings; what it shows of the product is shown by tests/test_training.py
def test_a_killed_training_ends_as_one_left_alone(setup: Setup) -> None:
    seen = gpu_parts.resume(setup)
    assert seen["killed"] and seen["alone twice alike"] and seen["killed alike"]
    assert {*seen["exit codes"].values()} == {0}


def test_a_part_that_fails_is_a_row_with_its_fault(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    run = gpu.Run(setup, float("inf"))
    (setup.folder / "draws.log").write_text("Traceback\nRuntimeError: a | b\n\n", encoding="utf-8")
    assert run.told("draws", "", 1) == {"fault": "RuntimeError: a | b"}
    assert run.told("draws", 'noise\n{"rollout s": 1.5}\n', 0) == {"rollout s": 1.5}
    rows = gpu.table({"draws": {"fault": "a | b"}, "step": {"ratio": 0.25}}).splitlines()
    assert rows[2:] == ["| draws | fault a / b |", "| step | ratio 0.25 |"]
    assert gpu.Run(setup, 0.0).part("draws") == {"fault": "not run: no time was left"}


def test_the_table_goes_between_its_marks() -> None:
    results: Any = {"step": {"ratio": 0.25}}
    page = gpu.into_the_page("before\n<!-- gpu -->\nold\n<!-- end -->\nafter", results)
    assert page == f"before\n<!-- gpu -->\n{gpu.table(results)}\n<!-- end -->\nafter"
    assert "<!-- gpu -->" in gpu.PAGE.read_text(encoding="utf-8")


def test_what_a_rehearsal_left_out_and_found_stands_in_its_row(tmp_path: Path) -> None:
    assert gpu.end_of(tmp_path) == {}
    text = "Stages\n  sft  1.0\n\nLeft out, so nothing is known of it\n  report: no time\n\nFaults: none\nGPU idle: 9 of 90 s\n"
    (tmp_path / "rehearsal.txt").write_text(text, encoding="utf-8")
    end = "Left out, so nothing is known of it; report: no time; Faults: none; GPU idle: 9 of 90 s"
    assert gpu.end_of(tmp_path) == {"end": end}


def test_both_profiles_are_rehearsed_with_the_base(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []

    def popen(command: list[str], **_: object) -> SimpleNamespace:
        started.append(command)
        return SimpleNamespace(wait=lambda timeout: 0)

    monkeypatch.setattr(gpu.subprocess, "Popen", popen)
    assert dict(gpu.Run(setup, float("inf")).rehearsals()) == {
        "rehearse l4-v5": {"exit code": 0}, "rehearse l4": {"exit code": 0},
    }  # fmt: skip
    assert [command[4] for command in started] == ["l4-v5", "l4"]
    assert all(f"model.name={setup.base}" in command for command in started)
