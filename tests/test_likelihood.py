"""Reading a shared prompt once gives the log-probabilities, entropies and gradients of reading every row whole."""

from typing import Any

import pytest
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from test_decode import VOCABULARY, random_prompts, tiny_model, with_random_adapter
from torch import Tensor

from tucano.training.policies.likelihood import completion_logps, token_logps

TEMPERATURE = 0.8


def batch(prompts: list[list[int]], completions: list[list[int]]) -> tuple[Tensor, Tensor, int]:
    """Prompts padded on the left with 0, completions on the right, as TRL lays them out."""
    width, length = max(map(len, prompts)), max(map(len, completions))
    rows = [[0] * (width - len(p)) + p + c + [0] * (length - len(c)) for p, c in zip(prompts, completions, strict=True)]
    masks = [
        [0] * (width - len(p)) + [1] * (len(p) + len(c)) + [0] * (length - len(c))
        for p, c in zip(prompts, completions, strict=True)
    ]
    return torch.tensor(rows), torch.tensor(masks), length


def rows() -> tuple[list[list[int]], list[list[int]]]:
    """Five prompts with three completions each, of 1 to 7 tokens."""
    prompts = [prompt for prompt in random_prompts(5) for _ in range(3)]
    generator = torch.Generator().manual_seed(8)
    return prompts, [torch.randint(1, VOCABULARY, (1 + row % 7,), generator=generator).tolist() for row in range(15)]


def gradients(model: torch.nn.Module, value: Tensor) -> dict[str, Tensor]:
    """Of every parameter that has one, by its name."""
    model.zero_grad()
    value.backward()
    return {name: weight.grad.clone() for name, weight in model.named_parameters() if weight.grad is not None}


def row_by_row(
    model: torch.nn.Module,
    prompts: list[list[int]],
    completions: list[list[int]],
    length: int,
    temperature: float = TEMPERATURE,
) -> tuple[Tensor, Tensor]:
    """The plain way: one unpadded sequence at a time."""
    logps, entropies = torch.zeros(len(prompts), length), torch.zeros(len(prompts), length)
    for row, (prompt, completion) in enumerate(zip(prompts, completions, strict=True)):
        if not completion:
            continue
        logits = model(input_ids=torch.tensor([prompt + completion])).logits[0, len(prompt) - 1 : -1] / temperature
        every = logits.log_softmax(dim=-1)
        logps[row, : len(completion)] = every.gather(1, torch.tensor(completion)[:, None]).squeeze(1)
        entropies[row, : len(completion)] = -(every.exp() * every).sum(dim=-1).detach()
    return logps, entropies


@pytest.mark.parametrize("has_adapter", [False, True])
def test_what_is_measured_is_the_same_once_a_trainer_has_prepared_the_model(has_adapter: bool) -> None:
    """A look that SIGTERM cut off is taken again by a model that no trainer has prepared yet."""
    model = tiny_model().to(torch.bfloat16)
    if has_adapter:
        model = with_random_adapter(model)
    prompts = random_prompts(4)
    answers = [[1 + row, 2, 3] for row in range(4)]
    before = token_logps(model, prompts, answers)
    AcceleratorState._reset_state(reset_partial_state=True)
    Accelerator(mixed_precision="bf16", cpu=True).prepare_model(model)
    AcceleratorState._reset_state(reset_partial_state=True)
    for expected, found in zip(before, token_logps(model, prompts, answers), strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=0)


def test_equal_to_reading_every_row_whole() -> None:
    model = with_random_adapter(tiny_model())
    prompts, completions = rows()
    ids, mask, length = batch(prompts, completions)
    weights = torch.randn(len(prompts), length, generator=torch.Generator().manual_seed(2))
    logps, entropies = completion_logps(model, ids, mask, length, TEMPERATURE, entropy_gradient=False)
    expected_logps, expected_entropies = row_by_row(model, prompts, completions, length)
    assert torch.allclose(logps, expected_logps, atol=1e-5)
    assert torch.allclose(entropies, expected_entropies, atol=1e-5)
    ours, theirs = (gradients(model, (found * weights).sum()) for found in (logps, expected_logps))
    assert ours.keys() == theirs.keys() and ours
    assert all(torch.allclose(ours[name], theirs[name], atol=2e-4, rtol=1e-4) for name in ours)


def test_measuring_reads_a_prompt_once_and_says_the_same_in_the_order_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """What samples of one prompt cost beside each other: it was read again with every one of them."""
    model = with_random_adapter(tiny_model())
    first, second, lonely = random_prompts(3)
    prompts = [first, second, first, lonely, first, second]
    completions = [[5, 6, 7], [8], [9, 10], [11, 12], [], [13, 14, 15, 16]]
    read: list[int] = []
    forward = model.forward

    def counted(*args: Any, **kwargs: Any) -> Any:
        read.append(kwargs["input_ids"].numel())
        return forward(*args, **kwargs)

    monkeypatch.setattr(model, "forward", counted)
    found = token_logps(model, prompts, completions)
    monkeypatch.undo()
    length = max(map(len, completions))
    expected, _ = row_by_row(model, prompts, completions, length, temperature=1)
    for logps, completion, row in zip(found, completions, expected, strict=True):
        torch.testing.assert_close(logps, row[: len(completion)], atol=1e-5, rtol=1e-5)
    assert sum(read) == len(first) + 2 * 3 + len(second) + 2 * 4 + len(lonely) + 2
