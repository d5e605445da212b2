"""Group relative policy optimisation of one seed: TRL's GRPOTrainer with as little overridden as possible.

The mixin has no base class and the trainer class is made at run time, because unsloth replaces `trl.GRPOTrainer` when it is
imported. Only methods that survive unsloth's patching are overridden. Losses, clipping and logging are TRL's; ours are the
advantages (tucano/training/algorithms), the decode loop on a CPU, the sampler over epochs, and what a checkpoint holds.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import trl
from datasets import Dataset
from torch import Tensor
from trl import GRPOConfig
from trl.trainer.utils import RepeatSampler

from rewards import RewardSet, Score, load_reward_set
from tucano.prompts import Prompt, messages, read_prompts
from tucano.settings import PipelineSettings
from tucano.training import attempts
from tucano.training.algorithms import Advantages, RolloutBatch, gdpo, group
from tucano.training.decode import Decoder, supports
from tucano.training.jobs import Job
from tucano.training.likelihood import completion_logps
from tucano.training.policies import load_policy
from tucano.training.rollouts import Examiner
from tucano.training.sealed import Reporter, SealedCheckpoints, opened_journal
from tucano.training.validation import Validation

ALGORITHMS: dict[str, Advantages] = {"gdpo": gdpo.advantages, "group": group.advantages}


class Rewards:
    """Scores a batch once and hands TRL one reward function per component, NaN where a task has no such component."""

    def __init__(self, rewards: RewardSet, prompts: Sequence[Prompt]) -> None:
        self.rewards = rewards
        self.by_id = {prompt.id: prompt for prompt in prompts}
        tasks = sorted({prompt.task for prompt in prompts})
        self.weights = {name: weight for task in tasks for name, weight in rewards.component_weights(task).items()}
        self._texts: list[str] = []
        self.scores: list[Score] = []

    def functions(self) -> list[Callable[..., list[float | None]]]:
        return [self._component(name) for name in self.weights]

    def _component(self, name: str) -> Callable[..., list[float | None]]:
        def reward(completions: list[list[dict[str, str]]], prompt_id: list[str], **_: Any) -> list[float | None]:
            self._score([completion[0]["content"] for completion in completions], prompt_id)
            return [score.components.get(name) for score in self.scores]

        reward.__name__ = name
        return reward

    def _score(self, texts: list[str], prompt_ids: list[str]) -> None:
        if texts is not self._texts and texts != self._texts:
            prompts = [self.by_id[prompt_id] for prompt_id in prompt_ids]
            self._texts, self.scores = texts, self.rewards.score_batch(prompts, texts)
            assert len(self.scores) == len(texts), "a reward set returns one score per completion"


class EpochSampler(RepeatSampler):
    """TRL's sampler with a permutation that is a function of (seed, epoch), so that a resumed run sees the same order."""

    epoch_of: Callable[[], int]

    def __iter__(self) -> Any:
        self.generator.manual_seed(self.seed + 1_000_003 * self.epoch_of())
        return super().__iter__()


class GrpoMixin(SealedCheckpoints):
    """Our part of the trainer; see the module's docstring."""

    scorer: Rewards
    advantage_function: Advantages
    std_floor: float

    def _calculate_rewards(self, inputs: list[dict[str, Any]], *args: Any, **kwargs: Any) -> Tensor:
        rewards = super()._calculate_rewards(inputs, *args, **kwargs)  # type: ignore[misc]
        self.batch = RolloutBatch(
            rewards=rewards.round(decimals=6),
            weights=torch.tensor(list(self.scorer.weights.values()), device=rewards.device),
            generations=self.num_generations,  # type: ignore[attr-defined]
            tasks=[row["task"] for row in inputs],
        )
        return rewards

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output = super()._generate_and_score_completions(inputs)  # type: ignore[misc]
        output["advantages"] = self.advantage_function(self.batch, self.std_floor).to(output["advantages"].device)
        self._log_groups()
        return output

    def _log_groups(self) -> None:
        """Reward per task, and per task the share of groups whose completions all earned the same: no signal."""
        totals = torch.tensor([score.total for score in self.scorer.scores]).view(-1, self.batch.generations)
        tasks = self.batch.tasks[:: self.batch.generations]
        metrics = self._metrics["train"]  # type: ignore[attr-defined]
        metrics["reward/total"].append(totals.mean().item())
        for task in set(tasks):
            mine = totals[[index for index, other in enumerate(tasks) if other == task]]
            metrics[f"reward/{task}"].append(mine.mean().item())
            metrics[f"zero_variance/{task}"].append((mine.std(dim=1) < 1e-6).float().mean().item())

    def _generate_single_turn(self, prompt_ids: list[list[int]], *args: Any, **kwargs: Any) -> tuple[list[list[int]], None]:
        model = self.accelerator.unwrap_model(self.model)  # type: ignore[attr-defined]
        if not supports(model):
            return super()._generate_single_turn(prompt_ids, *args, **kwargs)  # type: ignore[misc]
        limit, stop, temperature = self.max_completion_length, self.eos_token_ids, self.temperature  # type: ignore[attr-defined]
        return Decoder(model).sample(prompt_ids, limit, stop, temperature), None

    def _get_per_token_logps_and_entropies(
        self, model: Any, input_ids: Tensor, attention_mask: Tensor, logits_to_keep: int, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """[B, T] log-probabilities and entropies; on a CPU every distinct prompt is read once (tucano/training/likelihood.py)."""
        if input_ids.device.type != "cpu":
            full = super()._get_per_token_logps_and_entropies  # type: ignore[misc]
            return full(model, input_ids, attention_mask, logits_to_keep, *args, **kwargs)
        logps, entropies = completion_logps(model, input_ids, attention_mask, logits_to_keep, self.temperature)  # type: ignore[attr-defined]
        return logps, entropies if kwargs.get("compute_entropy") else None, None

    def _get_train_sampler(self, dataset: Dataset | None = None) -> RepeatSampler:
        sampler = super()._get_train_sampler(dataset)  # type: ignore[misc]
        sampler.__class__ = EpochSampler
        sampler.epoch_of = lambda: int(self.state.epoch or 0)  # a whole number exactly after the last step of an epoch
        return sampler

    def extra_state(self) -> dict[str, Any]:
        return {"step": self._step, "buffered_inputs": self._buffered_inputs, "validation": self.validation.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self._step, self._buffered_inputs = state["step"], state["buffered_inputs"]
        self.validation.load(state["validation"])

    def look_is_due(self) -> bool:
        return self.validation.is_due(self.state.global_step, self.state.max_steps)

    def look(self) -> None:
        self.validation.look(self.model, self.state.global_step)  # type: ignore[attr-defined]

    def patience_is_over(self) -> bool:
        return self.validation.waited >= self.validation.settings.patience

    validation: Validation


def run(job: Job) -> dict[str, object] | None:
    """Train one seed and write its best adapter into `job.output/adapter`; None when interrupted."""
    settings = PipelineSettings.model_validate(job.settings)
    work, folder = Path(job.work), Path(job.prompts)
    attempt = attempts.begin(work, job.mirror)
    systems = json.loads((folder / "system_prompts.json").read_text(encoding="utf-8"))
    policy, tokenizer = load_policy(settings.model, job.base, Path(job.adapter) if job.adapter else None, trainable=True, seed=job.seed)
    prompts = read_prompts(folder / "train.jsonl")
    rewards = load_reward_set(settings.grpo.rewards, folder)
    examiner = Examiner(tokenizer, systems, rewards, folder, settings.grpo.max_completion_tokens)
    journal = opened_journal(attempt)
    validation = Validation(settings.grpo, examiner, read_prompts(folder / "validation.jsonl"), journal, work / "best", job.seed)
    scorer = Rewards(rewards, prompts)
    trainer_class = type("Trainer", (GrpoMixin, trl.GRPOTrainer), {})
    trainer = trainer_class(
        model=policy,
        args=_arguments(settings, attempt.drafts, job.seed),
        train_dataset=_dataset(prompts, systems),
        reward_funcs=scorer.functions(),
        processing_class=tokenizer,
        callbacks=[Reporter(journal, f"grpo seed {job.seed}", {"reward/total": "reward", "entropy": "entropy"})],
    )
    trainer.attempt, trainer.journal, trainer.best = attempt, journal, validation.best
    trainer.save_seconds = 60 * settings.worker.checkpoint_minutes
    trainer.validation, trainer.scorer = validation, scorer
    trainer.advantage_function, trainer.std_floor = ALGORITHMS[settings.grpo.advantages], settings.grpo.std_floor
    if not trainer.train_sealed():
        return None
    journal.commit(trainer.state.global_step)
    (work / "best").rename(Path(job.output) / "adapter")
    return {
        "steps": trainer.state.global_step,
        "best_step": validation.best_step,
        "best_value": validation.highest,
        "validation": validation.curve,
    }


def _dataset(prompts: Sequence[Prompt], systems: dict[str, str]) -> Dataset:
    return Dataset.from_list([{"prompt": messages(p, systems), "prompt_id": p.id, "task": p.task} for p in prompts])


def _arguments(settings: PipelineSettings, drafts: Path, seed: int) -> GRPOConfig:
    """Every field that shapes generation or training, explicit: defaults of models, TRL and unsloth differ silently."""
    grpo, cpu = settings.grpo, settings.model.device == "cpu"
    accumulation = grpo.batch_size // grpo.micro_batch
    return GRPOConfig(
        output_dir=str(drafts),
        max_steps=grpo.max_steps,
        per_device_train_batch_size=grpo.micro_batch,
        gradient_accumulation_steps=accumulation,
        steps_per_generation=accumulation * grpo.rollout_steps,
        num_generations=grpo.generations,
        num_iterations=grpo.iterations,
        max_completion_length=grpo.max_completion_tokens,
        temperature=grpo.temperature,
        top_p=1.0,
        top_k=0,
        min_p=None,
        repetition_penalty=1.0,
        learning_rate=grpo.learning_rate,
        lr_scheduler_type=grpo.schedule,
        warmup_steps=grpo.warmup_share,
        weight_decay=0.0,
        max_grad_norm=grpo.max_grad_norm,
        optim="adamw_torch",
        adam_beta1=0.9,
        adam_beta2=0.999,
        adam_epsilon=1e-8,
        beta=grpo.beta,
        epsilon=grpo.epsilon,
        epsilon_high=grpo.epsilon_high,
        loss_type=grpo.loss,
        scale_rewards="none",
        multi_objective_aggregation="sum_then_normalize",
        importance_sampling_level="token",
        mask_truncated_completions=False,
        disable_dropout=settings.model.lora_dropout == 0,
        shuffle_dataset=True,
        remove_unused_columns=False,
        gradient_checkpointing=not cpu,
        bf16=settings.model.dtype == "bfloat16",
        use_cpu=cpu,
        use_vllm=False,
        dataloader_num_workers=0,
        dataloader_pin_memory=not cpu,
        save_strategy="steps",
        save_steps=grpo.save_steps,
        save_total_limit=None,
        eval_strategy="no",
        logging_steps=1,
        logging_nan_inf_filter=False,
        disable_tqdm=True,
        report_to=[],
        seed=seed,
        data_seed=seed,
    )
