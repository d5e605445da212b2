"""Group relative policy optimisation of one seed: TRL's GRPOTrainer with as little overridden as possible.

The mixin has no base class and the trainer class is made at run time, because unsloth replaces `trl.GRPOTrainer` when
it is imported. Only methods that survive unsloth's patching are overridden. Losses, clipping and logging are TRL's;
ours are the rewards and advantages (tucano/training/algorithms), the groups sampled anew (tucano/training/refill.py),
the decode loop on a CPU, the order of prompts after a resume, and what a checkpoint holds. With all of that off it is
TRL, bit for bit (tests/test_grpo_parity.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
import trl
from datasets import Dataset
from torch import Tensor
from transformers import TrainerCallback
from trl import GRPOConfig
from trl.trainer.utils import RepeatSampler

from rewards import load_reward_set
from tucano.files.models import SeedFiles, WorkFiles
from tucano.files.prompts import PromptFiles
from tucano.prompts import Prompt, messages, read_prompts
from tucano.settings.grpo import GrpoStage, GrpoTraining, TrainerStage
from tucano.storage.journal import JournalWriter, read_journal
from tucano.training import attempts, checkpoints
from tucano.training.algorithms import Algorithm, RolloutBatch, chain
from tucano.training.algorithms.curriculum import ceiling
from tucano.training.decode import Decoder, supports
from tucano.training.health import Watch
from tucano.training.jobs import Job, Progress, emit
from tucano.training.likelihood import completion_logps
from tucano.training.policies import load_policy
from tucano.training.refill import Reserve, leave_out, replace_rows
from tucano.training.rollouts import Examiner
from tucano.training.scoring import Rewards
from tucano.training.sealed import Part, Reporter, SealedCheckpoints, opened_journal, settled
from tucano.training.states import NotAsSaved
from tucano.training.validation import Validation


class EpochSampler(RepeatSampler):
    """TRL's sampler with its permutation made a function of (seed, epoch), so that a resumed run sees the same order.

    Epoch e takes the e-th draw of a generator seeded anew: the order that TRL's own sampler has in a run never
    interrupted.
    """

    epoch_of: Callable[[], int]

    def __iter__(self) -> Any:
        self.generator.manual_seed(self.seed)
        for _ in range(self.epoch_of()):
            torch.randperm(self.num_samples, generator=self.generator)
        return super().__iter__()


class GrpoMixin(SealedCheckpoints):
    """Our part of the trainer; see the module's docstring."""

    settings: GrpoTraining
    scorer: Rewards
    algorithm: Algorithm
    reserve: Reserve
    validation: Validation
    watch: Watch

    def _calculate_rewards(
        self, inputs: list[dict[str, Any]], prompts: Any, completions: Any, completion_ids: list[list[int]]
    ) -> Tensor:
        rewards = super()._calculate_rewards(inputs, prompts, completions, completion_ids)  # type: ignore[misc]
        batch = RolloutBatch(
            rewards=rewards,
            components=tuple(self.scorer.weights),
            weights=torch.tensor(list(self.scorer.weights.values()), device=rewards.device),
            generations=self.num_generations,  # type: ignore[attr-defined]
            tasks=[row["task"] for row in inputs],
            lengths=torch.tensor([len(ids) for ids in completion_ids], device=rewards.device),
            ceiling=self.generation_config.max_new_tokens,  # type: ignore[attr-defined]
            entropies=lambda: torch.zeros(0),
        )
        self.sampled.append((batch.tasks, torch.tensor([score.total for score in self.scorer.scores])))
        self.batch = self.algorithm.shape_rewards(batch)
        return rewards

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        longest, step = self.settings.max_completion_tokens, self.state.global_step
        self.generation_config.max_new_tokens = ceiling(self.settings.length_stages, longest, step)  # type: ignore[attr-defined]
        self.sampled: list[tuple[list[str], Tensor]] = []
        output = super()._generate_and_score_completions(inputs)  # type: ignore[misc]
        batch, live = self.batch, self.algorithm.select_groups(self.batch)
        for _ in range(self.settings.refill_rounds):
            if live.all():
                break
            output, batch = self._refill(output, batch, live)
            live = self.algorithm.select_groups(batch)
        means = self._log_sampled()
        batch = replace(batch, task_means=means, entropies=lambda: self._completion_entropies(output))
        output["advantages"] = self.algorithm.advantages(batch).to(output["advantages"].device)
        if live.any() and not live.all():
            output = leave_out(output, live.repeat_interleave(batch.generations))
        self._log("groups/live", live.float().mean().item())
        for name, value in self.algorithm.metrics().items():
            self._log(name, value)
        return output

    def _refill(self, output: dict[str, Any], batch: RolloutBatch, live: Tensor) -> tuple[dict[str, Any], RolloutBatch]:
        """Sample other prompts of the same tasks in the place of the groups that are not live."""
        rows = (~live.repeat_interleave(batch.generations)).nonzero().flatten()
        prompts = [self.reserve.take(batch.tasks[row]) for row in rows[:: batch.generations].tolist()]
        more = super()._generate_and_score_completions([prompt for prompt in prompts for _ in range(batch.generations)])  # type: ignore[misc]
        merged = replace_rows(output, rows, more, self._tokenizer.pad_token_id)  # type: ignore[attr-defined]
        merged["num_items_in_batch"] = merged["completion_mask"].sum()
        rewards = batch.rewards.index_copy(0, rows, self.batch.rewards)
        return merged, replace(batch, rewards=rewards, lengths=batch.lengths.index_copy(0, rows, self.batch.lengths))

    @torch.no_grad()
    def _completion_entropies(self, output: dict[str, Any]) -> Tensor:
        """[B] mean entropy per token of the completions under the policy that sampled them."""
        ids = torch.cat((output["prompt_ids"], output["completion_ids"]), dim=1)
        mask = torch.cat((output["prompt_mask"], output["completion_mask"]), dim=1)
        rows, length = self.args.per_device_train_batch_size, output["completion_ids"].shape[1]
        _, entropies, _ = self._get_per_token_logps_and_entropies(
            self.model, ids, mask, length, batch_size=rows, compute_entropy=True
        )
        assert entropies is not None
        return (entropies * output["completion_mask"]).sum(dim=1) / output["completion_mask"].sum(dim=1).clamp(min=1)

    def _log_sampled(self) -> dict[str, float]:
        """Log and return the mean reward of each task over all that was sampled in this rollout, replaced groups
        included.

        Beside it, per task, the share of groups whose completions all earned the same: no signal.
        """
        self._log("reward/highest", max(sum(score.components.values()) for score in self.scorer.scores))
        totals = torch.cat([part for _, part in self.sampled]).view(-1, self.batch.generations)
        tasks = [task for names, _ in self.sampled for task in names[:: self.batch.generations]]
        self._log("groups/sampled", len(tasks))
        self._log("reward/total", totals.mean().item())
        means: dict[str, float] = {}
        for task in sorted(set(tasks)):
            mine = totals[[index for index, other in enumerate(tasks) if other == task]]
            means[task] = mine.mean().item()
            self._log(f"reward/{task}", means[task])
            self._log(f"zero_variance/{task}", (mine.std(dim=1) < 1e-6).float().mean().item())
        return means

    def _log(self, name: str, value: float) -> None:
        self._metrics["train"][name].append(value)  # type: ignore[attr-defined]

    def _generate_single_turn(
        self, prompt_ids: list[list[int]], *args: Any, **kwargs: Any
    ) -> tuple[list[list[int]], None]:
        model = self.accelerator.unwrap_model(self.model)  # type: ignore[attr-defined]
        if not self.settings.fast_cpu or not supports(model):
            return super()._generate_single_turn(prompt_ids, *args, **kwargs)  # type: ignore[misc]
        limit, stop, temperature = self.generation_config.max_new_tokens, self.eos_token_ids, self.temperature  # type: ignore[attr-defined]
        return Decoder(model).sample(prompt_ids, limit, stop, temperature), None

    def _get_per_token_logps_and_entropies(
        self, model: Any, input_ids: Tensor, attention_mask: Tensor, logits_to_keep: int, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """[B, T] log-probabilities and entropies; on a CPU every distinct prompt is read once
        (tucano/training/likelihood.py).
        """
        if not self.settings.fast_cpu or input_ids.device.type != "cpu":
            full = super()._get_per_token_logps_and_entropies  # type: ignore[misc]
            return full(model, input_ids, attention_mask, logits_to_keep, *args, **kwargs)
        temperature, bonus = self.temperature, self._entropy_bonus_enabled  # type: ignore[attr-defined]
        logps, entropies = completion_logps(model, input_ids, attention_mask, logits_to_keep, temperature, bonus)
        return logps, entropies if kwargs.get("compute_entropy") else None, None

    def _get_train_sampler(self, dataset: Dataset | None = None) -> RepeatSampler:
        sampler = super()._get_train_sampler(dataset)  # type: ignore[misc]
        sampler.__class__ = EpochSampler
        sampler.epoch_of = lambda: int(self.state.epoch or 0)  # a whole number exactly after the last step of an epoch
        return sampler

    def parts(self) -> dict[str, Part]:
        return {"validation": self.validation, "algorithm": self.algorithm, "reserve": self.reserve}

    def look_is_due(self) -> bool:
        return self.validation.is_due(self.state.global_step, self.state.max_steps)

    def look(self) -> None:
        self.validation.look(self.model, self.state.global_step)

    def patience_is_over(self) -> bool:
        return self.validation.waited >= self.validation.settings.patience or self.watch.must_stop


def run(job: Job) -> dict[str, object] | None:
    """Train one seed and write its best adapter into `job.output`; None when interrupted."""
    settings = GrpoStage.model_validate(job.settings)
    work, files = WorkFiles(Path(job.work)), PromptFiles(Path(job.prompts))
    name = f"grpo seed {job.seed}"
    attempt = attempts.begin(work.folder, job.mirror, job.threads)
    computed, journal = settled(attempt, settings.model.device, name), opened_journal(attempt)
    watch = watched(journal, settings, name)
    shown = {"reward/total": "reward", "entropy": "entropy"}
    trainer, examiner = build(job, settings, attempt.drafts, [Reporter(journal, name, shown)])
    validation = Validation(settings.grpo, examiner, read_prompts(files.validation), journal, work.best, job.seed)
    trainer.attempt, trainer.journal, trainer.best = attempt, journal, validation.best
    trainer.save_seconds = 60 * job.checkpoint_minutes
    trainer.validation, trainer.watch, trainer.arithmetic = validation, watch, computed
    if not trainer.train_sealed():
        return None
    journal.commit(trainer.state.global_step)
    fault = checkpoints.fault(work.best)
    if fault is not None:
        raise NotAsSaved(f"{work.best}: {fault}")
    work.best.rename(SeedFiles(Path(job.output)).adapter)
    return {
        "steps": trainer.state.global_step,
        "best_step": validation.best_step,
        "best_value": validation.highest,
        "validation": validation.curve,
        "alarms": [alarm.record() for alarm in watch.raised.values()],
        "arithmetic": [asdict(one) for one in computed],
    }


def watched(journal: JournalWriter, settings: GrpoStage, name: str) -> Watch:
    """Alarms over a journal: over the rows that it has already, and from now on over every new one, told to the
    parent.
    """
    watch = Watch(settings.health, settings.grpo.max_steps)
    for entry in read_journal(journal.path):
        watch.observe(entry.step, entry.values)

    def listen(step: int, values: Mapping[str, float]) -> None:
        for alarm in watch.observe(step, values):
            journal.log(step, {f"health/{alarm.name}": 1.0})
            emit(Progress(name, step, settings.grpo.max_steps, {}, notice=alarm.line()))

    journal.listener = listen
    return watch


def build(job: Job, settings: TrainerStage, output: Path, callbacks: list[TrainerCallback]) -> tuple[Any, Examiner]:
    """The trainer of a run, without what keeps it (attempt, journal, validation), and the examiner that asks its
    policy.
    """
    files = PromptFiles(Path(job.prompts))
    folder, systems = files.folder, files.systems()
    policy, tokenizer = load_policy(
        settings.model, job.base, Path(job.adapter) if job.adapter else None, trainable=True, seed=job.seed
    )
    prompts = read_prompts(files.train)
    rewards = load_reward_set(settings.grpo.rewards, folder)
    examiner = Examiner(
        tokenizer, systems, rewards, folder, settings.grpo.max_completion_tokens, settings.grpo.fast_cpu
    )
    scorer, dataset = Rewards(rewards, prompts), _dataset(prompts, systems)
    trainer_class = type("Trainer", (GrpoMixin, trl.GRPOTrainer), {})
    trainer = trainer_class(
        model=policy,
        args=arguments(settings, output, job.save_steps),
        train_dataset=dataset,
        reward_funcs=scorer.functions(),
        processing_class=tokenizer,
        callbacks=callbacks,
    )
    trainer.settings, trainer.scorer = settings.grpo, scorer
    trainer.algorithm, trainer.reserve = chain.from_settings(settings, list(scorer.weights)), Reserve(dataset, job.seed)
    return trainer, examiner


def _dataset(prompts: Sequence[Prompt], systems: dict[str, str]) -> Dataset:
    return Dataset.from_list([{"prompt": messages(p, systems), "prompt_id": p.id, "task": p.task} for p in prompts])


def arguments(settings: TrainerStage, drafts: Path, save_steps: int) -> GRPOConfig:
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
        importance_sampling_level=grpo.importance_sampling,
        mask_truncated_completions=grpo.mask_truncated,
        entropy_coef=grpo.entropy_coef,
        use_adaptive_entropy=grpo.entropy_target is not None,
        entropy_target=grpo.entropy_target or 0.0,
        entropy_coef_delta=grpo.entropy_delta,
        entropy_coef_max=grpo.entropy_coef_max,
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
        save_steps=save_steps,
        save_total_limit=None,
        eval_strategy="no",
        logging_steps=1,
        logging_nan_inf_filter=False,
        disable_tqdm=True,
        report_to=[],
        seed=settings.seed,
        data_seed=settings.seed,
    )
