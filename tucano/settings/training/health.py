"""Settings of the health watch: `health.*`."""

from typing import Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from tucano.settings.base import Section, Share

AlarmName = Literal[
    "not_finite",
    "no_signal",
    "entropy_gone",
    "at_ceiling",
    "reward_scale",
    "rate_gone",
    "sampler_apart",
    "task_starved",
    "policy_still",
    "collapse",
    "hacking",
]


class HealthSettings(Section):
    """When a GRPO run raises an alarm, and which alarms end it."""

    window: PositiveInt = Field(5, description="Steps that a mean is taken over before it can raise an alarm.")
    zero_variance_share: Share = Field(
        0.9, description="no_signal: share of a task's groups whose completions all earn the same."
    )
    entropy_floor: NonNegativeFloat = Field(0.01, description="entropy_gone: mean entropy in nats per token.")
    ceiling_share: Share = Field(0.5, description="at_ceiling: share of completions cut off at the ceiling.")
    kl_floor: NonNegativeFloat = Field(
        1e-7, description="policy_still: mean token KL to the start on fixed validation completions, nats."
    )
    sampler_gap: PositiveFloat = Field(
        0.05, description="sampler_apart: mean difference of sampler and trainer, in nats per token."
    )
    collapse_share: Share = Field(0.3, description="collapse: this far below the best validation reward, at two looks.")
    hacking_z: PositiveFloat = Field(
        2.0, description="hacking: reward up and ground truth down by so many standard errors, at two looks."
    )
    stop_on: tuple[AlarmName, ...] = Field(
        ("not_finite", "reward_scale", "collapse"),
        description="Alarms of docs/health.md that end the run; others warn.",
    )
