"""Reading a shared prompt once gives the log-probabilities, entropies and gradients of reading every row whole."""

import torch
from test_decode import VOCABULARY, random_prompts, tiny_model, with_random_adapter
from torch import Tensor

from tucano.training.policies.likelihood import completion_logps

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


def row_by_row(
    model: torch.nn.Module, prompts: list[list[int]], completions: list[list[int]], length: int
) -> tuple[Tensor, Tensor]:
    """The plain way: one unpadded sequence at a time."""
    logps, entropies = torch.zeros(len(prompts), length), torch.zeros(len(prompts), length)
    for row, (prompt, completion) in enumerate(zip(prompts, completions, strict=True)):
        logits = model(input_ids=torch.tensor([prompt + completion])).logits[0, len(prompt) - 1 : -1] / TEMPERATURE
        every = logits.log_softmax(dim=-1)
        logps[row, : len(completion)] = every.gather(1, torch.tensor(completion)[:, None]).squeeze(1)
        entropies[row, : len(completion)] = -(every.exp() * every).sum(dim=-1).detach()
    return logps, entropies


def test_equal_to_reading_every_row_whole() -> None:
    model = with_random_adapter(tiny_model())
    prompts = [prompt for prompt in random_prompts(5) for _ in range(3)]
    generator = torch.Generator().manual_seed(8)
    completions = [
        torch.randint(1, VOCABULARY, (1 + row % 7,), generator=generator).tolist() for row in range(len(prompts))
    ]
    ids, mask, length = batch(prompts, completions)
    weights = torch.randn(len(prompts), length, generator=generator)

    def gradients(logps: Tensor) -> list[Tensor]:
        model.zero_grad()
        (logps * weights).sum().backward()
        return [weight.grad.clone() for weight in model.parameters() if weight.grad is not None]

    logps, entropies = completion_logps(model, ids, mask, length, TEMPERATURE, entropy_gradient=False)
    expected_logps, expected_entropies = row_by_row(model, prompts, completions, length)
    assert torch.allclose(logps, expected_logps, atol=1e-5)
    assert torch.allclose(entropies, expected_entropies, atol=1e-5)
    ours, theirs = gradients(logps), gradients(expected_logps)
    assert len(ours) == len(theirs) > 0
    assert all(torch.allclose(a, b, atol=2e-4, rtol=1e-4) for a, b in zip(ours, theirs, strict=True))
