"""How long the pieces of a CPU run take on this machine: a few steps of each, with the run's own model, data and code.

A model that has learned nothing yet would answer up to the ceiling. So completions are replaced, token by token, by
demonstrations: everything is computed, and only the draw's result is another one.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import psutil
import torch
from torch import Tensor
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from tucano.files.models import WorkFiles
from tucano.files.prompts import PromptFiles
from tucano.prompts import read_prompts
from tucano.settings import PipelineSettings
from tucano.settings.stages import of_grpo, of_sft
from tucano.training import grpo, sft
from tucano.training.checkpoints.arithmetic import compute_with
from tucano.training.jobs import Job
from tucano.training.policies.load import Policy
from tucano.training.samplers import decode

STEPS = 8
WARM = 3
"""The first steps are slower and are left out."""
Completions = list[list[int]]


class Clock(TrainerCallback):
    """Seconds of each step."""

    def __init__(self) -> None:
        self.ended: list[float] = []

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        self.ended.append(time.perf_counter())

    @property
    def seconds(self) -> float:
        spent = [later - sooner for sooner, later in zip(self.ended, self.ended[1:], strict=False)]
        return median(spent[WARM - 1 :])


def run(job: Job) -> dict[str, object]:
    """Seconds of `start` (of a child), `sft_step`, `sft_look`, `grpo_step`, and `answer` (of one completion)."""
    start = time.time() - psutil.Process().create_time()
    settings = PipelineSettings.model_validate(job.settings)
    stage = of_sft(settings, job.seed)
    files = PromptFiles(Path(job.prompts))
    work = WorkFiles(Path(job.work))
    examples = read_prompts(files.demonstrations)
    model, tokenizer = sft._start(job, stage, examples)
    found: dict[str, object] = {"start": start}
    if settings.sft.enabled:
        found |= _of_sft(job, stage, files, model, tokenizer)
    compute_with(settings.worker.threads)
    begun = replace(job, base=str(work.base) if settings.model.name == "nano" else job.base)
    texts = cycle(tokenizer([str(example.demonstration) for example in examples])["input_ids"])
    with replaying(lambda prompts: [[*next(texts), tokenizer.eos_token_id] for _ in prompts]):
        found |= _of_grpo(begun, settings)
    return found


def _of_sft(job: Job, stage: Any, files: PromptFiles, model: Policy, tokenizer: Any) -> dict[str, float]:
    clock = Clock()
    arguments = sft._arguments(stage, Path(job.work) / "drafts", job)
    arguments.max_steps = STEPS
    arguments.save_strategy = "no"
    trainer = sft.PiecewiseSFTTrainer(
        model=model,
        args=arguments,
        train_dataset=sft._dataset(read_prompts(files.demonstrations), files, tokenizer),
        eval_dataset=sft._dataset(read_prompts(files.demonstrations_validation), files, tokenizer),
        processing_class=tokenizer,
        callbacks=[clock],
    )
    trainer.train()
    started = time.perf_counter()
    trainer.evaluate()
    return {"sft_step": clock.seconds, "sft_look": time.perf_counter() - started}


def _of_grpo(job: Job, settings: PipelineSettings) -> dict[str, float]:
    seed = settings.grpo.seeds[0]
    clock = Clock()
    stage = of_grpo(settings, seed)
    few = stage.model_copy(update={"grpo": stage.grpo.model_copy(update={"max_steps": STEPS})})
    trainer, examiner = grpo.build(job, few, Path(job.work) / "rehearsal", [clock])
    trainer.args.save_strategy = "no"
    trainer.train()
    prompts = read_prompts(PromptFiles(Path(job.prompts)).validation)
    started = time.perf_counter()
    examiner.answer(trainer.model, prompts, 1, 1.0, job.seed)
    return {"grpo_step": clock.seconds, "answer": (time.perf_counter() - started) / len(prompts)}


@contextmanager
def replaying(completions_of: Callable[[Sequence[Sequence[int]]], Completions]) -> Iterator[None]:
    """The draw is made, its result replaced; the batch holds all rows, or those unfinished when it was compacted."""
    sample = decode.Decoder.sample
    draw = decode.draw
    completions: Completions = []
    owner: list[int] = []
    step = 0

    def forced(logits: Tensor, *given: Any) -> Tensor:
        nonlocal owner, step
        draw(logits, *given)
        if len(logits) != len(owner):
            owner = [row for row in owner if len(completions[row]) > step]
        tokens = torch.tensor([completions[row][step] if step < len(completions[row]) else 0 for row in owner])
        step += 1
        return tokens

    def replayed(decoder: decode.Decoder, prompts: Sequence[Sequence[int]], *given: Any) -> Completions:
        nonlocal completions, owner, step
        completions, owner, step = completions_of(prompts), list(range(len(prompts))), 0
        return sample(decoder, prompts, *given)

    with patch.object(decode.Decoder, "sample", replayed), patch.object(decode, "draw", forced):
        yield
