"""Settings of preference optimisation after GRPO: `dpo.*`."""

from collections.abc import Iterator

from pydantic import Field, PositiveFloat, PositiveInt

from tucano.security.texts import Line
from tucano.settings.base import Schedule, Section, Share
from tucano.settings.model import LoadedModel
from tucano.settings.training.drawing import Drawing, Looking
from tucano.settings.training.health import HealthSettings


class DpoTraining(Section):
    """What shapes a step of preference optimisation, and when it ends."""

    ranked: bool = Field(
        True, description="Pairs of the best and the worst of grpo.generations drawn answers; off: dpo.pairs alone."
    )
    beta: PositiveFloat = Field(0.1, description="How firmly the policy is held to GRPO's (DPO, eq. 7).")
    max_epochs: PositiveFloat = Field(1, le=1000, description="Passes over the pairs. TRL: num_train_epochs.")
    batch_size: PositiveInt = Field(
        16,
        le=2**16,
        description="Pairs per optimizer step. TRL: per_device_train_batch_size x gradient_accumulation_steps.",
    )
    micro_batch: PositiveInt = Field(
        16,
        le=2**16,
        description="Pairs per forward and backward pass; smaller needs less memory. TRL: per_device_train_batch_size.",
    )
    learning_rate: PositiveFloat = Field(5e-6, description="Peak learning rate.")
    schedule: Schedule = Field(
        "linear", description="Shape of the learning rate after warm-up. TRL: lr_scheduler_type."
    )
    warmup_share: Share = Field(0.1, description="Share of the steps spent warming up. TRL: warmup_steps.")
    max_grad_norm: PositiveFloat = Field(1.0, description="Gradients are clipped to this norm.")
    eval_steps: PositiveInt = Field(10, description="Steps between two validation evaluations.")
    patience: PositiveInt = Field(5, description="Evaluations without a better one before training stops.")

    def _faults(self) -> Iterator[str]:
        if self.batch_size % self.micro_batch:
            yield (
                f"dpo.micro_batch={self.micro_batch} does not divide dpo.batch_size={self.batch_size};"
                f" {self.batch_size} would"
            )


class DpoSettings(DpoTraining):
    """Preference optimisation (DPO) of each seed after GRPO, on pairs of a better and a worse answer."""

    enabled: bool = Field(False, description="Off: a seed's result is GRPO's adapter.")
    rounds: PositiveInt = Field(
        1, le=100, description="Trainings one after another, each on answers drawn anew from the one before it."
    )
    pairs: Line | None = Field(
        None,
        description="File of pairs that people preferred, as `tucano data feedback FOLDER` writes it; for the first"
        " round.",
    )
    save_steps: PositiveInt = Field(100, description="Steps between two recovery checkpoints.")

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if self.pairs is not None and not self.enabled:
            yield f"dpo.pairs={self.pairs} would not be read; set dpo.enabled=true, or leave it out"
        if self.rounds > 1 and not self.enabled:
            yield f"dpo.rounds={self.rounds} would not be trained; set dpo.enabled=true, or leave it out"
        if self.enabled and not self.ranked and self.pairs is None:
            yield "dpo.ranked=false leaves no pairs to learn from; name some with dpo.pairs, or leave it true"
        if self.rounds > 1 and not self.ranked:
            yield (
                f"dpo.rounds={self.rounds} draws answers anew in each round, and dpo.ranked=false draws none; leave one"
                " of them out"
            )


class DpoRun(DpoTraining, Drawing, Looking):
    """Preference optimisation of one seed, with how its answers are drawn, scored and looked at: as in GRPO."""


class DpoStage(Section):
    """What it follows from, beside prompts, pairs and the adapter that it starts with."""

    dpo: DpoRun
    model: LoadedModel
    base: str
    threads: int
    validation_temperature: float
    health: HealthSettings
    seed: int
    round: PositiveInt = 1
