"""How answers are drawn, scored and looked at: what GRPO and what comes after it share, under `grpo.*`."""

from typing import Literal

from pydantic import Field, PositiveInt

from tucano.settings.base import RewardSetName, Section


class Completions(Section):
    """How a model answers, whoever asks."""

    max_completion_tokens: PositiveInt = Field(
        512, le=2**17, description="Ceiling of a completion. TRL: max_completion_length."
    )
    max_think_tokens: PositiveInt | None = Field(
        None,
        le=2**17,
        description="Tokens that a thought before an answer may have (data.thinking); after a longer one there is no"
        " answer. null: as many as a completion may have.",
    )
    sampler: Literal["local", "vllm"] = Field(
        "local",
        description=(
            "Who draws completions: the training process itself, or a vLLM server beside it, which is many times faster"
            " on a GPU. TRL: use_vllm."
        ),
    )
    own_decoding: bool = Field(
        True,
        description=(
            "Own decode loop, on a CPU every prompt read once, on a GPU rows packed; off: as transformers and TRL do."
        ),
    )


class Drawing(Completions):
    """How a group of answers is drawn and scored."""

    rewards: RewardSetName = Field("grounded", description="Reward set that is trained on. TRL: reward_funcs.")
    generations: int = Field(
        16,
        ge=2,
        le=1024,
        description="Completions per prompt: the group that advantages are relative to. TRL: num_generations.",
    )
    temperature: float = Field(
        1.0, ge=0.5, le=2, description="Sampling temperature; below 0.5 groups collapse to copies."
    )


class Looking(Section):
    """How the validation set is looked at."""

    validation_samples: PositiveInt = Field(
        2, le=1000, description="Sampled answers per validation prompt in an evaluation. TRL: num_generations_eval."
    )
    selection: Literal["reward", "truth"] = Field(
        "reward", description="What chooses the best checkpoint: the reward, or the ground-truth metric."
    )
