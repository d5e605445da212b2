"""A policy under examination: it answers prompts, and every completion gets its reward and its truth.

A bad completion is data: it scores low. Nothing here raises because of what a model wrote.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import PreTrainedTokenizerBase

from rewards import RewardSet, Score
from tucano.prompts import Prompt
from tucano.thoughts import thinks
from tucano.training.checkpoints.weights import Policy
from tucano.training.policies.chat import encode, stop_tokens
from tucano.training.policies.per_task import drawn_by_speaker
from tucano.training.policies.reading import Reader
from tucano.training.samplers import Decoding, Sampler
from tucano.truth import truth


@dataclass(frozen=True, slots=True)
class ScoredCompletion:
    """One completion of one prompt, with what it earned. text: without its thought; see `Said` for the thought."""

    prompt: Prompt
    tokens: list[int]
    text: str
    truncated: bool
    score: Score
    truth: float | None
    think_tokens: int = 0
    thought_cut: bool = False


@dataclass(frozen=True, slots=True)
class Examiner:
    """Lets a policy answer prompts and scores the answers: rewards of one set, and the truth where it is known."""

    tokenizer: PreTrainedTokenizerBase
    system_prompts: dict[str, str]
    rewards: RewardSet
    databases: Path
    max_new_tokens: int
    sampler: Sampler
    max_think_tokens: int | None = None

    def answer(
        self, model: Policy, prompts: Sequence[Prompt], samples: int, temperature: float, seed: int
    ) -> list[ScoredCompletion]:
        """`samples` scored completions per prompt, those of one prompt side by side. Own random stream;
        training's is not touched. Where tasks have adapters of their own, each prompt is answered by its task's.
        """
        was_training = model.training
        model.eval()
        generator = torch.Generator().manual_seed(seed)
        repeated = [prompt for prompt in prompts for _ in range(samples)]
        ids = encode(self.tokenizer, repeated, self.system_prompts)
        stop = stop_tokens(model, self.tokenizer)
        decoding = Decoding(self.max_new_tokens, temperature, tuple(stop))
        tasks = [prompt.task for prompt in repeated]
        draws = drawn_by_speaker(self.sampler, model, tasks, ids, decoding, generator)
        model.train(was_training)
        drawn = [draw.tokens for draw in draws]
        reader = Reader(self.tokenizer, self.max_think_tokens)
        return [
            ScoredCompletion(
                prompt,
                tokens,
                said.answer,
                tokens[-1] not in stop,
                self.rewards.score(prompt, said.answer),
                truth(prompt, said.answer, self.databases),
                said.think_tokens,
                said.cut,
            )
            for prompt, tokens in zip(repeated, drawn, strict=True)
            for said in [reader.read(tokens, self.system_prompts[prompt.task])]
        ]

    def thinks(self, task: str) -> bool:
        """Whether a task is answered after a thought."""
        return thinks(self.system_prompts[task])
