"""Settings of the comparison: `comparison.*`."""

from typing import Literal

from pydantic import Field, PositiveInt

from tucano.settings.base import RewardSetName, Section
from tucano.settings.model import LoadedModel
from tucano.settings.training.drawing import Completions

SAMPLED = 1.0
"""Temperature of the sampled decoding."""


class Asking(Section):
    """How the arms are asked, and what scores their answers."""

    rewards: RewardSetName = Field(
        "grounded", description="Reward set that scores the held-out answers, whatever was trained on."
    )
    served_temperature: float = Field(
        0.1, ge=0, le=2, description="Temperature an answer is served with; below 0.01 it is the likeliest."
    )
    samples: PositiveInt = Field(4, le=1000, description="Answers per prompt in the sampled decoding (T=1).")


class Judging(Section):
    """How answers are compared."""

    primary: Literal["served", "sampled"] = Field("served", description="Decoding that the primary test uses.")
    alpha: float = Field(0.05, gt=0, lt=0.5, description="Significance level of the primary test and of Holm's family.")
    truth_margin: float = Field(
        0.05,
        gt=0,
        le=1,
        description="«Better» needs a mean truth gain above minus this (95 % interval); 1 asks nothing.",
    )


class ComparisonSettings(Asking, Judging):
    """How arms are compared; fixed before training."""


class GreedyAnswersStage(Section):
    """What an arm's greedy answers follow from, beside its weights and the questions."""

    grpo: Completions
    model: LoadedModel
    base: str
    seed: int


class AnswersStage(GreedyAnswersStage):
    """What an arm's served and sampled answers follow from as well."""

    comparison: Asking


class PlanStage(Section):
    """What is fixed before training: the comparison's settings, and who is compared with whom."""

    comparison: ComparisonSettings
    seeds: tuple[int, ...]
    reference: str


class ComparisonStage(Section):
    """What the verdict follows from, beside the answers; `missing` are the seeds that were given up, and why, `unmoved`
    those whose best adapter is the one that they began with.
    """

    comparison: Judging
    planned: bool
    missing: tuple[tuple[int, str], ...]
    unmoved: tuple[int, ...]
    untrained_base: bool
