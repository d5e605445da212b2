"""Settings of reinforcement learning: `grpo.*`."""

import warnings
from collections.abc import Iterator
from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from tucano.prompts import Task
from tucano.settings.base import Schedule, Section, Seed, Share
from tucano.settings.model import AdaptedModel, LoadedModel
from tucano.settings.training.drawing import Admission, Drawing, Looking
from tucano.settings.training.health import HealthSettings
from tucano.settings.training.teacher import Teacher, TeacherSettings

LOOKS_OF_A_LONG_RUN = 10
"""Evaluations from which on stopping early saves something."""


class Condition(Section):
    """A reward component that counts only where another reaches a share of its weight (GDPO, eq. 8)."""

    component: str = Field(description="The component that may lapse, like `push.length`.")
    needs: str = Field(description="The component it depends on, of the same task, like `push.product`.")
    at_least: float = Field(
        ge=-1, le=1, description="Share of the other's weight that must be reached; penalties lie in -1 to 0."
    )


class GrpoTraining(Drawing):
    """What shapes a step of the optimizer, and when the run ends: all that the preflight rehearses."""

    max_steps: NonNegativeInt = Field(
        1500,
        le=1_000_000,
        description="Optimizer steps; the only length there is (no epochs beside it). 0: DPO goes on from the start.",
    )
    batch_size: PositiveInt = Field(
        32,
        le=2**16,
        description=(
            "Completions per optimizer step: prompts x generations. "
            "TRL: per_device_train_batch_size x gradient_accumulation_steps."
        ),
    )
    micro_batch: PositiveInt = Field(
        32,
        le=2**16,
        description=(
            "Completions per forward and backward pass; smaller needs less memory. TRL: per_device_train_batch_size."
        ),
    )
    learning_rate: PositiveFloat = Field(5e-6, description="Peak learning rate.")
    schedule: Schedule = Field(
        "constant_with_warmup", description="Shape of the learning rate after warm-up. TRL: lr_scheduler_type."
    )
    warmup_share: Share = Field(0.05, description="Share of the steps spent warming up. TRL: warmup_steps.")
    max_grad_norm: PositiveFloat = Field(1.0, description="Gradients are clipped to this norm.")
    beta: NonNegativeFloat = Field(
        0.0, description="Weight of the KL penalty (Dr. GRPO, section 3.2: 0 with rule-based rewards)."
    )
    epsilon: PositiveFloat = Field(0.2, description="Lower clip range of the policy ratio.")
    epsilon_high: PositiveFloat | None = Field(
        None, description="Upper clip range (DAPO clip-higher); needs iterations above 1."
    )
    iterations: PositiveInt = Field(
        1,
        le=1000,
        description="Times that every rollout is trained on; 1 with rollout_steps=1 is on-policy. TRL: num_iterations.",
    )
    rollout_steps: PositiveInt = Field(
        1, le=1000, description="Optimizer steps that completions are sampled for at once. TRL: steps_per_generation."
    )
    importance_sampling: Literal["token", "sequence"] = Field(
        "token",
        description=(
            "Policy ratio per token, or per sequence (GSPO; needs iterations above 1). TRL: importance_sampling_level."
        ),
    )
    loss: Literal["dr_grpo", "dapo", "grpo"] = Field(
        "dr_grpo", description="Token aggregation of the policy loss. TRL: loss_type."
    )
    mask_truncated: bool = Field(
        False,
        description=(
            "Leave cut-off completions out of the loss, not out of the baseline. TRL: mask_truncated_completions."
        ),
    )
    overlong_tokens: NonNegativeInt = Field(
        0, description="Soft punishment (DAPO) over so many tokens below the ceiling."
    )
    overlong_weight: PositiveFloat = Field(0.5, description="Punishment at the ceiling, in units of reward.")
    length_stages: tuple[tuple[NonNegativeInt, PositiveInt], ...] = Field(
        (), max_length=1000, description="Length curriculum: pairs (step, ceiling from that step on)."
    )
    think_weight: NonNegativeFloat = Field(
        0.0, description="Share of its reward that an answer without a thought earns on top; 0 at max_think_tokens."
    )
    conditions: tuple[Condition, ...] = Field(
        (), max_length=1000, description="Reward components that count only once another is reached."
    )
    advantages: Literal["gdpo", "group", "batch", "median"] = Field(
        "gdpo",
        description=(
            "Per component (gdpo), or the sum against its group's mean (batch: by the batch's spread) or median. TRL:"
            " scale_rewards, multi_objective_aggregation."
        ),
    )
    std_floor: PositiveFloat = Field(
        0.05, description="Smallest spread a component is divided by (gdpo): float noise is no signal."
    )
    task_weights: Literal["equal", "iwu"] = Field(
        "equal", description="All tasks alike, or more weight for those that improve least (MT-GRPO)."
    )
    task_weights_rate: PositiveFloat = Field(0.025, description="Step size of the task weights (iwu).")
    task_weights_balance: NonNegativeFloat = Field(
        0.2, description="How much a task's level counts beside its improvement (iwu)."
    )
    task_weights_floor: float = Field(
        0.2, ge=0, lt=1, description="What every task keeps of an equal share, however well it does (iwu)."
    )
    entropy_advantages: bool = Field(
        False, description="Divide advantages by relative entropy (EDGE); costs a pass through the model."
    )
    block_advantages: bool = Field(False, description="Each field of a JSON answer gets an advantage of its own (BAE).")
    teacher: Teacher | None = Field(None, description="A model that judges every token of the student's answers.")
    drop_zero_variance: bool = Field(
        False, description="Leave groups whose completions all earn the same out of the loss."
    )
    refill_rounds: NonNegativeInt = Field(
        0, le=100, description="Rounds of further prompts that replace dropped groups, until the batch is full."
    )
    entropy_coef: NonNegativeFloat = Field(
        0.0, description="Weight of the entropy bonus; where it starts when entropy_target is set."
    )
    entropy_target: PositiveFloat | None = Field(
        None,
        description=(
            "Adaptive bonus (Skywork-OR1): paid while the entropy, in nats per token, is at most this. TRL:"
            " use_adaptive_entropy."
        ),
    )
    entropy_delta: PositiveFloat = Field(
        0.005, description="How far entropy_coef moves per step. TRL: entropy_coef_delta."
    )
    entropy_coef_max: PositiveFloat = Field(0.1, description="Ceiling of the adaptive entropy_coef.")
    eval_steps: PositiveInt = Field(50, description="Steps between two validation evaluations.")
    patience: PositiveInt = Field(15, description="Evaluations without a better one before training stops.")

    def _faults(self) -> Iterator[str]:
        if self.batch_size % self.generations:
            nearest = max(1, (self.batch_size + self.generations // 2) // self.generations) * self.generations
            yield (
                f"grpo.batch_size={self.batch_size} is not divisible by grpo.generations={self.generations}; {nearest}"
                " would be"
            )
        if self.batch_size % self.micro_batch:
            yield (
                f"grpo.micro_batch={self.micro_batch} does not divide grpo.batch_size={self.batch_size};"
                f" {self.generations} would"
            )
        yield from (f"grpo.{sentence}" for sentence in self._idle())
        if self.eval_steps > self.max_steps > 0:
            yield (
                f"grpo.eval_steps={self.eval_steps} is beyond grpo.max_steps={self.max_steps}: no checkpoint would be"
                " chosen"
            )
        yield from self._unfit_ceilings()

    def warn_of_patience(self) -> None:
        """Where a run could not stop early, or a long one not after its usual best. Not part of validation: what was
        chosen is read again by many, and the defaults are such.
        """
        waits = self.patience * self.eval_steps
        said = f"grpo.patience x eval_steps = {waits}"
        if waits >= self.max_steps > 0:
            warnings.warn(
                f"{said} leaves no room before max_steps={self.max_steps}: early stopping cannot fire", stacklevel=2
            )
        elif 2 * waits >= self.max_steps >= LOOKS_OF_A_LONG_RUN * self.eval_steps:
            warnings.warn(
                f"{said}: early stopping cannot fire for a best after step {self.max_steps - waits} of"
                f" {self.max_steps}, where it usually is; grpo.patience="
                f"{max(1, self.max_steps // self.eval_steps // 5)} would leave room",
                stacklevel=2,
            )

    @property
    def prompts_at_once(self) -> int:
        """Prompts that completions are sampled for at once."""
        return self.batch_size * self.rollout_steps // self.generations

    @property
    def _on_policy(self) -> bool:
        return self.iterations == self.rollout_steps == 1

    @property
    def _entropy_bonus(self) -> bool:
        return self.entropy_coef > 0 or self.entropy_target is not None

    def _idle(self) -> Iterator[str]:
        """A sentence with its mend for whatever would silently do nothing or undo itself."""
        yield from self._idle_in_updates()
        yield from self._idle_in_lengths()
        yield from self._idle_in_advantages()
        yield from self._idle_with_a_teacher() if self.teacher else ()

    def _idle_in_updates(self) -> Iterator[str]:
        """Of the loss, the entropy bonus, and groups without a difference."""
        if self.epsilon_high is not None and self._on_policy:
            yield "epsilon_high does nothing with grpo.iterations=1: on-policy ratios are 1 and never clipped"
        if self.epsilon_high is not None and self.epsilon_high < self.epsilon:
            yield f"epsilon_high={self.epsilon_high} is below grpo.epsilon={self.epsilon}; raise it, or leave it out"
        if self.importance_sampling == "sequence" and self._on_policy:
            yield "importance_sampling=sequence does nothing with grpo.iterations=1: on-policy ratios are 1 either way"
        if self.refill_rounds and not self.drop_zero_variance:
            yield "refill_rounds does nothing without grpo.drop_zero_variance=true: no group is ever dropped"
        counts_without_advantage = self.loss == "dapo" or self.beta or self._entropy_bonus
        if self.drop_zero_variance and not self.refill_rounds and not counts_without_advantage:
            yield (
                f"drop_zero_variance changes nothing with grpo.loss={self.loss}, as such groups have no advantage; set"
                " grpo.refill_rounds"
            )
        if self._changed("entropy_delta", "entropy_coef_max") and self.entropy_target is None:
            yield "entropy_delta and entropy_coef_max are only read by the adaptive bonus; set grpo.entropy_target"
        if self.entropy_target is not None and self.entropy_coef > self.entropy_coef_max:
            yield (
                f"entropy_coef={self.entropy_coef} is above grpo.entropy_coef_max={self.entropy_coef_max}; raise the"
                " latter"
            )

    def _idle_in_lengths(self) -> Iterator[str]:
        if self.think_weight and self.max_think_tokens is None:
            yield (
                "think_weight falls to 0 at grpo.max_think_tokens, which is not set; set it to the longest thought that"
                " may pay"
            )
        if self._changed("overlong_weight") and not self.overlong_tokens:
            yield "overlong_weight does nothing without grpo.overlong_tokens"
        if self.mask_truncated and self.overlong_tokens:
            yield "mask_truncated hides the completions that grpo.overlong_tokens punishes most; choose one"

    def _idle_in_advantages(self) -> Iterator[str]:
        if self._changed("std_floor") and self.advantages != "gdpo":
            yield "std_floor is only read by grpo.advantages=gdpo"
        if self._changed("task_weights_rate", "task_weights_balance", "task_weights_floor") and (
            self.task_weights != "iwu"
        ):
            yield "task_weights_rate, _balance and _floor are only read by grpo.task_weights=iwu"
        if not self.block_advantages:
            return
        if self.advantages in ("gdpo", "batch"):
            yield (
                f"block_advantages are differences of rewards, and grpo.advantages={self.advantages} divides by their"
                " spread: one answer would have two units; set grpo.advantages=group or median"
            )
        if self.rewards != "grounded":
            yield f"block_advantages needs grpo.rewards=grounded: {self.rewards} does not score the fields of an answer"
        if self.importance_sampling == "sequence":
            yield (
                "block_advantages differ from token to token, and grpo.importance_sampling=sequence weighs answers"
                " whole; choose one"
            )

    def _idle_with_a_teacher(self) -> Iterator[str]:
        if self.temperature != 1:
            yield f"teacher judges at temperature 1, not {self.temperature}; set grpo.temperature=1"
        if self.importance_sampling == "sequence":
            yield "teacher judges tokens, and grpo.importance_sampling=sequence weighs answers whole; choose one"
        if self.drop_zero_variance:
            yield "drop_zero_variance leaves groups out that grpo.teacher would teach from; set it to false"
        weighs = self.entropy_advantages or self.block_advantages or self.task_weights == "iwu"
        if self.teacher and not self.teacher.reward_weight and weighs:
            yield (
                "teacher.reward_weight=0 leaves nothing to grpo.entropy_advantages, block_advantages and"
                " task_weights=iwu; leave them out"
            )

    def _changed(self, *fields: str) -> bool:
        """Whether any of these fields has another value than its default."""
        return any(getattr(self, field) != type(self).model_fields[field].default for field in fields)

    def _unfit_ceilings(self) -> Iterator[str]:
        steps = [step for step, _ in self.length_stages]
        ceilings = [tokens for _, tokens in self.length_stages]
        if steps != sorted(set(steps)) or any(step >= self.max_steps > 0 for step in steps):
            yield (
                f"grpo.length_stages begin at steps {steps}; they must rise and stay below"
                f" grpo.max_steps={self.max_steps}"
            )
        if max(ceilings, default=0) > self.max_completion_tokens:
            yield (
                f"grpo.length_stages reach {max(ceilings)} tokens, above"
                f" grpo.max_completion_tokens={self.max_completion_tokens}"
            )
        lowest = min((*ceilings, self.max_completion_tokens))
        if self.max_think_tokens is not None and self.max_think_tokens >= lowest:
            yield (
                f"grpo.max_think_tokens={self.max_think_tokens} leaves no room for an answer below the ceiling of"
                f" {lowest} tokens; lower it, or raise that of grpo.length_stages or grpo.max_completion_tokens"
            )
        if self.overlong_tokens >= lowest:
            yield (
                f"grpo.overlong_tokens={self.overlong_tokens} would punish every completion; it must be below the"
                f" ceiling of {lowest}"
            )


class GrpoRun(Looking, GrpoTraining):
    """What the training of one seed follows from: GrpoTraining, its prompts, and how its checkpoint is chosen."""

    admission: Admission | None = Field(
        None, description="Which training prompts are drawn from, by what the start earns with them; null: all."
    )

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        tried, needed = self.admission and self.admission.prompts, self.prompts_at_once
        if tried and tried < needed:
            yield f"grpo.admission.prompts={tried} is less than the {needed} that a step asks at once"


class GrpoSettings(GrpoRun):
    """Group relative policy optimisation, one run per seed."""

    seeds: tuple[Seed, ...] = Field(
        (42, 123, 456), min_length=1, max_length=100, description="One training run per seed. TRL: seed."
    )
    save_steps: PositiveInt = Field(100, description="Steps between two recovery checkpoints.")
    validation_decoding: Literal["primary", "served", "sampled"] = Field(
        "primary",
        description="Which of the comparison's decodings the checkpoint is chosen at; primary: comparison.primary.",
    )
    teacher: TeacherSettings | None = Field(
        None, description="A model that judges every token of the student's answers: on-policy distillation."
    )
    adapters: Literal["one", "per_task"] = Field(
        "one", description="One adapter for all tasks, or one for each, of grpo.max_steps steps each."
    )

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if len(set(self.seeds)) != len(self.seeds):
            yield f"grpo.seeds has a seed twice: {list(self.seeds)}"
        if self.max_steps and self.save_steps % self.eval_steps and self.eval_steps % self.save_steps:
            yield (
                f"grpo.save_steps={self.save_steps} and grpo.eval_steps={self.eval_steps} never meet; make one divide"
                " the other"
            )


class TrainerStage(Section):
    """What the trainer follows from, beside its prompts and the adapter it starts with."""

    grpo: GrpoTraining
    model: AdaptedModel
    base: str
    tasks: tuple[Task, ...]
    threads: int
    seed: int


class GrpoStage(TrainerStage):
    """What the training of one seed follows from."""

    grpo: GrpoRun
    validation_temperature: float
    health: HealthSettings


class PreflightStage(TrainerStage):
    """What the preflight looks at; `trainings` are those that its forecast counts, `steps` those that it makes."""

    steps: int
    trainings: int
    served_temperature: float
    adapters: Literal["one", "per_task"]


class MergeStage(Section):
    """What a merged model follows from, beside base and adapter."""

    max_completion_tokens: int
    model: LoadedModel
    base: str
    seed: int
