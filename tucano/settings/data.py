"""Settings of the data: `data.*`."""

from typing import Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from tucano.prompts import Task
from tucano.security.texts import Line
from tucano.settings.base import Section, Share

SMALLEST_STRATUM = 5
"""Fewer prompts of a task than this cannot be compared: an exact one-sided signed-rank test of 4 cannot reach p <
.05.
"""


class PromptPlan(Section):
    """Which prompts are made, and how many."""

    source: Literal["synthetic", "olist", "b2w"] = Field(
        "synthetic", description="Generated data, a folder of Olist CSVs, or a B2W review CSV."
    )
    train_prompts: PositiveInt = Field(1480, le=1_000_000, description="Training prompts over all tasks.")
    validation_prompts: PositiveInt = Field(65, le=100_000, description="Prompts that choose the checkpoint.")
    test_prompts: PositiveInt = Field(
        65, le=100_000, description="Held-out prompts that judge; never used to choose anything."
    )
    demonstrations: NonNegativeInt = Field(
        3000, le=1_000_000, description="Worked answers for SFT, besides the prompts above."
    )
    defect_share: Share = Field(
        0.35, description="Share of demonstrations with a documented defect, as real ones have."
    )
    mix: dict[Task, Share] = Field(
        {"extraction": 0.4, "sql_qa": 0.4, "insights": 0.1, "push": 0.1},
        description="Share of each task among the training prompts; a task left out is dropped.",
    )


class DataSettings(PromptPlan):
    """Where prompts come from and how many are made."""

    path: Line | None = Field(None, description="Folder (olist), or file or folder (b2w), of the data.")

    @model_validator(mode="after")
    def _mix_is_a_distribution(self) -> Self:
        if not self.mix or abs(sum(self.mix.values()) - 1) > 1e-6:
            raise ValueError(f"data.mix must add up to 1, it adds up to {sum(self.mix.values()):g}")
        if self.source != "synthetic" and not self.path:
            raise ValueError(f"data.source={self.source} needs data.path, the place of its files")
        if self.source == "synthetic" and self.path:
            raise ValueError(
                "data.path is not read by data.source=synthetic; remove it, or name the source of the files"
            )
        return self


class DataStage(Section):
    """What the prompt set follows from, beside the files at `data.path`."""

    data: PromptPlan
    tasks: tuple[Task, ...]
    seed: int
