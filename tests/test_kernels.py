"""Which kernels a process computes with: what raises on a GPU in strict mode raises here; `python -m benchmarks.first_bits`
is the long look at a CPU's.
"""

import io
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from test_decode import STOP, random_prompts, tiny_model
from test_grpo_parity import logps_of, ours, settings, tiny
from test_likelihood import batch, rows
from test_packed import adapted
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from tucano.errors import UserError
from tucano.training.algorithms.blockwise import baselines
from tucano.training.answering import child
from tucano.training.answering.messages import Opening, line
from tucano.training.checkpoints import arithmetic
from tucano.training.grpo_trainer import GrpoMixin
from tucano.training.policies.likelihood import token_logps
from tucano.training.policies.packed import packed_logps
from tucano.training.samplers import slots
from tucano.training.samplers.decode import Decoder

RAISING = (
    "nll_loss2d", "median.dim", "kthvalue", "histc", "put_.", "ctc_loss", "embedding_bag", "max_unpool",
    "grid_sampler",
)  # fmt: skip
"""Of torch.use_deterministic_algorithms, those of this project's field; `cumsum` and `cumprod` of floats besides."""


class StrictCuda(TorchDispatchMode):
    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(operation).removeprefix("aten.")
        running = (
            name.startswith(("cumsum", "cumprod")) and args[0].is_floating_point() and not (kwargs or {}).get("dtype")
        )
        if running or any(name.startswith(one) for one in RAISING):
            raise RuntimeError(f"{name} does not have a deterministic implementation")
        return operation(*args, **(kwargs or {}))


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    cudnn, threads = torch.backends.cuda.cudnn_sdp_enabled(), torch.get_num_threads()
    handler = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, handler)
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)
    torch.utils.deterministic.fill_uninitialized_memory = True  # type: ignore[attr-defined]
    torch.backends.cuda.enable_cudnn_sdp(cudnn)


def test_the_stand_in_raises_as_cuda_does() -> None:
    with StrictCuda(), pytest.raises(RuntimeError, match="cumsum"):
        torch.rand(3).cumsum(0)
    logits, labels = torch.rand(2, 5, 3), torch.zeros(2, 3, dtype=torch.long)
    with StrictCuda(), pytest.raises(RuntimeError, match="nll_loss2d"):
        torch.nn.functional.cross_entropy(logits, labels)
    with StrictCuda():
        assert torch.ones(3, dtype=torch.long).cumsum(0).tolist() == [1, 2, 3]


def test_a_packed_pass_has_a_deterministic_form() -> None:
    policy = adapted()
    with StrictCuda():
        packed_logps(policy, *batch(*rows()), 1.0, room=0)[0].sum().backward()
    assert all(weight.grad is not None for name, weight in policy.named_parameters() if "lora_" in name)


def test_draws_and_likelihoods_have_a_deterministic_form() -> None:
    model, prompts = tiny_model(), random_prompts(3)
    with StrictCuda():
        drawn = slots.sample(Decoder(model), prompts, 20, [STOP], 1.0, torch.Generator().manual_seed(1))
        found = token_logps(model, prompts, drawn)
        baselines(torch.rand(4, 3))
    for prompt, tokens, logps in zip(prompts, drawn, found, strict=True):
        assert torch.allclose(logps, logps_of(model, prompt, tokens), atol=1e-5)


@pytest.mark.parametrize(
    "chosen",
    [
        {"advantages": "gdpo", "task_weights": "iwu", "loss": "dapo", "overlong_tokens": 2, "entropy_coef": 0.01},
        {"advantages": "median", "drop_zero_variance": True, "refill_rounds": 1, "beta": 0.01, "iterations": 2},
    ],
)
def test_grpo_steps_are_deterministic(chosen: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn, scored, trained and validated as on a GPU: by its loop and TRL's head."""

    def fused(self: Any, model: Any, ids: Tensor, mask: Tensor, kept: int, *_: Any, **named: Any) -> Any:
        return self._chunked_logps(model, ids, mask, kept, compute_entropy=named.get("compute_entropy", False))

    monkeypatch.setattr(GrpoMixin, "_get_per_token_logps_and_entropies", fused)
    monkeypatch.setattr(Decoder, "sample", lambda self, *given: slots.sample(self, *given[:5]))
    short = {"max_steps": 2, "eval_steps": 2, "save_steps": 2}
    with StrictCuda():
        logged, adapter = ours(tiny(tmp_path / "tiny"), tmp_path / "run", settings(**short, **chosen))
    assert len(logged) >= 2 and any(weight.abs().max() > 0 for name, weight in adapter.items() if "lora_B" in name)


def test_what_is_chosen_is_recorded_and_compared(tmp_path: Path) -> None:
    arithmetic.choose(deterministic=True, patched=False)
    assert torch.are_deterministic_algorithms_enabled() and not torch.is_deterministic_algorithms_warn_only_enabled()
    strict = arithmetic.chosen()
    assert strict.startswith("attention flash, efficient, math; deterministic; ")
    arithmetic.choose(deterministic=True, patched=True)
    assert "; deterministic where torch is strict (warn only); " in arithmetic.chosen()
    arithmetic.choose(deterministic=False, patched=False)
    assert arithmetic.chosen().startswith("attention flash, efficient, math; any order")
    had = arithmetic.Arithmetic(1, "NVIDIA L4", "same", strict)
    arithmetic.write([had], tmp_path)
    here = arithmetic.Arithmetic(1, "NVIDIA L4", "same", arithmetic.chosen())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arithmetic, "measured", lambda *_: here)
        computed, said = arithmetic.settle(tmp_path, 1, "cuda")
    assert computed == [had, here] and said is not None and "any order" in said and "deterministic" in said


@pytest.mark.parametrize(
    ("device", "chosen"),
    [("cuda", "attention flash, efficient, math; deterministic"), ("cpu", "attention flash, efficient, math, cudnn;")],
)
def test_the_process_that_serves_computes_as_the_one_that_was_compared(
    device: str, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else every new length of an answer would wait for a plan of cuDNN's."""
    found = []

    def load(_: Opening) -> None:
        found.append(arithmetic.chosen())
        raise UserError("there is no model")

    monkeypatch.setattr(child, "load", load)
    monkeypatch.setattr(child, "quieten_libraries", lambda: None)
    torch.backends.cuda.enable_cudnn_sdp(True)
    opening = Opening("folder", {"device": device}, {}, threads=1, seed=7, log="log")
    assert child.main(io.BytesIO(line(opening)), io.BytesIO()) == 1
    assert [one.startswith(chosen) for one in found] == [True]


MATHS = ("exp", "log", "sin", "cos", "tanh", "erf", "sqrt", "erfinv", "rsqrt")


def test_one_thread_alone_calls_each_function_of_both_precisions_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first computation of a process gives the bits of all others."""
    torch.set_num_threads(2)
    called: set[tuple[str, torch.dtype, int]] = set()

    def watched(name: str) -> Any:
        return lambda x: called.add((name, x.dtype, torch.get_num_threads()))

    for name in MATHS:
        monkeypatch.setattr(torch, name, watched(name))
    arithmetic.compute_with(3)
    assert called == {(name, dtype, 1) for name in MATHS for dtype in (torch.float32, torch.float64)}
    assert torch.get_num_threads() == 3
