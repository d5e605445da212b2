"""Settings of supervised fine-tuning: `sft.*`."""

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from tucano.settings.base import Schedule, Section, Share
from tucano.settings.model import AdaptedModel, NanoModel


class SftTraining(Section):
    """Supervised fine-tuning on demonstrations: the start of GRPO and the reference of the comparison.

    The nano model is trained whole, any other model through a LoRA adapter.
    """

    max_epochs: PositiveFloat = Field(
        4, le=1000, description="Upper limit; training stops earlier at the validation plateau. TRL: num_train_epochs."
    )
    batch_size: PositiveInt = Field(
        32, le=2**16, description="Demonstrations per optimizer step. TRL: per_device_train_batch_size."
    )
    learning_rate: PositiveFloat = Field(2e-4, description="Peak learning rate.")
    schedule: Schedule = Field(
        "cosine", description="Shape of the learning rate after warm-up. TRL: lr_scheduler_type."
    )
    warmup_share: Share = Field(0.05, description="Share of the steps spent warming up. TRL: warmup_steps.")
    eval_steps: PositiveInt = Field(25, description="Steps between two looks at the validation loss.")
    patience: PositiveInt = Field(3, description="Looks without a better validation loss before training stops.")
    min_improvement: NonNegativeFloat = Field(0.002, description="Nats per token a look must gain to count as better.")


class SftSettings(SftTraining):
    """Supervised fine-tuning, or none."""

    enabled: bool = Field(True, description="Off: GRPO starts from the base model.")
    save_steps: PositiveInt = Field(50, description="Steps between two recovery checkpoints.")


class SftStage(Section):
    """What SFT follows from, beside its prompts. `base` identifies the model where it is not built here."""

    sft: SftTraining
    model: NanoModel | AdaptedModel
    base: str
    seed: int
