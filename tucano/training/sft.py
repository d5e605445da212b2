"""Supervised fine-tuning: the demonstrations until the validation loss stands still.

The nano model is built here as well (tokenizer and random weights) and trained whole; any other model gets a LoRA
adapter. What was left out: packing (its sequence borders need attention kernels that a CPU lacks).
"""

import logging
import math
import shutil
from dataclasses import asdict
from operator import mul
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from peft import PeftModel
from transformers import PreTrainedTokenizerBase
from trl import SFTConfig, SFTTrainer
from trl.data_utils import common_prefix_length

from tucano.chat_templates import rendering, speaking
from tucano.errors import UserError
from tucano.files.models import StartFiles, WorkFiles
from tucano.files.prompts import PromptFiles
from tucano.lengths import require_fitting
from tucano.prompts import Prompt, messages, read_general, read_paraphrases, read_prompts, reworded
from tucano.settings.model import AdaptedModel
from tucano.settings.training.sft import SftStage, SftTraining
from tucano.storage.journal import JournalWriter
from tucano.thoughts import can_think
from tucano.training.checkpoints import manifest
from tucano.training.checkpoints.beginning import Reporter, begun, shared_arguments
from tucano.training.checkpoints.resumable import ResumableTrainer
from tucano.training.checkpoints.weights import describe, kept_in_float32, save_whole
from tucano.training.jobs import Job
from tucano.training.policies.chat import Chat, encode_chats, harmless
from tucano.training.policies.load import Policy, load_base, load_policy
from tucano.training.policies.nano import build_model, build_tokenizer
from tucano.training.rollouts.wordings import WordingSampler

log = logging.getLogger(__name__)

PIECES_ON_CPU = 2
"""Into how many pieces a batch is divided there. More have less padding, and matrices too small for their overhead
(docs/speed.md). A GPU computes padding beside the rest.
"""

IGNORED = -100
"""The label of a token that is not learned."""


class PiecewiseSFTTrainer(SFTTrainer):
    """TRL's trainer, which on a CPU goes through a batch in pieces of examples of about one length."""

    def training_step(self, model: Any, inputs: dict[str, Any], num_items_in_batch: Any = None) -> torch.Tensor:
        """The loss of the batch. Each piece divides by the tokens of the whole batch, so that the sum of their
        gradients is the batch's, and what each tells of its tokens counts by how many these are.
        """
        step = super().training_step
        pieces = by_length(inputs, PIECES_ON_CPU if self.args.use_cpu else 1)
        assert num_items_in_batch is not None or len(pieces) == 1
        told = self._metrics["train"]
        before = {name: len(values) for name, values in told.items()}
        loss = torch.stack([step(model, piece, num_items_in_batch) for piece in pieces]).sum()
        learned = [int((piece["labels"][:, 1:] != IGNORED).sum()) for piece in pieces]  # the first of a row is given
        for name, values in told.items():
            added = values[before.get(name, 0) :]
            if len(added) == len(pieces):
                values[-len(pieces) :] = [sum(map(mul, added, learned)) / max(1, sum(learned))]
        return loss


def by_length(batch: dict[str, torch.Tensor], pieces: int) -> list[dict[str, torch.Tensor]]:
    """The rows of a batch, padded on the right, in pieces with only the padding that each needs: shorter rows first."""
    lengths = batch["attention_mask"].sum(1)
    parts = lengths.argsort(stable=True).chunk(pieces)
    return [{name: rows[part, : int(lengths[part].max())] for name, rows in batch.items()} for part in parts]


class ResumableSFTTrainer(ResumableTrainer, PiecewiseSFTTrainer):
    """TRL's trainer with checkpoints that carry the plateau's state."""

    validation: "Plateau"
    wordings: WordingSampler | None = None
    """Which rows an epoch shows, where examples have several wordings."""

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        return self.wordings or super()._get_train_sampler(train_dataset)

    def look(self) -> None:
        with torch.random.fork_rng():  # a data loader draws from the global generator even when it does not shuffle
            loss = self.evaluate()["eval_loss"]
        self.require_number(loss)
        self.validation.note(self.state.global_step, loss, self.model)


class Plateau:
    """Keeps the model of the lowest validation loss and counts the looks that brought no better one."""

    def __init__(self, settings: SftTraining, journal: JournalWriter, best: Path) -> None:
        self.settings, self.journal, self.best = settings, journal, best
        self.losses: list[tuple[int, float]] = []
        self.lowest, self.waited = math.inf, 0

    def state(self) -> dict[str, Any]:
        return {"losses": self.losses, "lowest": self.lowest, "waited": self.waited}

    def load(self, state: dict[str, Any]) -> None:
        self.losses = [tuple(pair) for pair in state["losses"]]
        self.lowest, self.waited = state["lowest"], state["waited"]

    def is_due(self, step: int, last: int) -> bool:
        looked = self.losses[-1][0] if self.losses else 0
        return step > looked and (step % self.settings.eval_steps == 0 or step == last)

    def note(self, step: int, loss: float, model: Policy) -> None:
        self.losses.append((step, loss))
        self.journal.log(step, {"validation/loss": loss})
        self.waited = 0 if loss < self.lowest - self.settings.min_improvement else self.waited + 1
        if loss < self.lowest:
            self.lowest = loss
            save_whole(model, self.best)


def run(job: Job) -> dict[str, object] | None:
    """Write the best model (nano: the untrained one too) or adapter into `job.output`; None when interrupted."""
    settings = SftStage.model_validate(job.settings)
    work = WorkFiles(Path(job.work))
    files = PromptFiles(Path(job.prompts))
    beginning = begun(job, "sft")
    examples, further = demonstrated(files)
    examples += further
    model, tokenizer = _start(job, settings, examples)
    plateau = Plateau(settings.sft, beginning.journal, beginning.best)
    dataset = _dataset(examples, files, tokenizer)
    validation = _dataset(read_prompts(files.demonstrations_validation), files, tokenizer)
    if further:
        dataset = dataset.add_column("id", [example.id for example in examples])
    with kept_in_float32(model):
        trainer = ResumableSFTTrainer(
            model=model,
            args=_arguments(settings, beginning.attempt.drafts, job),
            train_dataset=dataset,
            eval_dataset=validation,
            processing_class=tokenizer,
            callbacks=[Reporter(beginning.journal, "sft", {"loss": "loss", "mean_token_accuracy": "accuracy"})],
        )
    _leave_out_long(trainer, len(dataset) + len(validation), settings.model.max_length_tokens)
    if further:
        kept: Any = trainer.train_dataset  # without rows that TRL has cut away
        trainer.wordings = WordingSampler(kept["id"], job.seed)
    trainer.begin(beginning)
    trainer.validation = plateau
    if not trainer.train_resumable():
        return None
    beginning.journal.commit(trainer.state.global_step)
    _deliver(work, StartFiles(Path(job.output)), model)
    return {
        "steps": trainer.state.global_step,
        "validation_losses": plateau.losses,
        "lowest_validation_loss": plateau.lowest,
        "arithmetic": [asdict(one) for one in beginning.arithmetic],
    }


def _leave_out_long(trainer: Any, shown: int, longest: int) -> None:
    """TRL would cut them, and the token that ends an answer with them. UserError where they are many among those that
    were `shown` to it, for training and validation, or where none of one of these is left.
    """
    long = shown
    for name in ("train_dataset", "eval_dataset"):
        rows = getattr(trainer, name)
        fitting = [row for row, ids in enumerate(rows["input_ids"]) if len(ids) <= longest]
        if not fitting:
            require_fitting(len(rows), len(rows), longest)
        long -= len(fitting)
        if len(fitting) < len(rows):
            setattr(trainer, name, rows.select(fitting))
    said = require_fitting(long, shown, longest)
    if said is not None:
        log.warning("%s", said)


def demonstrated(files: PromptFiles) -> tuple[list[Prompt], list[Prompt]]:
    """Demonstrations of the tasks and general ones; and the further wordings of the former."""
    examples = read_prompts(files.demonstrations)
    return examples + read_general(files.general), reworded(examples, read_paraphrases(files.paraphrases))


def _start(job: Job, settings: SftStage, examples: list[Prompt]) -> tuple[Policy, PreTrainedTokenizerBase]:
    if isinstance(settings.model, AdaptedModel):
        return load_policy(settings.model, job.base, None, trainable=True, seed=job.seed)
    folder = WorkFiles(Path(job.work)).base
    if manifest.fault(folder) is not None:
        texts = [text for example in examples for text in (example.user, example.demonstration or "")]
        systems = PromptFiles(Path(job.prompts)).systems()
        built = build_tokenizer([*systems.values(), *texts], settings.model, thinking=can_think(systems))
        tokenizer = speaking(built, settings.model.chat_template)
        save_whole(build_model(tokenizer, settings.model, job.seed), folder, tokenizer)
    return load_base(settings.model, str(folder))


def _dataset(examples: list[Prompt], files: PromptFiles, tokenizer: PreTrainedTokenizerBase) -> Dataset:
    """In the tokens that a prompt is asked in; UserError where the chat template does not take them."""
    systems = files.systems()
    asked = harmless(tokenizer, [messages(example, systems) for example in examples])
    said = harmless(
        tokenizer, [[{"role": "assistant", "content": example.demonstration or ""}] for example in examples]
    )
    rows = [tokens_shown(tokenizer, *row) for row in zip(asked, said, encode_chats(tokenizer, asked), strict=True)]
    masks = [[int(place >= opened) for place in range(len(tokens))] for tokens, opened in rows]
    return Dataset.from_dict({"input_ids": [tokens for tokens, _ in rows], "completion_mask": masks})


def tokens_shown(
    tokenizer: PreTrainedTokenizerBase, asked: Chat, said: Chat, prompt: list[int]
) -> tuple[list[int], int]:
    """The tokens of a chat with its answer, and how many of them are the prompt's. Where both would share one, as the
    two line ends behind a `<think>` that the template opens and closes, the prompt keeps its own: TRL would teach to go
    on from where nobody asks.
    """
    whole = [*asked, *said]
    tokens: list[int] = tokenizer.apply_chat_template(whole, return_dict=False)
    if tokens[: len(prompt)] == prompt:
        return tokens, len(prompt)
    render = rendering(tokenizer)
    opening, text = render(asked, True), render(whole, False)
    if not text.startswith(opening):  # the preflight says so
        return tokens, common_prefix_length(prompt, tokens)
    return prompt + tokenizer.encode(text.removeprefix(opening), add_special_tokens=False), len(prompt)


def _arguments(settings: SftStage, drafts: Path, job: Job) -> SFTConfig:
    sft = settings.sft
    return SFTConfig(
        **shared_arguments(sft, settings.model, drafts, job.save_steps, job.seed),
        num_train_epochs=sft.max_epochs,
        per_device_train_batch_size=sft.batch_size,
        per_device_eval_batch_size=sft.batch_size,
        gradient_accumulation_steps=1,
        max_grad_norm=1.0,
        max_length=settings.model.max_length_tokens + 1,  # so much is cut to shows what is too long
        completion_only_loss=True,
        packing=False,
        train_sampling_strategy="random",
    )


def _deliver(work: WorkFiles, output: StartFiles, model: Policy) -> None:
    if manifest.fault(work.best) is not None:
        raise UserError("SFT ended without one evaluation; make sft.eval_steps smaller than the number of steps")
    if isinstance(model, PeftModel):
        describe(model, work.best)
        shutil.copytree(work.best, output.adapter)
        return
    shutil.copytree(work.base, output.base)
    shutil.copytree(work.best, output.model)
    for path in (*work.base.glob("token*"), *work.base.glob("chat_template*")):
        shutil.copy2(path, output.model)
