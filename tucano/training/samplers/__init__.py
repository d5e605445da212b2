"""Who draws completions from a policy: this process (samplers/local.py) or a vLLM server beside it (samplers/vllm.py).

Rollouts, validation and answers ask one of them; `samplers.opening.opened` makes the one that the settings name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from tucano.training.checkpoints.weights import Policy

LOWEST_TEMPERATURE = 0.01
"""Below it a completion is drawn greedily by every sampler: vLLM would draw at this temperature instead, and logits
divided by 1e-38 are infinite.
"""


@dataclass(frozen=True, slots=True)
class Decoding:
    """How completions are drawn. temperature: 0 is greedy, and so is all below `LOWEST_TEMPERATURE`. stop: ids of the
    tokens that end a completion. form: a JSON schema that each completion has to have the form of.
    """

    max_new_tokens: int
    temperature: float
    stop: tuple[int, ...]
    form: str | None = None

    def __post_init__(self) -> None:
        if self.temperature < LOWEST_TEMPERATURE:
            object.__setattr__(self, "temperature", 0.0)


@dataclass(frozen=True, slots=True)
class Draw:
    """One completion. tokens: its ids, with the token that ended it. logps: what each had as its log-probability where
    it was drawn (nats, at the sampling temperature); None where the trainer itself draws, and can say so exactly.
    """

    tokens: list[int]
    logps: list[float] | None = None


class Sampler(Protocol):
    """Draws from a policy as its weights are at the moment of asking."""

    def sample(
        self,
        policy: Policy,
        prompts: Sequence[Sequence[int]],
        decoding: Decoding,
        generator: torch.Generator | None = None,
    ) -> list[Draw]:
        """One draw for each of the prompts (token ids), in their order. Without a generator torch's own is used."""

    def close(self) -> None:
        """Let go of whatever it has started."""
