"""Supervised fine-tuning: the demonstrations until the validation loss stands still.

The nano model is built here as well (tokenizer and random weights) and trained whole; any other model gets a LoRA adapter.
What was left out: packing (its sequence borders need attention kernels that a CPU lacks).
"""

import json
import math
import shutil
from pathlib import Path
from typing import Any

from datasets import Dataset
from transformers import PreTrainedTokenizerBase, TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from trl import SFTConfig, SFTTrainer

from tucano.errors import UserError
from tucano.journal import JournalWriter
from tucano.prompts import Prompt, messages, read_prompts
from tucano.settings import PipelineSettings
from tucano.training import checkpoints
from tucano.training.jobs import Job
from tucano.training.nano import build_model, build_tokenizer
from tucano.training.policies import Policy, load_base, load_policy
from tucano.training.sealed import Reporter, SealedCheckpoints, StopOnSigterm


class SealedSFTTrainer(SealedCheckpoints, SFTTrainer):
    """TRL's trainer with sealed checkpoints that carry the plateau's state."""

    plateau: "Plateau"

    def extra_state(self) -> dict[str, Any]:
        return self.plateau.state()

    def restore(self, state: dict[str, Any]) -> None:
        self.plateau.load(state)


class Plateau(TrainerCallback):
    """Keeps the model of the lowest validation loss and stops once `patience` looks brought no better one."""

    def __init__(self, journal: JournalWriter, best: Path, patience: int, min_improvement: float) -> None:
        self.journal, self.best, self.patience, self.min_improvement = journal, best, patience, min_improvement
        self.losses: list[tuple[int, float]] = []
        self.lowest, self.waited = math.inf, 0

    def state(self) -> dict[str, Any]:
        return {"losses": self.losses, "lowest": self.lowest, "waited": self.waited}

    def load(self, state: dict[str, Any]) -> None:
        self.losses, self.lowest, self.waited = [tuple(pair) for pair in state["losses"]], state["lowest"], state["waited"]

    def on_evaluate(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, metrics: dict[str, float], model: Policy, **_: Any
    ) -> None:
        loss = metrics["eval_loss"]
        self.losses.append((state.global_step, loss))
        self.journal.log(state.global_step, {"validation/loss": loss})
        self.waited = 0 if loss < self.lowest - self.min_improvement else self.waited + 1
        if loss < self.lowest:
            self.lowest = loss
            save_whole(model, self.best)
        if self.waited >= self.patience:
            control.should_training_stop = True


def save_whole(model: Policy, folder: Path, tokenizer: PreTrainedTokenizerBase | None = None) -> None:
    """Write a model or adapter beside its place, seal it, and swap it in; a crash leaves the old one or the new one."""
    draft = folder.with_name(f"{folder.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    model.save_pretrained(str(draft))
    if tokenizer is not None:
        tokenizer.save_pretrained(str(draft))
    checkpoints.seal(draft)
    shutil.rmtree(folder, ignore_errors=True)
    draft.replace(folder)


def run(job: Job) -> dict[str, object] | None:
    """Write the best model (nano: `base/` and `model/`) or adapter (`adapter/`) into `job.output`; None when interrupted."""
    settings = PipelineSettings.model_validate(job.settings)
    work, prompts = Path(job.work), Path(job.prompts)
    examples = read_prompts(prompts / "demonstrations.jsonl")
    model, tokenizer = _start(job, settings, examples)
    newest = checkpoints.newest_valid(work)
    journal = JournalWriter(work / "journal.jsonl", resume_step=checkpoints.step_of(newest) if newest else None)
    plateau = Plateau(journal, work / "best", settings.sft.patience, settings.sft.min_improvement)
    stop = StopOnSigterm()
    trainer = SealedSFTTrainer(
        model=model,
        args=_arguments(settings, work, job.seed),
        train_dataset=_dataset(examples, prompts),
        eval_dataset=_dataset(read_prompts(prompts / "demonstrations_validation.jsonl"), prompts),
        processing_class=tokenizer,
        callbacks=[plateau, stop, Reporter(journal, "sft", {"loss": "loss", "mean_token_accuracy": "accuracy"})],
    )
    trainer.journal, trainer.plateau = journal, plateau
    trainer.train_sealed(newest)
    if stop.stopped:
        return None
    if not plateau.losses or plateau.losses[-1][0] < trainer.state.global_step:
        trainer.evaluate()
    journal.commit(trainer.state.global_step)
    _deliver(work, Path(job.output), nano=settings.model.name == "nano")
    return {"steps": trainer.state.global_step, "validation_losses": plateau.losses, "lowest_validation_loss": plateau.lowest}


def _start(job: Job, settings: PipelineSettings, examples: list[Prompt]) -> tuple[Policy, PreTrainedTokenizerBase]:
    if settings.model.name != "nano":
        return load_policy(settings.model, job.base, None, trainable=True, seed=job.seed)
    folder = Path(job.work) / "base"
    if checkpoints.fault(folder) is not None:
        texts = [text for example in examples for text in (example.user, example.demonstration or "")]
        systems = json.loads((Path(job.prompts) / "system_prompts.json").read_text(encoding="utf-8"))
        tokenizer = build_tokenizer([*systems.values(), *texts], settings.model)
        save_whole(build_model(tokenizer, settings.model, job.seed), folder, tokenizer)
    return load_base(settings.model, str(folder))


def _dataset(examples: list[Prompt], folder: Path) -> Dataset:
    systems = json.loads((folder / "system_prompts.json").read_text(encoding="utf-8"))
    return Dataset.from_list(
        [
            {"prompt": messages(example, systems), "completion": [{"role": "assistant", "content": example.demonstration}]}
            for example in examples
        ]
    )


def _arguments(settings: PipelineSettings, work: Path, seed: int) -> SFTConfig:
    sft, cpu = settings.sft, settings.model.device == "cpu"
    return SFTConfig(
        output_dir=str(work),
        num_train_epochs=sft.max_epochs,
        per_device_train_batch_size=sft.batch_size,
        per_device_eval_batch_size=sft.batch_size,
        gradient_accumulation_steps=1,
        gradient_checkpointing=not cpu,
        learning_rate=sft.learning_rate,
        lr_scheduler_type=sft.schedule,
        warmup_steps=sft.warmup_share,
        weight_decay=0.0,
        max_grad_norm=1.0,
        optim="adamw_torch",
        bf16=settings.model.dtype == "bfloat16",
        use_cpu=cpu,
        max_length=settings.model.max_length_tokens,
        completion_only_loss=True,
        packing=False,
        train_sampling_strategy="random",
        dataloader_num_workers=0,
        dataloader_pin_memory=not cpu,
        eval_strategy="steps",
        eval_steps=sft.eval_steps,
        save_strategy="steps",
        save_steps=sft.save_steps,
        save_total_limit=None,
        logging_steps=1,
        logging_nan_inf_filter=False,
        disable_tqdm=True,
        report_to=[],
        seed=seed,
        data_seed=seed,
    )


def _deliver(work: Path, output: Path, nano: bool) -> None:
    if checkpoints.fault(work / "best") is not None:
        raise UserError("SFT ended without one evaluation; make sft.eval_steps smaller than the number of steps")
    tokenizer_files = [path for path in (work / "base").glob("token*")] + list((work / "base").glob("chat_template*"))
    if not nano:
        shutil.copytree(work / "best", output / "adapter")
        return
    shutil.copytree(work / "base", output / "base")
    shutil.copytree(work / "best", output / "model")
    for path in tokenizer_files:
        shutil.copy2(path, output / "model")
