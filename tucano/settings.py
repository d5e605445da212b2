"""The settings of a pipeline run: one frozen, strict model, so that a typo is an error and the Prefect form explains itself.

Profiles (prefect.yaml) hold differences from these defaults. Importing this module imports neither torch nor Prefect.
"""

import datetime
import difflib
import warnings
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from tucano.addresses import SECRET, is_external, secret_in
from tucano.errors import SecretInSettings
from tucano.prompts import TASKS, Task
from tucano.texts import Address, ArmName, BaseUrl, DeploymentName, Line, Name, Prose

SMALLEST_STRATUM = 5
"""Fewer prompts of a task than this cannot be compared: an exact one-sided signed-rank test of 4 cannot reach p < .05."""

Share = Annotated[float, Field(ge=0, le=1)]
RewardSetName = Literal["v4.2", "grounded", "controls.random", "controls.format", "controls.length"]


Seed = Annotated[int, Field(ge=0, lt=2**32)]
"""What NumPy, Python and torch all take."""

NO_SECRETS = "without secrets, which belong in the environment"
_HOLDS_ONE: dict[str, Any] = {"not": {"additionalProperties": {"not": {"type": "string", "pattern": SECRET}}}}


class Section(BaseModel):
    """Base of all settings: frozen; a field nobody knows, a number that is none and a password in an address are refused.

    Prefect's server stores the parameters of a run before this code sees them, but holds them against the JSON schema first: it refuses
    with the name of the property that the schema then asks for, and does not repeat the value.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, json_schema_extra={"if": _HOLDS_ONE, "then": {"required": [NO_SECRETS]}}
    )

    @model_validator(mode="before")
    @classmethod
    def _holds_no_secret(cls, values: Any) -> Any:
        place = secret_in(values)
        if place is not None:
            raise SecretInSettings(
                f"{place} holds a password, token or key, and settings are written into reports and databases: "
                "leave it out and give it in the environment (docs/operations.md, Credentials)"
            )
        return values


class DataSettings(Section):
    """Where prompts come from and how many are made."""

    source: Literal["synthetic", "olist", "b2w"] = Field(
        "synthetic", description="Generated data, a folder of Olist CSVs, or a B2W review CSV."
    )
    path: Line | None = Field(None, description="Folder (olist) or file or folder (b2w) that holds the CSVs.")
    train_prompts: PositiveInt = Field(1480, description="Training prompts over all tasks.")
    validation_prompts: PositiveInt = Field(65, description="Prompts that choose the checkpoint.")
    test_prompts: PositiveInt = Field(65, description="Held-out prompts that judge; never used to choose anything.")
    demonstrations: NonNegativeInt = Field(3000, description="Worked answers for SFT, besides the prompts above.")
    defect_share: Share = Field(0.35, description="Share of demonstrations with a documented defect, as real ones have.")
    mix: dict[Task, Share] = Field(
        {"extraction": 0.4, "sql_qa": 0.4, "insights": 0.1, "push": 0.1},
        description="Share of each task among the training prompts; a task left out is dropped.",
    )

    @model_validator(mode="after")
    def _mix_is_a_distribution(self) -> Self:
        if not self.mix or abs(sum(self.mix.values()) - 1) > 1e-6:
            raise ValueError(f"data.mix must add up to 1, it adds up to {sum(self.mix.values()):g}")
        if self.source != "synthetic" and not self.path:
            raise ValueError(f"data.source={self.source} needs data.path, the place of its CSV files")
        if self.source == "synthetic" and self.path:
            raise ValueError("data.path is only read by data.source=olist or b2w; remove it or name the source")
        return self


class AuditSettings(Section):
    """The gate between the rewards and the first training step."""

    ratings: Line | None = Field(None, description="Folder with ratings.jsonl and its store; the committed set when empty.")
    pooled_floor: Share = Field(0.60, description="Lower 95 % bound that Spearman's rho over all completions of a task must reach.")
    within_floor: Share = Field(0.45, description="Lower 95 % bound that the rank agreement within prompts must reach.")
    resamples: PositiveInt = Field(2000, description="Bootstrap resamples, drawn by prompt.")
    override_by: Line | None = Field(None, description="Who lets the run go on after a failed audit.")
    override_reason: Prose | None = Field(None, description="Why; recorded in the report, in MLflow and in the registry.")

    @model_validator(mode="after")
    def _override_is_signed(self) -> Self:
        if bool(self.override_by) != bool(self.override_reason):
            raise ValueError("audit.override_by and audit.override_reason go together: an override has a name and a reason")
        return self


class ModelSettings(Section):
    """The model that is trained."""

    name: Line = Field("nano", description="`nano` (built here, no download), a local folder, or a hub id.")
    revision: Line | None = Field(None, description="Pinned commit of a hub model; hub ids need it.")
    backend: Literal["transformers", "unsloth"] = Field("transformers", description="Loader and kernels; unsloth needs CUDA.")
    device: Literal["cpu", "cuda"] = Field("cpu", description="Explicit, so that no machine silently takes another device.")
    quantization: Literal["none", "nf4"] = Field("none", description="NF4 keeps the base in 4 bits (CUDA only).")
    dtype: Literal["float32", "bfloat16"] = Field("float32", description="Precision of the base weights.")
    max_length_tokens: PositiveInt = Field(768, description="Prompt and completion together; longer prompts are refused.")
    nano_hidden: PositiveInt = Field(128, description="Width of the nano model.")
    nano_layers: PositiveInt = Field(4, description="Layers of the nano model.")
    nano_vocabulary: PositiveInt = Field(2048, description="Entries of the nano tokenizer.")
    lora_rank: PositiveInt = Field(16, description="Rank of the adapter, on all linear layers.")
    lora_alpha: PositiveInt = Field(32, description="Scale of the adapter: alpha / rank.")
    lora_dropout: float = Field(0.0, ge=0, lt=1, description="Share of an adapter's inputs dropped while training.")

    @model_validator(mode="after")
    def _device_can_do_it(self) -> Self:
        if self.device == "cpu" and (self.backend == "unsloth" or self.quantization == "nf4"):
            raise ValueError("model.backend=unsloth and model.quantization=nf4 need model.device=cuda")
        return self


Schedule = Literal["constant_with_warmup", "cosine", "linear"]


class SftSettings(Section):
    """Supervised fine-tuning on demonstrations: the start of GRPO and the reference of the comparison.

    The nano model is trained whole, any other model through a LoRA adapter.
    """

    enabled: bool = Field(True, description="Off: GRPO starts from the base model.")
    max_epochs: PositiveFloat = Field(4, description="Upper limit; training stops earlier at the validation plateau.")
    batch_size: PositiveInt = Field(32, description="Demonstrations per optimizer step.")
    learning_rate: PositiveFloat = Field(2e-4, description="Peak learning rate.")
    schedule: Schedule = Field("cosine", description="Shape of the learning rate after warm-up.")
    warmup_share: Share = Field(0.05, description="Share of the steps spent warming up.")
    eval_steps: PositiveInt = Field(25, description="Steps between two looks at the validation loss.")
    patience: PositiveInt = Field(3, description="Looks without a better validation loss before training stops.")
    min_improvement: NonNegativeFloat = Field(0.002, description="Nats per token a look must gain to count as better.")
    save_steps: PositiveInt = Field(50, description="Steps between two recovery checkpoints.")


class Condition(Section):
    """A reward component that counts only where another reaches a share of its weight (GDPO, eq. 8)."""

    component: str = Field(description="The component that may lapse, like `push.length`.")
    needs: str = Field(description="The component it depends on, of the same task, like `push.product`.")
    at_least: float = Field(ge=-1, le=1, description="Share of the other's weight that must be reached; penalties lie in -1 to 0.")


class GrpoSettings(Section):
    """Group relative policy optimisation, one run per seed."""

    rewards: RewardSetName = Field("grounded", description="Reward set that is trained on.")
    seeds: tuple[Seed, ...] = Field((42, 123, 456), min_length=1, description="One training run per seed.")
    max_steps: PositiveInt = Field(1500, description="Optimizer steps; the only length there is (no epochs beside it).")
    batch_size: PositiveInt = Field(32, description="Completions per optimizer step: prompts x generations.")
    generations: int = Field(16, ge=2, description="Completions per prompt: the group that advantages are relative to.")
    micro_batch: PositiveInt = Field(32, description="Completions per forward and backward pass; smaller needs less memory.")
    max_completion_tokens: PositiveInt = Field(512, description="Ceiling of a completion.")
    temperature: float = Field(1.0, ge=0.5, le=2, description="Sampling temperature; below 0.5 groups collapse to copies.")
    learning_rate: PositiveFloat = Field(5e-6, description="Peak learning rate.")
    schedule: Schedule = Field("constant_with_warmup", description="Shape of the learning rate after warm-up.")
    warmup_share: Share = Field(0.05, description="Share of the steps spent warming up.")
    max_grad_norm: PositiveFloat = Field(1.0, description="Gradients are clipped to this norm.")
    beta: NonNegativeFloat = Field(0.0, description="Weight of the KL penalty (Dr. GRPO, section 3.2: 0 with rule-based rewards).")
    epsilon: PositiveFloat = Field(0.2, description="Lower clip range of the policy ratio.")
    epsilon_high: PositiveFloat | None = Field(None, description="Upper clip range (DAPO clip-higher); needs iterations above 1.")
    iterations: PositiveInt = Field(1, description="Times that every rollout is trained on; 1 with rollout_steps=1 is on-policy.")
    rollout_steps: PositiveInt = Field(1, description="Optimizer steps that completions are sampled for at once.")
    importance_sampling: Literal["token", "sequence"] = Field(
        "token",
        description="Policy ratio per token, or per sequence (GSPO: loss grpo, epsilon around .0004); the latter needs iterations above 1.",
    )
    loss: Literal["dr_grpo", "dapo", "grpo"] = Field("dr_grpo", description="Token aggregation of the policy loss.")
    mask_truncated: bool = Field(
        False, description="Leave completions cut off at the ceiling out of the loss (not out of their group's baseline)."
    )
    overlong_tokens: NonNegativeInt = Field(
        0, description="Soft overlong punishment (DAPO) over this many tokens below the ceiling; 0: none."
    )
    overlong_weight: PositiveFloat = Field(0.5, description="Punishment at the ceiling, in units of reward.")
    length_stages: tuple[tuple[NonNegativeInt, PositiveInt], ...] = Field(
        (), description="Length curriculum: pairs (step, ceiling from that step on); max_completion_tokens holds before the first."
    )
    conditions: tuple[Condition, ...] = Field((), description="Reward components that count only once another is reached.")
    advantages: Literal["gdpo", "group", "median"] = Field(
        "gdpo", description="Per reward component (gdpo), or the summed reward against its group's mean (group) or median (median)."
    )
    std_floor: PositiveFloat = Field(0.05, description="Smallest spread a component is divided by (gdpo): float noise is no signal.")
    task_weights: Literal["equal", "iwu"] = Field(
        "equal", description="All tasks alike, or more weight for those that improve least (MT-GRPO)."
    )
    task_weights_rate: PositiveFloat = Field(0.025, description="Step size of the task weights (iwu).")
    task_weights_balance: NonNegativeFloat = Field(0.2, description="How much a task's level counts beside its improvement (iwu).")
    drop_zero_variance: bool = Field(False, description="Leave groups whose completions all earn the same out of the loss.")
    refill_rounds: NonNegativeInt = Field(0, description="Rounds of further prompts that replace dropped groups, until the batch is full.")
    entropy_coef: NonNegativeFloat = Field(0.0, description="Weight of the entropy bonus; where it starts when entropy_target is set.")
    entropy_target: PositiveFloat | None = Field(
        None,
        description="Adaptive bonus (Skywork-OR1): paid while the entropy (nats per token) is at most this; set it near your own logged entropy.",
    )
    entropy_delta: PositiveFloat = Field(0.005, description="How far entropy_coef moves per step: up below the target, down above it.")
    entropy_coef_max: PositiveFloat = Field(0.1, description="Ceiling of the adaptive entropy_coef.")
    fast_cpu: bool = Field(True, description="On a CPU: own decode loop, and every prompt read once; off: as transformers and TRL do it.")
    eval_steps: PositiveInt = Field(50, description="Steps between two validation evaluations.")
    save_steps: PositiveInt = Field(100, description="Steps between two recovery checkpoints.")
    patience: PositiveInt = Field(15, description="Evaluations without a better one before training stops.")
    validation_samples: PositiveInt = Field(2, description="Sampled answers per validation prompt in an evaluation.")
    selection: Literal["reward", "truth"] = Field(
        "reward", description="What chooses the best checkpoint: the reward, or the ground-truth metric."
    )

    @model_validator(mode="after")
    def _batches_fit(self) -> Self:
        if self.batch_size % self.generations:
            nearest = max(1, round(self.batch_size / self.generations)) * self.generations
            raise ValueError(
                f"grpo.batch_size={self.batch_size} is not divisible by grpo.generations={self.generations}; {nearest} would be"
            )
        if self.batch_size % self.micro_batch:
            raise ValueError(
                f"grpo.micro_batch={self.micro_batch} does not divide grpo.batch_size={self.batch_size}; {self.generations} would"
            )
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError(f"grpo.seeds has a seed twice: {list(self.seeds)}")
        return self

    @model_validator(mode="after")
    def _nothing_is_silently_ignored(self) -> Self:
        for idle, sentence in self._idle():
            if idle:
                raise ValueError(f"grpo.{sentence}")
        if self.eval_steps > self.max_steps:
            raise ValueError(f"grpo.eval_steps={self.eval_steps} is beyond grpo.max_steps={self.max_steps}: no checkpoint would be chosen")
        if self.save_steps % self.eval_steps and self.eval_steps % self.save_steps:
            raise ValueError(
                f"grpo.save_steps={self.save_steps} and grpo.eval_steps={self.eval_steps} never meet; make one divide the other"
            )
        if self.patience * self.eval_steps >= self.max_steps:
            warnings.warn(
                f"grpo.patience x eval_steps = {self.patience * self.eval_steps} leaves no room before max_steps={self.max_steps}: "
                "early stopping cannot fire",
                stacklevel=2,
            )
        return self

    @property
    def _on_policy(self) -> bool:
        return self.iterations == self.rollout_steps == 1

    @property
    def _entropy_bonus(self) -> bool:
        return self.entropy_coef > 0 or self.entropy_target is not None

    def _idle(self) -> Iterator[tuple[bool, str]]:
        """What would silently do nothing or undo itself: whether it is so, and the sentence that says how to mend it."""
        yield (
            self.epsilon_high is not None and self._on_policy,
            "epsilon_high does nothing with grpo.iterations=1: on-policy ratios are 1 and never clipped",
        )
        yield (
            self.importance_sampling == "sequence" and self._on_policy,
            "importance_sampling=sequence does nothing with grpo.iterations=1: on-policy ratios are 1 either way",
        )
        yield self._changed("std_floor") and self.advantages != "gdpo", "std_floor is only read by grpo.advantages=gdpo"
        yield self._changed("overlong_weight") and not self.overlong_tokens, "overlong_weight does nothing without grpo.overlong_tokens"
        yield (
            self.mask_truncated and self.overlong_tokens > 0,
            "mask_truncated hides the completions that grpo.overlong_tokens punishes most; choose one",
        )
        yield (
            self._changed("task_weights_rate", "task_weights_balance") and self.task_weights != "iwu",
            "task_weights_rate and task_weights_balance are only read by grpo.task_weights=iwu",
        )
        yield (
            self.refill_rounds > 0 and not self.drop_zero_variance,
            "refill_rounds does nothing without grpo.drop_zero_variance=true: no group is ever dropped",
        )
        yield (
            self.drop_zero_variance and not self.refill_rounds and self.loss != "dapo" and not (self.beta or self._entropy_bonus),
            f"drop_zero_variance changes nothing with grpo.loss={self.loss}, as such groups have no advantage; set grpo.refill_rounds",
        )
        yield (
            self._changed("entropy_delta", "entropy_coef_max") and self.entropy_target is None,
            "entropy_delta and entropy_coef_max are only read by the adaptive bonus; set grpo.entropy_target",
        )
        yield (
            self.entropy_target is not None and self.entropy_coef > self.entropy_coef_max,
            f"entropy_coef={self.entropy_coef} is above grpo.entropy_coef_max={self.entropy_coef_max}; raise the latter",
        )

    def _changed(self, *fields: str) -> bool:
        """Whether any of these fields has another value than its default."""
        return any(getattr(self, field) != type(self).model_fields[field].default for field in fields)

    @model_validator(mode="after")
    def _ceilings_fit(self) -> Self:
        steps, ceilings = [step for step, _ in self.length_stages], [tokens for _, tokens in self.length_stages]
        if steps != sorted(set(steps)) or any(step >= self.max_steps for step in steps):
            raise ValueError(f"grpo.length_stages begin at steps {steps}; they must rise and stay below grpo.max_steps={self.max_steps}")
        if max(ceilings, default=0) > self.max_completion_tokens:
            raise ValueError(
                f"grpo.length_stages reach {max(ceilings)} tokens, above grpo.max_completion_tokens={self.max_completion_tokens}"
            )
        lowest = min((*ceilings, self.max_completion_tokens))
        if self.overlong_tokens >= lowest:
            raise ValueError(
                f"grpo.overlong_tokens={self.overlong_tokens} would punish every completion; it must be below the ceiling of {lowest}"
            )
        return self


CheckName = Literal[
    "learning rate", "generation", "chat template", "tokenizer", "pad and end tokens", "key-value cache", "completion length",
    "signal: extraction", "signal: sql_qa", "signal: insights", "signal: push", "finite", "gradient flow", "memory",
]  # fmt: skip
"""The checks of the preflight that can be red."""


class PreflightSettings(Section):
    """The checks between SFT and the first GRPO step."""

    allow_red: tuple[CheckName, ...] = Field((), description="Checks that may be red, like `signal: push`; recorded with the run.")


AlarmName = Literal[
    "not_finite", "no_signal", "entropy_gone", "at_ceiling", "reward_scale", "rate_gone", "policy_still", "collapse", "hacking"
]


class HealthSettings(Section):
    """When a GRPO run raises an alarm, and which alarms end it."""

    window: PositiveInt = Field(5, description="Steps that a mean is taken over before it can raise an alarm.")
    zero_variance_share: Share = Field(0.9, description="no_signal: share of a task's groups whose completions all earn the same.")
    entropy_floor: NonNegativeFloat = Field(0.01, description="entropy_gone: mean entropy in nats per token.")
    ceiling_share: Share = Field(0.5, description="at_ceiling: share of completions cut off at the ceiling.")
    moved_floor: NonNegativeFloat = Field(
        1e-7, description="policy_still: mean token KL to the start on fixed validation completions, nats."
    )
    collapse_share: Share = Field(0.3, description="collapse: this far below the best validation reward, at two looks.")
    hacking_z: PositiveFloat = Field(2.0, description="hacking: reward up and ground truth down by so many standard errors, at two looks.")
    stop_on: tuple[AlarmName, ...] = Field(
        ("not_finite", "reward_scale", "collapse"), description="Alarms that end the run (its best checkpoint is kept); others warn."
    )


class ComparisonSettings(Section):
    """How arms are compared; fixed before training."""

    rewards: RewardSetName = Field("grounded", description="Reward set that scores the held-out answers, whatever was trained on.")
    primary: Literal["served", "sampled"] = Field("served", description="Decoding that the primary test uses.")
    served_temperature: PositiveFloat = Field(0.1, description="Temperature an answer is served with.")
    samples: PositiveInt = Field(4, description="Answers per prompt in the sampled decoding (T=1).")
    alpha: float = Field(0.05, gt=0, lt=0.5, description="Significance level of the primary test and of Holm's family.")


class EndpointSettings(Section):
    """A model behind an OpenAI-compatible chat API."""

    name: ArmName = Field(description="What its arm is called, like gpt-4o-mini.")
    url: BaseUrl = Field(description="Base URL, like https://api.openai.com/v1 or http://127.0.0.1:8000/v1.")
    model: Line = Field(description="Model name that the API expects.")
    key_env: str | None = Field(None, description="Environment variable that holds the key; the key itself is never stored.")
    dollars_in: NonNegativeFloat = Field(0.0, description="US dollars per million prompt tokens.")
    dollars_out: NonNegativeFloat = Field(0.0, description="US dollars per million completion tokens.")
    timeout_s: PositiveFloat = Field(
        60, description="Longest wait for one answer, from the first byte sent to the last received, in seconds."
    )
    attempts: PositiveInt = Field(4, description="Attempts per answer before it counts as failed.")
    parallel: PositiveInt = Field(4, description="Requests at a time.")

    @model_validator(mode="after")
    def _key_is_not_read_on_the_way(self) -> Self:
        if self.key_env and self.url.lower().startswith("http://") and is_external(self.url):
            host = self.url.partition("://")[2].partition("/")[0]
            raise ValueError(f"benchmark.endpoints: {self.name} would send its key over plain http to {host}; use https")
        return self


class BenchmarkSettings(Section):
    """Judging by ground truth that no reward knows: `tucano benchmark`."""

    prompts: int = Field(130, ge=80, description="Generated prompts over all tasks; 65 are a test set, a benchmark has at least 80.")
    olist: Line | None = Field(None, description="Folder of Olist CSVs: real reviews, their stars as silver labels.")
    b2w: Line | None = Field(None, description="B2W CSV: real reviews, stars as silver labels, human tags (column Tags) for the issues.")
    reviews: NonNegativeInt = Field(100, description="Real reviews of each of these sources, as far as there are unseen ones.")
    samples: PositiveInt = Field(4, description="Sampled answers per prompt (T=1): how sure a model is of churn.")
    adapters: dict[ArmName, Line] = Field({}, description="Further local arms: name and folder of a model or of a LoRA adapter.")
    endpoints: tuple[EndpointSettings, ...] = Field((), description="Further arms behind an API.")
    judge: Line | None = Field(None, description="Name of the endpoint that also rates insights from 1 to 5, blind; it reads the answers.")
    allow_external: bool = Field(False, description="Let prompts leave this machine for endpoints that are not on it.")
    resamples: PositiveInt = Field(400, description="Bootstrap resamples of the prompts, for the intervals.")

    @model_validator(mode="after")
    def _arms_have_their_own_names(self) -> Self:
        names = [*self.adapters, *(endpoint.name for endpoint in self.endpoints)]
        taken = {"base", "sft", "seeds", "constant", "majority", "rules"}
        for name in names:
            if names.count(name) > 1 or name in taken or name.startswith("seed-"):
                raise ValueError(f"benchmark has two arms called {name}; give the adapter or endpoint another name")
        if self.judge is not None and self.judge not in [endpoint.name for endpoint in self.endpoints]:
            raise ValueError(f"benchmark.judge={self.judge} names no endpoint; add it to benchmark.endpoints")
        return self


class PromotionSettings(Section):
    """When a candidate becomes the registry's champion."""

    model: Name = Field("tucano", description="Name in the model registry.")
    margin: NonNegativeFloat = Field(0.02, description="A challenger may be at most this much worse than the champion (95 % bound).")
    approval_hours: PositiveFloat | None = Field(
        None, description="Hours that a person has to approve a challenger in the Prefect page; nobody is asked when empty."
    )


class WorkerSettings(Section):
    """The child processes that hold the models."""

    python: Line | None = Field(None, description="Interpreter of the training children; this one when empty.")
    threads: PositiveInt = Field(1, description="CPU threads per GRPO child.")
    parallel: PositiveInt | None = Field(None, description="GRPO children at a time; as many as cores (1 on a GPU) when empty.")
    checkpoint_minutes: float = Field(10, gt=0, le=10, description="Longest time between two recovery checkpoints, beside save_steps.")
    retries: NonNegativeInt = Field(2, description="New attempts after a child was killed.")


class Price(Section):
    """What an hour of a machine costs."""

    machine: Line = Field(description="Name of the machine, like `g2-standard-8 spot us-central1`.")
    usd_per_hour: NonNegativeFloat = Field(description="US dollars per hour of the whole machine.")
    source: Line = Field(description="Where the price is from.")
    date: datetime.date = Field(description="When it was looked up; Spot prices change.")


class CostSettings(Section):
    """What machine-hours cost."""

    machine: Line = Field("own machine", description="Machine that children train on, where its environment (TUCANO_MACHINE) names none.")
    prices: tuple[Price, ...] = Field(
        (
            Price(
                machine="l4 workbench",
                usd_per_hour=0.82,
                source="the predecessor's final report: 18 USD for 22 hours on one L4",
                date=datetime.date(2026, 5, 2),
            ),
        ),
        description="Price table; a machine without a row has hours and no dollars.",
    )

    @model_validator(mode="after")
    def _one_price_each(self) -> Self:
        names = [price.machine for price in self.prices]
        if len({*names}) != len(names):
            raise ValueError(f"cost.prices has a machine twice: {', '.join(names)}")
        return self


class ExecutionSettings(Section):
    """Where the seeds train."""

    seeds: DeploymentName | None = Field(
        None, description="Deployment that trains each seed in a run of its own, like `seed/local`; child processes of this run when empty."
    )
    grace_minutes: PositiveFloat = Field(
        10, description="How long a crashed seed run may wait to be started again before the others go on without it."
    )


class PipelineSettings(Section):
    """One pipeline run, from data to promotion."""

    storage: Line = Field("runs", description="Folder that holds everything a run writes, or the URL of remote storage.")
    tracking_uri: Address | None = Field(None, description="MLflow server or database; a SQLite file in the storage when empty.")
    seed: Seed = Field(7, description="Seed of the data, of the nano model and of the comparison.")
    data: DataSettings = Field(DataSettings(), description="Prompts and demonstrations.")
    audit: AuditSettings = Field(AuditSettings(), description="Rewards against people's scores.")
    model: ModelSettings = Field(ModelSettings(), description="What is trained.")
    sft: SftSettings = Field(SftSettings(), description="Supervised fine-tuning.")
    grpo: GrpoSettings = Field(GrpoSettings(), description="Reinforcement learning.")
    preflight: PreflightSettings = Field(PreflightSettings(), description="What must hold before reinforcement learning.")
    health: HealthSettings = Field(HealthSettings(), description="Alarms during reinforcement learning.")
    comparison: ComparisonSettings = Field(ComparisonSettings(), description="Is it better, and how sure are we?")
    benchmark: BenchmarkSettings = Field(BenchmarkSettings(), description="Ground truth that no reward knows.")
    promotion: PromotionSettings = Field(PromotionSettings(), description="The registry.")
    worker: WorkerSettings = Field(WorkerSettings(), description="Child processes.")
    cost: CostSettings = Field(CostSettings(), description="Price table.")
    execution: ExecutionSettings = Field(ExecutionSettings(), description="Seeds here or on a work pool.")

    @model_validator(mode="after")
    def _nano_is_trained_whole(self) -> Self:
        if self.model.name == "nano" and not self.sft.enabled:
            raise ValueError("model.name=nano starts from random weights, which only SFT can train: leave sft.enabled=true")
        return self

    @model_validator(mode="after")
    def _the_run_can_do_it(self) -> Self:
        if self.model.backend == "unsloth" and self.grpo._entropy_bonus:
            raise ValueError(
                "grpo.entropy_coef and grpo.entropy_target need model.backend=transformers: unsloth's loss has no entropy bonus"
            )
        if self.model.backend == "unsloth" and self.model.dtype == "float32":
            raise ValueError("model.backend=unsloth computes in bfloat16 whatever model.dtype=float32 says; set model.dtype=bfloat16")
        if self.grpo.task_weights == "iwu" and len(self.tasks) == 1:
            raise ValueError(f"grpo.task_weights=iwu does nothing with a single task ({self.tasks[0]}); use equal")
        return self

    @model_validator(mode="after")
    def _conditions_name_components_of_one_task(self) -> Self:
        if not self.grpo.conditions:
            return self
        from rewards import load_reward_set  # takes a moment; only a run with conditions needs it this early

        rewards = load_reward_set(self.grpo.rewards)
        known = [name for task in self.tasks for name in rewards.component_names(task)]
        for condition in self.grpo.conditions:
            for name in (condition.component, condition.needs):
                if name not in known:
                    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0)[0]
                    raise ValueError(
                        f"grpo.conditions names {name!r}, which the tasks of this run do not have in grpo.rewards={self.grpo.rewards}; "
                        f"the nearest is {nearest!r}"
                    )
            if condition.component.partition(".")[0] != condition.needs.partition(".")[0]:
                raise ValueError(
                    f"grpo.conditions joins {condition.component} with {condition.needs}: no completion has both, choose one task"
                )
        return self

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of this run, in the fixed order of `TASKS`."""
        return tuple(task for task in TASKS if self.data.mix.get(task, 0) > 0)
