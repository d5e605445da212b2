"""Settings of the preflight: `preflight.*`."""

from typing import Literal

from pydantic import Field

from tucano.settings.base import Section

CheckName = Literal[
    "learning rate", "generation", "chat template", "tokenizer", "pad and end tokens", "key-value cache", "completion length",
    "signal: extraction", "signal: sql_qa", "signal: insights", "signal: push", "finite", "gradient flow", "memory",
]  # fmt: skip
"""The checks of the preflight that can be red."""


class PreflightSettings(Section):
    """The checks between SFT and the first GRPO step."""

    allow_red: tuple[CheckName, ...] = Field((), description="Checks that may be red, like `signal: push`; recorded with the run.")
