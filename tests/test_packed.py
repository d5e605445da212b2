"""A pass over packed rows gives the log-probabilities, entropies and gradients of rows alone; none sees another."""

from pathlib import Path

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from test_decode import tiny_model
from test_gpu_without_one import Largest
from test_likelihood import TEMPERATURE, batch, gradients, row_by_row, rows

from tucano.profiles import load_profile
from tucano.training.policies import fused
from tucano.training.policies.load import lora_config
from tucano.training.policies.packed import packed_logps, packs

LORA = lora_config(load_profile(Path(__file__).parent.parent, "laptop", []).model)
LAYERS = 3


def adapted(dtype: torch.dtype = torch.float32, **changed: object) -> PeftModel:
    model = get_peft_model(tiny_model().to(dtype), LoraConfig(**{**LORA.to_dict(), **changed}))
    for name, weight in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.2)
    return model.train()


def test_packed_rows_give_what_rows_alone_give() -> None:
    policy = adapted()
    prompts, completions = rows()
    ids, mask, length = batch(prompts, completions)
    weights = torch.randn(len(prompts), length, generator=torch.Generator().manual_seed(2))
    logps, entropies = packed_logps(policy, ids, mask, length, TEMPERATURE, room=0)
    expected_logps, expected_entropies = row_by_row(policy, prompts, completions, length)
    torch.testing.assert_close(logps, expected_logps, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(entropies, expected_entropies, atol=1e-5, rtol=1e-5)
    ours = gradients(policy, (logps * weights).sum())
    theirs = gradients(policy, (expected_logps * weights).sum())
    assert ours.keys() == theirs.keys() and len(ours) == LAYERS * 7 * 2
    for name, slope in ours.items():
        torch.testing.assert_close(slope, theirs[name], atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("kept", [1, LAYERS])
def test_how_many_layers_are_kept_changes_no_bit(kept: int) -> None:
    policy = adapted()
    ids, mask, length = batch(*rows())
    found = [packed_logps(policy, ids, mask, length, 1.0, room)[0] for room in (0, kept * int(mask.sum()))]
    slopes = [gradients(policy, logps.sum()) for logps in found]
    assert torch.equal(*found) and all(torch.equal(slopes[0][name], slopes[1][name]) for name in slopes[0])


def test_a_batch_of_no_learned_token_has_a_gradient_of_zero() -> None:
    """TRL hides completions that were cut off, if asked to."""
    policy = adapted()
    ids, mask, length = batch([[9, 10]], [[5, 6]])
    mask[:, -length:] = 0
    logps, _ = packed_logps(policy, ids, mask, length, 1.0, 0)
    assert not logps.any() and not any(slope.any() for slope in gradients(policy, logps.sum()).values())


@pytest.mark.parametrize(
    ("dtype", "changed", "expected"),
    [
        (torch.bfloat16, {}, True),
        (torch.float32, {}, False),
        (torch.bfloat16, {"lora_dropout": 0.1}, False),
        (torch.bfloat16, {"target_modules": ["q_proj"]}, False),
        (torch.bfloat16, {"use_dora": True}, False),
    ],
)
def test_what_it_cannot_read_is_left_to_trl(dtype: torch.dtype, changed: dict[str, object], expected: bool) -> None:
    policy = adapted(dtype, **changed)
    assert packs(policy) is expected
    with policy.disable_adapter():  # as TRL asks for the reference
        assert not packs(policy)


def test_adapter_inputs_stay_in_16_bits_and_their_sums_are_in_32() -> None:
    """Against exact products the gradients of A and B are as good as their factors; nothing as large as x is float32."""
    generator = torch.Generator().manual_seed(3)
    x, fixed, first, second = (
        torch.randn(*shape, generator=generator) for shape in ((400, 64), (96, 64), (4, 64), (96, 4))
    )
    x = x.bfloat16().requires_grad_()
    fixed = fixed.bfloat16()
    first, second = (weight.bfloat16().float().requires_grad_() for weight in (first, second))
    with Largest() as largest:
        (out,) = fused.Adapted.apply(x, 2.0, fixed, first, second)
    change = torch.randn(out.shape, generator=generator).bfloat16()
    found = torch.autograd.grad(out, (x, first, second), change)
    exact = [tensor.detach().double().requires_grad_() for tensor in (x, first, second)]
    whole = exact[0] @ fixed.double().T + 2 * (exact[0] @ exact[1].T) @ exact[2].T
    expected = torch.autograd.grad(whole, exact, change.double())
    assert [slope.dtype for slope in found] == [torch.bfloat16, torch.float32, torch.float32]
    assert largest.elements == out.numel()
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours - theirs).norm() <= 4e-3 * theirs.norm()


def test_the_ways_back_are_those_of_the_formulas() -> None:
    angles = torch.randn(5, 4, dtype=torch.float64).repeat(1, 2)
    x, gates, ups = (
        torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((5, 3, 8), (5, 6), (5, 6))
    )
    assert torch.autograd.gradcheck(fused.Rotated.apply, (x, angles.cos(), angles.sin()))
    assert torch.autograd.gradcheck(fused.Gated.apply, (gates, ups))
