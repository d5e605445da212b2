"""What only a GPU would show, asked without one: empty tensors that say they are on CUDA, a module in unsloth's place."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from test_grpo_parity import settings, tiny, trainer
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from tucano.profiles import load_profile
from tucano.settings import ModelSettings
from tucano.settings.stages import of_grpo, of_sft
from tucano.training import grpo, sft
from tucano.training.grpo_trainer import of_completions
from tucano.training.policies import likelihood
from tucano.training.policies.load import load_policy
from tucano.training.rollouts.rollout import leave_out, replace_rows
from tucano.training.samplers import local

ROOT = Path(__file__).parent.parent


def as_unsloth_lays_out(prompts: int, width: int, tokens: int, device: str) -> dict[str, Tensor]:
    """Its output of TRL's names, with the one tensor that it leaves on the CPU."""
    ids = {
        f"{name}_ids": torch.ones(prompts, size, dtype=torch.long, device=device)
        for name, size in (("prompt", width), ("completion", tokens))
    }
    masks = {name.replace("ids", "mask"): torch.ones_like(tensor) for name, tensor in ids.items()}
    rest = {"advantages": torch.zeros(prompts, device=device), "num_items_in_batch": torch.tensor(3, device=device)}
    return {**ids, **masks, **rest, "max_left_pad": torch.tensor(prompts * [0]).unsqueeze(-1)}


def test_refilled_and_left_out_groups_stay_on_their_device() -> None:
    """Unsloth's `max_left_pad` is on the CPU: `index_copy` with rows on CUDA raised there, in the profile l4-v5."""
    with FakeTensorMode():
        rows = torch.tensor([2, 3], device="cuda")
        old, fresh = as_unsloth_lays_out(4, 5, 6, "cuda"), as_unsloth_lays_out(2, 7, 3, "cuda")
        merged = replace_rows(old, rows, fresh, 9)
        assert merged["prompt_ids"].shape == (4, 7) and merged["completion_ids"].shape == (4, 6)
        kept = leave_out(merged, torch.ones(4, dtype=torch.bool, device="cuda"))
        devices = {name: tensor.device.type for name, tensor in kept.items()}
    assert devices.pop("max_left_pad") == "cpu" and {*devices.values()} == {"cuda"}


def test_the_padding_that_unsloth_is_told_of_is_that_of_the_merged_batch() -> None:
    """Its loss counts by it where completions begin."""
    old, fresh = as_unsloth_lays_out(2, 3, 2, "cpu"), as_unsloth_lays_out(1, 5, 2, "cpu")
    merged = replace_rows(old, torch.tensor([1]), fresh, 9)
    assert merged["prompt_mask"].tolist() == [[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]
    assert merged["max_left_pad"].tolist() == [[2], [2]]


class Named(str):
    """In the place of a model."""

    generate = None


@pytest.fixture
def unsloth(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """What unsloth's loader is called with, by which of its functions."""
    calls: list[tuple[str, dict[str, Any]]] = []

    class FastLanguageModel:
        @staticmethod
        def from_pretrained(**given: Any) -> Any:
            calls.append(("from_pretrained", given))
            return Named("model"), "tokenizer"

        @staticmethod
        def get_peft_model(model: Any, **given: Any) -> Any:
            calls.append(("get_peft_model", given))
            return model

        @staticmethod
        def patch_peft_model(model: Any, **given: Any) -> Any:
            calls.append(("patch_peft_model", {"model": model, **given}))
            return model

    def attached(model: Any, folder: str, **_: Any) -> Named:
        return Named(f"{model} with {folder}")

    def read_back_base(model: Any, base: str, revision: str | None, missing: object) -> None:
        calls.append(("read_back_base", {"model": model, "base": base, "revision": revision}))

    monkeypatch.setitem(sys.modules, "unsloth", SimpleNamespace(FastLanguageModel=FastLanguageModel))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("tucano.training.checkpoints.weights.read_back", lambda *_: None)
    monkeypatch.setattr("tucano.training.policies.load._require_rank", lambda _: None)
    monkeypatch.setattr("tucano.training.policies.load.with_pad", lambda _, tokenizer: tokenizer)
    monkeypatch.setattr("tucano.training.checkpoints.weights.read_back_base", read_back_base)
    monkeypatch.setattr("tucano.training.policies.load.PeftModel.from_pretrained", attached)
    return calls


@pytest.mark.parametrize("adapter", [None, Path("adapter")])
def test_unsloth_loads_the_base_at_its_pinned_commit_with_an_adapter_too(
    adapter: Path | None, unsloth: list[tuple[str, dict[str, Any]]]
) -> None:
    """Given an adapter's folder it took the base that the adapter names, at `main`. For a new adapter it was told not to
    checkpoint gradients: 25 to 30 GB for 32 completions of 617 tokens.
    """
    model = ModelSettings(device="cuda", backend="unsloth", dtype="bfloat16", name="org/model", revision=40 * "a")
    load_policy(model, "org/model", adapter, trainable=True, seed=1)
    found = dict(unsloth)
    assert (found["from_pretrained"]["model_name"], found["from_pretrained"]["revision"]) == ("org/model", 40 * "a")
    assert found["read_back_base"] == {"model": "model", "base": "org/model", "revision": 40 * "a"}
    told = [given["use_gradient_checkpointing"] for name, given in unsloth if name != "read_back_base"]
    assert told == ["unsloth", "unsloth"] and ("patch_peft_model" in found) == (adapter is not None)


def test_on_a_gpu_trl_checkpoints_gradients_in_both_stages_and_on_a_cpu_in_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without, a step of 32 completions keeps the activations of every layer, and does not fit into an L4."""
    for config in ("tucano.training.grpo.GRPOConfig", "tucano.training.sft.SFTConfig"):
        monkeypatch.setattr(config, lambda **given: given)  # the real ones refuse bfloat16 where no GPU is
    job: Any = SimpleNamespace(save_steps=1, seed=1)
    for profile, expected in (("l4-v5", True), ("laptop", False)):
        chosen = load_profile(ROOT, profile, [])
        made: Any = (grpo.arguments(of_grpo(chosen, 1), tmp_path, 1), sft._arguments(of_sft(chosen, 1), tmp_path, job))
        assert [given["gradient_checkpointing"] for given in made] == [expected, expected]
        assert [given["use_cpu"] for given in made] == [not expected, not expected]


class Largest(TorchDispatchMode):
    """The most elements of any tensor that was made."""

    def __init__(self) -> None:
        super().__init__()
        self.elements = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        for tensor in torch.utils._pytree.tree_leaves(out):
            if isinstance(tensor, Tensor):
                self.elements = max(self.elements, tensor.numel())
        return out


@pytest.fixture
def wide(tmp_path: Path) -> Iterator[Any]:
    """A trainer whose model has a vocabulary much wider than itself."""
    made = trainer(tiny(tmp_path / "tiny"), tmp_path, settings(loss="dapo", entropy_coef=0.01))
    model = made.model.get_base_model()
    model.resize_token_embeddings(40_000)
    yield made


def batch(rows: int, prompt: int, tokens: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(3, 300, (rows, prompt + tokens), generator=generator)
    mask = torch.ones_like(ids)
    mask[0, :2], mask[1, -3:] = 0, 0
    return ids, mask


def test_the_head_on_a_gpu_gives_what_the_whole_logits_give_and_never_holds_them(wide: Any) -> None:
    """TRL's fused head, asked on a CPU: log-probabilities, entropies and gradients."""
    rows, tokens = 8, 12
    ids, mask = batch(rows, 6, tokens)
    seen = mask[:, -tokens:]
    found = {}
    for name, ask in (("whole", wide._full_logits_logps), ("fused", wide._chunked_logps)):
        wide.model.zero_grad()
        with Largest() as largest:
            logps, entropies, _ = ask(wide.model, ids, mask, tokens, compute_entropy=True)
            ((logps + 0.1 * entropies) * seen).sum().backward()
        gradients = [weight.grad.clone() for weight in wide.model.parameters() if weight.grad is not None]
        found[name] = (logps * seen, entropies * seen, gradients, largest.elements)
    (logps, entropies, gradients, most), (own, spread, slopes, ours) = found["whole"], found["fused"]
    torch.testing.assert_close(own, logps, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(spread, entropies, atol=1e-4, rtol=1e-4)
    for slope, gradient in zip(slopes, gradients, strict=True):
        torch.testing.assert_close(slope, gradient, atol=1e-4, rtol=1e-3)
    assert most >= rows * tokens * 40_000 > ours


def test_what_is_kept_follows_from_the_kind_of_gpu_and_the_share_of_a_child(
    wide: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not from the memory that is free at the moment, which is another one after a resume."""
    chosen = of_grpo(settings(), 1)
    monkeypatch.setattr(grpo, "packs", lambda _: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda *_: pytest.fail("asked for free memory"))
    rooms = []
    for name, mebibytes, share in (("NVIDIA L4", 20, 0.9), ("NVIDIA H200", 40, 0.9), ("NVIDIA H200", 40, 0.45)):
        known = SimpleNamespace(name=name, total_memory=mebibytes * 2**20)
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _, known=known: known)
        grpo._know_the_gpu(wide, chosen, share)
        rooms.append(wide.room)
    assert rooms[0] == rooms[2] > 0 and rooms[1] > rooms[0]
    assert wide.clock.peak == 989e12 and wide.clock.weights > 40_000 * 32


def test_the_operations_of_four_bits_are_those_of_all_weights(wide: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """bitsandbytes keeps two weights in a byte, and a byte as one entry of its tensor."""
    base = wide.model.get_base_model()
    weights = sum(weight.numel() for name, weight in base.named_parameters() if "lora_" not in name)
    for layer in [found for found in base.modules() if hasattr(found, "base_layer")]:
        half = torch.zeros(layer.base_layer.weight.numel() // 2, 1, dtype=torch.uint8)
        layer.base_layer.weight = torch.nn.Parameter(half, requires_grad=False)
    known = SimpleNamespace(name="NVIDIA L4", total_memory=2**30)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: known)
    grpo._know_the_gpu(wide, of_grpo(settings(), 1), 0.9)
    assert wide.clock.weights == weights


def test_measuring_holds_a_bounded_part_of_the_logits(wide: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It sent those of 32 sequences to the host in float32: 34 GB with a vocabulary of 152,000."""
    prompts, answers = [[5, 6, 7]] * 32, [[8, 9, 10, 11, 12]] * 32
    whole = likelihood.token_logps(wide.model, prompts, answers)
    monkeypatch.setattr(likelihood, "MOST_LOGITS", 4 * 8 * 40_000)
    with Largest() as largest:
        found = likelihood.token_logps(wide.model, prompts, answers)
    assert largest.elements <= 4 * 8 * 40_000
    for part, row in zip(found, whole, strict=True):
        torch.testing.assert_close(part, row, atol=1e-5, rtol=1e-5)


def test_batches_are_even_and_their_cache_is_bounded() -> None:
    """130 prompts were drawn as 128 and 2, which takes as long as 260."""
    config = SimpleNamespace(num_hidden_layers=28, num_key_value_heads=8, head_dim=128)
    model: Any = SimpleNamespace(config=config, dtype=torch.bfloat16)
    assert local.batches(130, local.rows_that_fit(model, 300)) == [(0, 65), (65, 130)]
    longest = 1536
    rows = local.rows_that_fit(model, longest)
    assert rows * longest * 28 * 2 * 8 * 128 * 2 <= local.CACHE_BYTES < (rows + 1) * longest * 28 * 2 * 8 * 128 * 2
    assert [end - start for start, end in local.batches(7, 3)] == [2, 2, 3] and local.batches(0, 3) == []


def test_rows_that_unsloth_moved_are_read_where_they_stand() -> None:
    """Two prompts of three places, one with a place of padding before it; three tokens of completion in each row."""
    wide = torch.tensor([[-1.0, -2.0, -3.0, 0.0], [0.0, -4.0, -5.0, -6.0]])
    prompts, completions = torch.tensor([[0, 1, 1], [1, 1, 1]]), torch.ones(2, 3, dtype=torch.int64)
    found = of_completions(wide, prompts, completions)
    assert found.tolist() == [[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0]]
    assert of_completions(found, prompts, completions) is found
