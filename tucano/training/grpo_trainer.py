"""TRL's GRPOTrainer with as little overridden as possible.

At run time the mixin has no base class of TRL's and the trainer class is made where it is needed, because unsloth
replaces `trl.GRPOTrainer` when it is imported. Only methods that survive unsloth's patching are overridden. Losses,
clipping and logging are TRL's; ours are the rewards and advantages (tucano/training/algorithms), the groups sampled
anew (tucano/training/rollouts/refill.py), the decode loop on a CPU, the order of prompts after a resume, and what a
checkpoint holds. With all of that off it is TRL, bit for bit (tests/test_grpo_parity.py).
"""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import torch
import torch.nn.functional as F
import trl
from datasets import Dataset
from torch import Tensor
from trl.trainer.utils import RepeatSampler

from tucano.settings.training.grpo import GrpoTraining
from tucano.training.algorithms import Algorithm, Block, RolloutBatch
from tucano.training.checkpoints.resumable import Part, ResumableTrainer, Settled
from tucano.training.policies.likelihood import completion_logps
from tucano.training.policies.packed import kept_layers, packed_logps, packs
from tucano.training.rollouts.admission import Admitted
from tucano.training.rollouts.blocks import blocks_of
from tucano.training.rollouts.clock import Clock
from tucano.training.rollouts.refill import Reserve
from tucano.training.rollouts.rollout import Rollout, leave_out
from tucano.training.rollouts.scoring import Rewards
from tucano.training.rollouts.teacher import Teacher
from tucano.training.rollouts.wordings import Wordings
from tucano.training.samplers import Decoding, Sampler
from tucano.training.samplers.decode import Decoder, supports
from tucano.training.samplers.local import LocalSampler
from tucano.training.validation import Validation

if TYPE_CHECKING:
    from trl.trainer.grpo_trainer import GRPOTrainer
else:
    GRPOTrainer = object


class EpochSampler(RepeatSampler):
    """TRL's sampler with its permutation made a function of (seed, epoch), so that a resumed run sees the same order.

    Epoch e takes the e-th draw of a generator seeded anew: the order that TRL's own sampler has in a run never
    interrupted.
    """

    epoch_of: Callable[[], int]

    def __iter__(self) -> Iterator[int]:
        self.generator.manual_seed(self.seed)
        for _ in range(self.epoch_of()):
            torch.randperm(self.num_samples, generator=self.generator)
        return super().__iter__()


class GrpoMixin(ResumableTrainer, GRPOTrainer):  # type: ignore[misc]  # TRL narrows `_get_eval_sampler` of its base
    """Our part of the trainer; see the module's docstring."""

    settings: GrpoTraining
    scorer: Rewards
    algorithm: Algorithm
    reserve: Reserve
    admitted: Settled | None = None
    teacher: Teacher | None = None
    wordings: Wordings | None = None
    validation: Validation
    sampler: Sampler
    thinking: frozenset[str] = frozenset()
    """The tasks that are answered after a thought."""
    is_unsloths: bool = False
    """Whether the trainer below is unsloth's, which logs no entropy (2026.10.7) and has a loss of its own."""
    room: int = 0
    """Of how many tokens' activations, times layers, a GPU has memory for."""
    _scored: Rollout | None = None
    """What TRL's own method in between does not pass on: set by `_calculate_rewards`, taken by `_rollout`."""

    @cached_property
    def clock(self) -> Clock:
        return Clock()

    def draws_with(self, sampler: Sampler) -> None:
        """Let another process than this one draw the completions, where `sampler` does.

        TRL then reads every completion with the trained weights before the step and multiplies the loss of each token
        by the truncated ratio of both probabilities. This is set after TRL was built: told so before, it would make a
        server of its own.
        """
        self.sampler, self.use_vllm = sampler, not isinstance(sampler, LocalSampler)

    def draws_from(self, admitted: Admitted) -> None:
        """Ask the admitted prompts alone."""
        names = admitted.names
        dataset = cast("Any", self.train_dataset)
        asked = dataset.select([row for row, name in enumerate(dataset["prompt_id"]) if name in names])
        self.train_dataset = asked
        self.reserve = Reserve(asked, self.reserve.seed)
        self.admitted = Settled(json.dumps(admitted.tried))

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        longest, step = self.settings.max_completion_tokens, self.state.global_step
        self.generation_config.max_new_tokens = ceiling(self.settings.length_stages, longest, step)
        rollout = self._rollout(inputs)
        live = self.algorithm.select_groups(rollout.batch)
        for _ in range(self.settings.refill_rounds):
            if live.all():
                break
            rollout = self._refill(rollout, live)
            live = self.algorithm.select_groups(rollout.batch)
        advantages = self._advantages(rollout)
        for name, value in {**rollout.metrics(), **self.algorithm.metrics()}.items():
            self._log(name, value)
        self._log("groups/live", live.float().mean().item())
        if self.is_unsloths:
            self._log("entropy", self._sampled_entropy(rollout.tensors))
        output = {**rollout.tensors, "advantages": advantages}
        if self.clock.peak:
            read = output["prompt_mask"].sum() + output["completion_mask"].sum()
            self.clock.tokens = int(read) / self.settings.rollout_steps
        return output if live.all() or not live.any() else leave_out(output, self._rows(live))

    def _rollout(self, prompts: list[dict[str, Any]]) -> Rollout:
        """Sample one completion for each of the prompts [B], those of a group side by side, and score them.

        A prompt is shown in the epoch's wording and scored by what is true of it, which no wording changes.
        """
        if self.wordings:
            prompts = [self.wordings.shown(prompt, self.epoch()) for prompt in prompts]
        tensors = super()._generate_and_score_completions(prompts)
        scored, self._scored = self._scored, None
        assert scored is not None, "TRL scores what it generates"
        return replace(scored, tensors=tensors)

    def _calculate_rewards(
        self, inputs: list[dict[str, Any]], prompts: Any, completions: Any, completion_ids_list: list[list[int]]
    ) -> Tensor:
        with self.clock.times("scoring"):
            rewards = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)
            scores = self.scorer.score(completions, [row["prompt_id"] for row in inputs], completion_ids_list)
        tasks = [row["task"] for row in inputs]
        said = zip(self.scorer.said, tasks, strict=True)
        thoughts = [float(one.think_tokens) if task in self.thinking else math.nan for one, task in said]
        batch = RolloutBatch(
            rewards=rewards,
            components=tuple(self.scorer.weights),
            weights=torch.tensor(list(self.scorer.weights.values()), device=rewards.device),
            generations=self.num_generations,
            tasks=tasks,
            lengths=torch.tensor([len(ids) for ids in completion_ids_list], device=rewards.device),
            ceiling=self.generation_config.max_new_tokens,
            entropies=lambda: torch.zeros(0),
            thoughts=torch.tensor(thoughts, device=rewards.device),
        )
        if self.settings.block_advantages:
            batch = replace(batch, blocks=self._blocks(inputs, completion_ids_list))
        self._scored = Rollout(
            tensors={},
            batch=self.algorithm.shape_rewards(batch),
            tasks=tuple(tasks[:: self.num_generations]),
            totals=torch.tensor([score.total for score in scores]).view(-1, self.num_generations),
            highest=max(sum(score.components.values()) for score in scores),
        )
        return rewards

    def _blocks(self, inputs: list[dict[str, Any]], drawn: list[list[int]]) -> tuple[tuple[Block, ...], ...]:
        """The fields of each completion as blocks of its tokens."""
        prompts = [self.scorer.by_id[row["prompt_id"]] for row in inputs]
        answers = [said.answer for said in self.scorer.said]
        rows = zip(prompts, drawn, answers, strict=True)
        return tuple(blocks_of(self._tokenizer, prompt, ids, answer) for prompt, ids, answer in rows)

    def _refill(self, rollout: Rollout, live: Tensor) -> Rollout:
        """Sample other prompts of the same tasks in the place of the groups that are not live."""
        size, rows = rollout.batch.generations, self._rows(~live).nonzero().flatten()
        prompts = [self.reserve.take(rollout.batch.tasks[row]) for row in rows[::size].tolist()]
        fresh = self._rollout([prompt for prompt in prompts for _ in range(size)])
        return rollout.refilled(rows, fresh, self._tokenizer.pad_token_id)

    def _rows(self, groups: Tensor) -> Tensor:
        """[B] of every completion what [groups] says of its group."""
        return groups.repeat_interleave(self.num_generations)

    def _advantages(self, rollout: Rollout) -> Tensor:
        batch = replace(
            rollout.batch,
            task_means=rollout.task_means(),
            entropies=lambda: self._completion_entropies(rollout.tensors),
            gaps=lambda: self._teacher_gaps(rollout.tensors),
        )
        advantages = self.algorithm.advantages(batch).to(rollout.tensors["advantages"].device)
        if advantages.dim() == 1:
            return advantages
        return F.pad(advantages, (0, rollout.tensors["completion_ids"].shape[1] - advantages.shape[1]))

    def _completion_entropies(self, output: dict[str, Tensor]) -> Tensor:
        """[B] mean entropy per token of the completions under the policy that sampled them."""
        entropies = self._read(output, compute_entropy=True)[1]
        assert entropies is not None
        return (entropies * output["completion_mask"]).sum(dim=1) / output["completion_mask"].sum(dim=1).clamp(min=1)

    def _teacher_gaps(self, output: dict[str, Tensor]) -> Tensor:
        """[B, C] log p_teacher - log p_student of the completions' tokens."""
        assert self.teacher is not None
        logps = self._read(output, compute_entropy=False)[0]
        with self.clock.times("scoring"):
            gaps = self.teacher.gaps(output, logps)
        self._log("teacher/reverse_kl", -(gaps.sum() / output["completion_mask"].sum().clamp(min=1)).item())
        self._log("teacher/dollars", self.teacher.dollars(output))
        return gaps

    def _sampled_entropy(self, output: dict[str, Tensor]) -> float:
        """Mean entropy per token, estimated without a distribution at hand: the mean of -log p over the tokens that
        were drawn with p has the entropy as its expectation.
        """
        mask = output["completion_mask"]
        logps = of_completions(self._read(output, compute_entropy=False)[0], output["prompt_mask"], mask)
        return -((logps * mask).sum() / mask.sum().clamp(min=1)).item()

    @torch.no_grad()
    def _read(self, output: dict[str, Tensor], compute_entropy: bool) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """What the policy says of completions now, a micro-batch at a time."""
        ids = torch.cat((output["prompt_ids"], output["completion_ids"]), dim=1)
        mask = torch.cat((output["prompt_mask"], output["completion_mask"]), dim=1)
        rows, length = self.args.per_device_train_batch_size, output["completion_ids"].shape[1]
        return self._get_per_token_logps_and_entropies(
            self.model, ids, mask, length, batch_size=rows, compute_entropy=compute_entropy
        )

    def _log(self, name: str, value: float) -> None:
        self._metrics["train"][name].append(value)

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        if "loss" in logs:
            for name, value in self.clock.lap().items():
                self._log(f"time/{name}", value)
        super().log(logs, start_time)

    def _generate_single_turn(
        self, prompt_ids: list[list[int]], *args: Any, **kwargs: Any
    ) -> tuple[list[list[int]], list[list[float] | None] | None]:
        model = self.accelerator.unwrap_model(self.model)
        limit, stop, temperature = self.generation_config.max_new_tokens, self.eos_token_ids, self.temperature
        with self.clock.times("drawing"):
            if self.use_vllm:
                draws = self.sampler.sample(model, prompt_ids, Decoding(limit, temperature, tuple(stop)))
                return [draw.tokens for draw in draws], [draw.logps for draw in draws]
            if not self.settings.own_decoding or not supports(model):
                return super()._generate_single_turn(prompt_ids, *args, **kwargs)
            return Decoder(model).sample(prompt_ids, limit, stop, temperature), None

    def _get_per_token_logps_and_entropies(
        self, model: Any, input_ids: Tensor, attention_mask: Tensor, logits_to_keep: int, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """[B, T] log-probabilities and entropies. On a CPU every distinct prompt is read once
        (tucano/training/policies/likelihood.py). On a GPU rows are packed (tucano/training/policies/packed.py), and
        TRL's fused head is used, which never holds the logits of the batch: with a vocabulary of 152,000 they take
        23 GB for 32 completions. Unsloth has a loss of its own.
        """
        on_cpu = input_ids.device.type == "cpu"
        if not on_cpu and not self.is_unsloths:
            inner, entropy = self.accelerator.unwrap_model(model), kwargs.get("compute_entropy", False)
            if self.settings.own_decoding and packs(inner):
                if torch.is_grad_enabled():
                    kept = kept_layers(self.room, int(attention_mask.sum()), inner.config.num_hidden_layers)
                    self._log("memory/kept_layers", kept)
                read = packed_logps(inner, input_ids, attention_mask, logits_to_keep, self.temperature, self.room)
                return read[0], read[1] if entropy else None, None
            return self._chunked_logps(inner, input_ids, attention_mask, logits_to_keep, compute_entropy=entropy)
        if not on_cpu or not self.settings.own_decoding:
            full = super()._get_per_token_logps_and_entropies
            return full(model, input_ids, attention_mask, logits_to_keep, *args, **kwargs)
        temperature, bonus = self.temperature, self._entropy_bonus_enabled
        logps, entropies = completion_logps(model, input_ids, attention_mask, logits_to_keep, temperature, bonus)
        return logps, entropies if kwargs.get("compute_entropy") else None, None

    def _get_train_sampler(self, dataset: Dataset | None = None) -> RepeatSampler:
        sampler: RepeatSampler = super()._get_train_sampler(dataset)
        sampler.__class__ = EpochSampler
        sampler.epoch_of = self.epoch
        return sampler

    def epoch(self) -> int:
        """Epochs that are over. The state's is a whole number exactly after the last step of one."""
        return int(self.state.epoch or 0)

    def parts(self) -> dict[str, Part]:
        held: dict[str, Part] = {**super().parts(), "algorithm": self.algorithm, "reserve": self.reserve}
        return held if self.admitted is None else {**held, "admitted": self.admitted}

    def look(self) -> None:
        with self.clock.times("looking"):
            self.validation.look(self.model, self.state.global_step)


def ceiling(stages: Sequence[tuple[int, int]], longest: int, step: int) -> int:
    """Tokens that a completion sampled at `step` (steps already taken) may have: short ones first (Skywork-OR1, arXiv
    2505.22312, multi-stage training).

    `stages` are (step, tokens) in rising order of steps: from that step on, that ceiling. `longest` holds before the
    first one.
    """
    return next((tokens for start, tokens in reversed(stages) if step >= start), longest)


def of_completions(logps: Tensor, prompt_mask: Tensor, completion_mask: Tensor) -> Tensor:
    """[B, C] of log-probabilities that may be wider [B, C + p]: unsloth (2026.10.7) moves each row to the left by the
    padding in front of its prompt, of which the longest is p, and hands all those columns back.
    """
    wider = logps.shape[1] - completion_mask.shape[1]
    if not wider:
        return logps
    first = wider - (prompt_mask == 0).sum(dim=1, keepdim=True)
    return logps.gather(1, first + torch.arange(completion_mask.shape[1], device=logps.device))


def trainer_class() -> Callable[..., GrpoMixin]:
    """Our trainer around the GRPOTrainer that TRL has now, unsloth's where that was imported."""
    is_unsloths = "Unsloth" in trl.GRPOTrainer.__name__
    return type("Trainer", (GrpoMixin, trl.GRPOTrainer), {"is_unsloths": is_unsloths})
