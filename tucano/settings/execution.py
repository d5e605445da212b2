"""Settings of where and how a run computes, and what that costs: `worker.*`, `cost.*`, `execution.*`."""

import datetime
from collections.abc import Iterator

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from tucano.security.texts import DeploymentName, Line
from tucano.settings.base import Section


class WorkerSettings(Section):
    """The child processes that hold the models."""

    python: Line | None = Field(None, description="Interpreter of the training children; this one when empty.")
    vllm_python: Line | None = Field(
        None, description="Interpreter with vLLM, which grpo.sampler=vllm starts its server with."
    )
    vllm_memory_share: float = Field(
        0.35, gt=0, lt=1, description="Share of the GPU's memory for the vLLM server (vLLM: gpu_memory_utilization)."
    )
    deterministic: bool = Field(
        True, description="On CUDA: the same bits each time (torch: use_deterministic_algorithms)."
    )
    threads: PositiveInt = Field(1, le=1024, description="CPU threads per GRPO child.")
    parallel: PositiveInt | None = Field(
        None, le=1024, description="Seeds that train or answer at a time; as many as cores (1 on a GPU) when empty."
    )
    checkpoint_minutes: float = Field(
        10, gt=0, le=10, description="Longest time between two recovery checkpoints, beside save_steps."
    )
    silence_minutes: PositiveFloat = Field(
        240, le=525_600, description="A child that says nothing for so long is killed, and goes on from its checkpoint."
    )
    retries: NonNegativeInt = Field(2, le=1000, description="New attempts after a child was killed.")


class Price(Section):
    """What an hour of a machine costs."""

    machine: Line = Field(description="Name of the machine, like `g2-standard-8 spot us-central1`.")
    usd_per_hour: NonNegativeFloat = Field(description="US dollars per hour of the whole machine.")
    source: Line = Field(description="Where the price is from.")
    date: datetime.date = Field(description="When it was looked up; Spot prices change.")


class CostSettings(Section):
    """What machine-hours cost."""

    machine: Line = Field("own machine", description="Machine that trains, where TUCANO_MACHINE names none.")
    prices: tuple[Price, ...] = Field(
        (
            Price(
                machine="l4 workbench",
                usd_per_hour=0.82,
                source="the predecessor's final report: 18 USD for 22 hours on one L4",
                date=datetime.date(2026, 5, 2),
            ),
        ),
        max_length=1000,
        description="Price table; a machine without a row has hours and no dollars.",
    )

    def _faults(self) -> Iterator[str]:
        names = [price.machine for price in self.prices]
        if len({*names}) != len(names):
            yield f"cost.prices has a machine twice: {', '.join(names)}"


class ExecutionSettings(Section):
    """Where the stages that hold a model work."""

    stages: DeploymentName | None = Field(
        None, description="Deployment for SFT, preflight, answers and merge, like `stage/local`; this run when empty."
    )
    seeds: DeploymentName | None = Field(
        None, description="Deployment that trains each seed, like `seed/local`; this run when empty."
    )
    grace_minutes: PositiveFloat = Field(
        10, le=525_600, description="How long a crashed run may wait for its new start before it is given up."
    )

    @property
    def computes_here(self) -> bool:
        """Whether a pipeline's own run holds a model at all."""
        return self.stages is None or self.seeds is None

    @property
    def is_here_alone(self) -> bool:
        """Whether nothing of a run is placed elsewhere."""
        return self.stages is None and self.seeds is None
