"""How answers are drawn, scored and looked at: what GRPO and what comes after it share, under `grpo.*`."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field, PositiveInt

from tucano.settings.base import RewardSetName, Section, Share


class Completions(Section):
    """How a model answers, whoever asks."""

    max_completion_tokens: PositiveInt = Field(
        512, le=2**17, description="Ceiling of a completion. TRL: max_completion_length."
    )
    max_think_tokens: PositiveInt | None = Field(
        None, le=2**17, description="Longest thought; after a longer one there is no answer. null: no limit of its own."
    )
    sampler: Literal["local", "vllm"] = Field(
        "local", description="Who draws completions: the trainer, or a vLLM server beside it. TRL: use_vllm."
    )
    own_decoding: bool = Field(
        True, description="Own decode loop and training pass; off: those of transformers and TRL."
    )


class Drawing(Completions):
    """How a group of answers is drawn and scored."""

    rewards: RewardSetName = Field("grounded", description="Reward set that is trained on. TRL: reward_funcs.")
    generations: int = Field(16, ge=2, le=1024, description="Completions per prompt: a group. TRL: num_generations.")
    temperature: float = Field(
        1.0, ge=0.5, le=2, description="Sampling temperature; below 0.5 groups collapse to copies."
    )


class Admission(Section):
    """Training prompts that GRPO draws from: those that its start answers neither too well nor too badly."""

    low: Share = Field(0.2, description="Lowest mean reward of a prompt's answers.")
    high: Share = Field(0.8, description="Highest mean reward of a prompt's answers.")
    samples: int = Field(8, ge=2, le=1024, description="Answers of the start to each prompt, drawn as in rollouts.")
    prompts: PositiveInt | None = Field(
        None, le=10**6, description="Training prompts that are tried, drawn at random; null: all. Others are left out."
    )

    def _faults(self) -> Iterator[str]:
        if self.low >= self.high:
            yield f"grpo.admission.low={self.low} is not below grpo.admission.high={self.high}"


class Looking(Section):
    """How the validation set is looked at."""

    validation_samples: PositiveInt = Field(
        2, le=1000, description="Sampled answers per validation prompt in an evaluation. TRL: num_generations_eval."
    )
    selection: Literal["reward", "truth"] = Field(
        "reward", description="What chooses the best checkpoint: the reward, or the ground-truth metric."
    )
