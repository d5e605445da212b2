"""The decode loop draws what transformers would: equal greedy tokens, with an adapter, padding, repeats and stops."""

import os
import signal
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from peft import LoraConfig, PeftModel, get_peft_model
from torch._subclasses.fake_tensor import FakeTensorMode
from transformers import Qwen3Config, Qwen3ForCausalLM

from tucano.errors import UserError
from tucano.profiles import validated
from tucano.training.checkpoints import interruption
from tucano.training.samplers import LOWEST_TEMPERATURE, Decoding
from tucano.training.samplers.decode import Decoder, draw, supports

VOCABULARY, STOP = 61, 7


def tiny_model(seed: int = 0) -> Qwen3ForCausalLM:
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=128,
        initializer_range=0.3,  # far from uniform, so that greedy ties do not occur
        eos_token_id=STOP,
        pad_token_id=0,
    )
    return Qwen3ForCausalLM(config).eval()


def with_random_adapter(model: Qwen3ForCausalLM) -> PeftModel:
    adapted = get_peft_model(
        model, LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "o_proj", "gate_proj", "down_proj"])
    )
    for name, weight in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.2)
    return adapted.eval()


@pytest.mark.parametrize(
    ("device", "precision", "supported"),
    [
        ("cuda", torch.bfloat16, True), ("cuda", torch.float32, True), ("cuda", torch.uint8, False),
        ("cpu", torch.bfloat16, False), ("cpu", torch.float32, True),
    ],
)  # fmt: skip
def test_a_policy_in_16_bits_is_drawn_from_by_this_loop_on_a_gpu_and_one_in_4_bits_is_not(
    device: str, precision: torch.dtype, supported: bool
) -> None:
    """With parameters that say where they are and hold nothing: l4-v5 would fall back to `generate` unseen."""
    with FakeTensorMode():
        weights = [torch.ones(2, device=device), torch.ones(2, device=device).to(precision)]
    stand_in = SimpleNamespace(config=tiny_model().config, parameters=lambda: iter(weights))
    assert supports(stand_in) == supported


def greedy_by_transformers(model: Qwen3ForCausalLM | PeftModel, prompt: list[int], limit: int) -> list[int]:
    """One prompt at a time, so that padding cannot matter."""
    output = model.generate(
        input_ids=torch.tensor([prompt]),
        attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
        max_new_tokens=limit,
        do_sample=False,
        eos_token_id=STOP,
        pad_token_id=0,
    )
    return output[0, len(prompt) :].tolist()


def random_prompts(count: int) -> list[list[int]]:
    generator = torch.Generator().manual_seed(3)
    lengths = torch.randint(1, 20, (count,), generator=generator).tolist()
    return [torch.randint(8, VOCABULARY, (length,), generator=generator).tolist() for length in lengths]


def test_greedy_tokens_equal_those_of_transformers() -> None:
    """With an adapter on some of its matrices."""
    model, prompts = with_random_adapter(tiny_model()), random_prompts(24)
    ours = Decoder(model).sample(prompts + prompts[:5], 40, [STOP], temperature=0)
    assert min(map(len, ours)) < 40 == max(map(len, ours)), "or the batch never shrank"
    assert ours[:24] == [greedy_by_transformers(model, prompt, 40) for prompt in prompts]
    assert ours[24:] == ours[:5]


def test_in_16_bits_each_greedy_token_is_one_that_transformers_might_choose() -> None:
    """Sums in another order differ by roundings of 16 bits, so the best of two near ones may be either."""
    model, prompts = with_random_adapter(tiny_model()).to(torch.bfloat16), random_prompts(6)
    for prompt, tokens in zip(prompts, Decoder(model).sample(prompts, 20, [STOP], temperature=0), strict=True):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([[*prompt, *tokens]])).logits[0, len(prompt) - 1 : -1].float()
        chosen = logits.gather(1, torch.tensor(tokens)[:, None]).squeeze(1)
        spread = (logits.max(dim=1).values - logits.mean(dim=1)).mean()
        assert (logits.max(dim=1).values - chosen).max() < 0.05 * spread


def test_sampling_follows_the_softmax_at_the_temperature() -> None:
    model, prompt, temperature, draws = tiny_model(), [9, 10, 11], 0.7, 20_000
    with torch.no_grad():
        expected = torch.softmax(model(input_ids=torch.tensor([prompt])).logits[0, -1] / temperature, dim=-1)
    drawn = Decoder(model).sample([prompt] * draws, 1, [STOP], temperature, torch.Generator().manual_seed(1))
    seen = torch.bincount(torch.tensor(drawn).flatten(), minlength=VOCABULARY) / draws
    assert torch.allclose(seen, expected, atol=4 * (0.25 / draws) ** 0.5)


def test_the_same_generator_draws_the_same_and_leaves_the_global_one_alone() -> None:
    decoder, prompts, before = Decoder(tiny_model()), random_prompts(6), torch.get_rng_state()
    first, second = (decoder.sample(prompts, 20, [STOP], 1.0, torch.Generator().manual_seed(5)) for _ in range(2))
    assert first == second
    assert torch.equal(before, torch.get_rng_state())


def test_sigterm_ends_a_rollout_at_the_next_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interruption, "_requested", False)
    before = signal.getsignal(signal.SIGTERM)
    interruption.listen()
    decoder = Decoder(tiny_model())
    decoder.sample([[1, 2, 3]], 5, [], 1.0)
    os.kill(os.getpid(), signal.SIGTERM)
    with pytest.raises(interruption.Interrupted):
        decoder.sample([[1, 2, 3]], 5, [], 1.0)
    signal.signal(signal.SIGTERM, before)


@given(st.floats(0, 2))
def test_whatever_temperature_is_asked_for_a_likely_token_is_drawn(temperature: float) -> None:
    drawn = draw(torch.tensor([[0.0, 90.0, 1.0]]), Decoding(8, temperature, (0,)).temperature, None)
    assert drawn.tolist() == [1]


@pytest.mark.parametrize(("asked", "drawn_at"), [(0.0, 0.0), (1e-38, 0.0), (0.0099, 0.0), (LOWEST_TEMPERATURE, 0.01)])
def test_below_the_lowest_temperature_is_greedy(asked: float, drawn_at: float) -> None:
    assert Decoding(8, asked, (0,)).temperature == drawn_at


def test_nothing_is_judged_at_a_temperature_that_no_sampler_draws_at() -> None:
    with pytest.raises(UserError, match="served_temperature"):
        validated({"comparison": {"served_temperature": 2.5}})
