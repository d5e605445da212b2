"""Settings of the preflight: `preflight.*`."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from tucano.prompts import TASKS
from tucano.settings.base import Section

SIGNALS = {task: f"signal: {task}" for task in TASKS}
CHECKS = (
    "learning rate", "generation", "chat template", "tokenizer", "pad and end tokens", "key-value cache",
    "context", "completion length", "served length", "quantisation", *SIGNALS.values(), "finite", "sampler",
    "gradient flow", "memory", "think block", "thoughts", "marks of a thought",
)  # fmt: skip
"""The checks of the preflight that can be red."""
if TYPE_CHECKING:
    CheckName = str
else:
    CheckName = Literal[CHECKS]


class PreflightSettings(Section):
    """The checks between SFT and the first GRPO step."""

    allow_red: tuple[CheckName, ...] = Field(
        (), description="Checks of docs/health.md that may be red, like `signal: push`."
    )
    steps: int = Field(
        20, ge=12, le=1000, description="Optimizer steps that it makes and throws away; memory must stand after five."
    )
