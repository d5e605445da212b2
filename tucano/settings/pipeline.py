"""The settings of a whole pipeline run."""

import difflib
import json
from collections.abc import Iterator
from typing import Any

from pydantic import Field, model_validator

from rewards.fields import is_answered_with_fields
from rewards.sets import SETS, load_reward_set
from tucano.artifacts.identity import base_identity
from tucano.errors import SecretInSettings
from tucano.prompts import TASKS, Task
from tucano.security.addresses import secret_in
from tucano.security.printable import short
from tucano.security.texts import Address, Line
from tucano.settings.audit import AuditSettings
from tucano.settings.base import Section, Seed
from tucano.settings.benchmark import BenchmarkSettings
from tucano.settings.comparison import SAMPLED, ComparisonSettings
from tucano.settings.data import DataSettings
from tucano.settings.execution import CostSettings, ExecutionSettings, WorkerSettings
from tucano.settings.model import VLLM_RANKS, ModelSettings
from tucano.settings.promotion import MonitorSettings, PromotionSettings, ServingSettings
from tucano.settings.training.dpo import DpoSettings, DpoTraining
from tucano.settings.training.drawing import Drawing, Looking
from tucano.settings.training.grpo import GrpoRun, GrpoSettings
from tucano.settings.training.health import HealthSettings
from tucano.settings.training.preflight import PreflightSettings
from tucano.settings.training.sft import SftSettings


class PipelineSettings(Section):
    """One pipeline run, from data to promotion."""

    storage: Line = Field(
        "runs", description="Folder that holds everything a run writes, or the URL of remote storage."
    )
    tracking_uri: Address | None = Field(
        None, description="MLflow server or database; a SQLite file in the storage when empty."
    )
    seed: Seed = Field(7, description="Seed of the data, of the nano model and of the comparison.")
    data: DataSettings = Field(DataSettings(), description="Prompts and demonstrations.")
    audit: AuditSettings = Field(AuditSettings(), description="Rewards against people's scores.")
    model: ModelSettings = Field(ModelSettings(), description="What is trained.")
    sft: SftSettings = Field(SftSettings(), description="Supervised fine-tuning.")
    grpo: GrpoSettings = Field(GrpoSettings(), description="Reinforcement learning.")
    dpo: DpoSettings = Field(DpoSettings(), description="Preference optimisation after reinforcement learning.")
    preflight: PreflightSettings = Field(
        PreflightSettings(), description="What must hold before reinforcement learning."
    )
    health: HealthSettings = Field(HealthSettings(), description="Alarms during reinforcement learning.")
    comparison: ComparisonSettings = Field(ComparisonSettings(), description="Is it better, and how sure are we?")
    benchmark: BenchmarkSettings = Field(BenchmarkSettings(), description="Ground truth that no reward knows.")
    promotion: PromotionSettings = Field(PromotionSettings(), description="The registry.")
    serving: ServingSettings = Field(ServingSettings(), description="Answers over HTTP: `tucano serve`.")
    monitor: MonitorSettings = Field(MonitorSettings(), description="Watching what is served: `tucano monitor`.")
    worker: WorkerSettings = Field(WorkerSettings(), description="Child processes.")
    cost: CostSettings = Field(CostSettings(), description="Price table.")
    execution: ExecutionSettings = Field(ExecutionSettings(), description="Stages here or on a work pool.")

    @model_validator(mode="before")
    @classmethod
    def _holds_no_secret(cls, values: Any) -> Any:
        place = secret_in(values)
        if place is not None:
            raise SecretInSettings(
                f"{short(place)} holds a password, token or key, and settings are written into reports and databases: "
                "leave it out and give it in the environment (docs/operations.md, Credentials)"
            )
        return values

    def _faults(self) -> Iterator[str]:
        yield from self._impossible()
        yield from self._impossible_with_unsloth()
        yield from self._idle_without_steps()
        yield from self._never_raised()
        yield from self._unfit_thinking()
        yield from self._unfit_adapters()
        yield from self._without_rewards()
        yield from self._unfit_conditions()

    def _impossible(self) -> Iterator[str]:
        if self.model.name == "nano" and not self.sft.enabled:
            yield "model.name=nano starts from random weights, which only SFT can train: leave sft.enabled=true"
        if self.model.name == "nano" and self.model.quantization != "none":
            yield "model.quantization=nf4 needs a model that is given: nano is trained whole, and 4 bits cannot be"
        if self.grpo.block_advantages and not any(map(is_answered_with_fields, self.tasks)):
            yield (
                f"grpo.block_advantages does nothing for {', '.join(self.tasks)}: no task of this run is answered with"
                " fields; leave it out"
            )
        if self.grpo.sampler == "vllm" and self.worker.vllm_python is None:
            yield (
                "grpo.sampler=vllm needs an interpreter with vLLM: name it with worker.vllm_python=/PATH/bin/python"
                " (docs/gpu.md says how to make one)"
            )
        if self.grpo.sampler == "vllm" and self.model.lora_rank > VLLM_RANKS[-1]:
            yield (
                f"model.lora_rank={self.model.lora_rank} is more than the {VLLM_RANKS[-1]} that grpo.sampler=vllm"
                " serves; lower it, or set grpo.sampler=local"
            )
        if not self.grpo.max_steps and not self.dpo.enabled:
            yield "grpo.max_steps=0 trains nothing; give it steps, or set dpo.enabled=true for DPO alone"
        if self.grpo.task_weights == "iwu" and len(self.tasks) == 1:
            yield f"grpo.task_weights=iwu does nothing with a single task ({self.tasks[0]}); use equal"

    def _impossible_with_unsloth(self) -> Iterator[str]:
        if self.model.backend != "unsloth":
            return
        if self.grpo._entropy_bonus:
            yield (
                "grpo.entropy_coef and grpo.entropy_target need model.backend=transformers: unsloth's loss has no"
                " entropy bonus"
            )
        if self.grpo.entropy_advantages:
            yield (
                "grpo.entropy_advantages needs model.backend=transformers: unsloth does not say a completion's entropy"
            )
        if self.grpo.block_advantages or self.grpo.teacher:
            yield (
                f"grpo.{'block_advantages' if self.grpo.block_advantages else 'teacher'} needs"
                " model.backend=transformers: unsloth moves the tokens of a completion, and none would find its own"
                " advantage"
            )
        if self.model.dtype == "float32":
            yield (
                "model.backend=unsloth computes in bfloat16 whatever model.dtype=float32 says; set model.dtype=bfloat16"
            )
        if self.dpo.enabled:
            yield (
                "dpo.enabled=true needs model.backend=transformers: unsloth's DPO trainer was never held against TRL's"
            )

    def _idle_without_steps(self) -> Iterator[str]:
        """What DPO reads too may be set, and so may what either has for its steps: the preflight rehearses some."""
        if self.grpo.max_steps:
            return
        own_of_both = DpoTraining.model_fields.keys() - {"beta"}  # DPO's is another
        read = {"max_steps", *own_of_both, *Drawing.model_fields, *Looking.model_fields}
        usual = {name: field.default for name, field in GrpoRun.model_fields.items() if name not in read}
        if idle := [name for name, value in usual.items() if getattr(self.grpo, name) != value]:
            yield (
                f"grpo.max_steps=0 makes no step, so {', '.join(f'grpo.{name}' for name in idle)} would do nothing;"
                f" leave out, or set {', '.join(f'grpo.{name}={json.dumps(usual[name])}' for name in idle)}"
            )

    def _never_raised(self) -> Iterator[str]:
        for alarm, is_watched, needs in (
            ("sampler_apart", self.grpo.sampler == "vllm", "grpo.sampler=vllm"),
            ("task_starved", self.grpo.task_weights == "iwu", "grpo.task_weights=iwu"),
        ):
            if alarm in self.health.stop_on and not is_watched:
                yield (
                    f"health.stop_on names {alarm}, which is only raised with {needs}: it would never end this run;"
                    " take it out"
                )

    def _unfit_thinking(self) -> Iterator[str]:
        asked = self.data.thinking or ()
        if absent := [task for task in asked if task not in self.tasks]:
            yield (
                f"data.thinking names {', '.join(absent)}, and this run has no such task; take it out, or give it a"
                " share in data.mix"
            )
        if asked and self.dpo.enabled:
            yield (
                "dpo.enabled=true learns from answers without their thoughts, which would unlearn data.thinking; leave"
                " one of them out"
            )
        if not asked and (self.grpo.think_weight or self.grpo.max_think_tokens):
            yield (
                "grpo.think_weight and grpo.max_think_tokens do nothing where no task is answered after a thought; name"
                " some in data.thinking"
            )

    def _unfit_adapters(self) -> Iterator[str]:
        if self.grpo.adapters == "one":
            return
        named = list(self.benchmark.named)
        for there, sentence in (
            (len(self.tasks) == 1, f"does nothing with a single task ({self.tasks[0]}); use one"),
            (self.grpo.task_weights == "iwu", "leaves grpo.task_weights=iwu no tasks to weigh; use equal"),
            (self.model.backend != "transformers", f"needs model.backend=transformers, not {self.model.backend}"),
            (self.model.quantization != "none", "needs model.quantization=none: its base is served as it is"),
            (self.grpo.sampler == "vllm", "needs grpo.sampler=local: the vLLM server is given one adapter at a time"),
            (self.dpo.enabled, "cannot be followed by DPO, which goes on from one adapter; set dpo.enabled=false"),
            (bool(named), f"has no adapter for questions without a task; leave benchmark.{', '.join(named)} empty"),
        ):
            if there:
                yield f"grpo.adapters=per_task {sentence}"

    def _without_rewards(self) -> Iterator[str]:
        for field, name in (("grpo.rewards", self.grpo.rewards), ("comparison.rewards", self.comparison.rewards)):
            if unknown := [task for task in self.tasks if task not in SETS[name]]:
                yield (
                    f"{field}={name} has no reward for {', '.join(unknown)}; choose grounded, or leave it out of"
                    " data.mix"
                )

    def _unfit_conditions(self) -> Iterator[str]:
        if not self.grpo.conditions:
            return
        rewards = load_reward_set(self.grpo.rewards)
        known = [name for task in self.tasks for name in rewards.component_names(task)]
        for condition in self.grpo.conditions:
            for name in (condition.component, condition.needs):
                if name not in known:
                    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0)[0]
                    yield (
                        f"grpo.conditions names {name!r}, which the tasks of this run do not have in"
                        f" grpo.rewards={self.grpo.rewards}; the nearest is {nearest!r}"
                    )
            if condition.component.partition(".")[0] != condition.needs.partition(".")[0]:
                yield (
                    f"grpo.conditions joins {condition.component} with {condition.needs}: no completion has both,"
                    " choose one task"
                )
        joined = {(condition.component, condition.needs) for condition in self.grpo.conditions}
        if both := next((pair for pair in sorted(joined) if pair[::-1] in joined), None):
            which = "need itself" if both[0] == both[1] else f"and {both[1]} need each other"
            yield f"grpo.conditions let {both[0]} {which}; let it need another component of its task"

    @property
    def validation_temperature(self) -> float:
        """What validation answers are drawn at: as the comparison draws those that the checkpoint is chosen for."""
        chosen = self.grpo.validation_decoding
        decoding = self.comparison.primary if chosen == "primary" else chosen
        return self.comparison.served_temperature if decoding == "served" else SAMPLED

    @property
    def base(self) -> str:
        """What identifies the model that is given: for keys, wherever a folder of it lies."""
        return base_identity(self.model.place)

    @property
    def reference(self) -> str:
        """The arm that the tuned ones are compared with: what GRPO starts from."""
        return "sft" if self.sft.enabled else "base"

    @property
    def trainings(self) -> int:
        """GRPO runs: one of each seed, or one of each seed and task."""
        return len(self.grpo.seeds) * (len(self.tasks) if self.grpo.adapters == "per_task" else 1)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of this run, in the fixed order of `TASKS`."""
        return tuple(task for task in TASKS if self.data.mix.get(task, 0) > 0)
