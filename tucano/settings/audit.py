"""Settings of the reward audit: `audit.*`."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, PositiveInt

from tucano.prompts import Task
from tucano.security.texts import Line, Prose
from tucano.settings.base import RewardSetName, Section, Share


class Gate(Section):
    """The gate between the rewards and the first training step."""

    pooled_floor: Share = Field(
        0.60, description="Lower 95 % bound that Spearman's rho over all completions of a task must reach."
    )
    within_floor: Share = Field(0.45, description="Lower 95 % bound that the rank agreement within prompts must reach.")
    resamples: PositiveInt = Field(2000, le=50_000, description="Bootstrap resamples, drawn by prompt.")
    human_prompts: Annotated[int, Field(ge=5, le=10_000)] = Field(
        12, description="Prompts per task that people must have rated before the result is final."
    )
    search_calls: Annotated[int, Field(ge=0, le=1_000_000)] = Field(
        2000, description="Answers per task that the search for rewarded junk may try; 0 skips it."
    )
    override_by: Line | None = Field(None, description="Who lets the run go on after a failed audit.")
    override_reason: Prose | None = Field(
        None, description="Why; recorded in the report, in MLflow and in the registry."
    )

    def _faults(self) -> Iterator[str]:
        if bool(self.override_by) != bool(self.override_reason):
            yield "audit.override_by and audit.override_reason go together: an override has a name and a reason"


class AuditSettings(Gate):
    """The gate, and the ratings that it asks."""

    ratings: Line | None = Field(
        None, description="Folder with ratings.jsonl and its store; the committed set when empty."
    )


class AuditStage(Section):
    """What the audit follows from, beside the ratings."""

    rewards: RewardSetName
    audit: Gate
    tasks: tuple[Task, ...]
    seed: int


class ReauditStage(Section):
    """What the audit of the tuned policies' own samples follows from, beside those samples."""

    rewards: RewardSetName
    alpha: float
    resamples: int
    seed: int
