"""Minutes before hours: everything that has ruined a GRPO run and can be seen before it, as a table of checks with
evidence.

A rehearsal of some real optimizer steps with the run's own model, rewards and algorithms, in a scratch folder, shows
whether gradients reach the adapter, its weights move and memory stands still; sampled completions show whether there is
a signal and room to answer. What was left out: on a CPU the full batch, and everywhere completions that all reach their
ceiling, whose memory the forecast counts (tucano/training/foresight/).
"""

import ctypes
import shutil
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from operator import sub
from pathlib import Path
from statistics import median
from typing import Any, ParamSpec, TypeVar

import psutil
import torch
from peft import PeftModel
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from tucano.files.prompts import PromptFiles
from tucano.prompts import Prompt, read_paraphrases, read_prompts, reworded
from tucano.settings.training.grpo import PreflightStage
from tucano.thoughts import can_think
from tucano.training import grpo
from tucano.training import preflight_checks as check
from tucano.training.checkpoints import weights
from tucano.training.grpo_trainer import GrpoMixin
from tucano.training.jobs import Job, Progress, emit
from tucano.training.merge import quantisation_distance
from tucano.training.policies import effect
from tucano.training.policies.chat import encode, stop_tokens
from tucano.training.policies.likelihood import token_logps
from tucano.training.policies.load import Policy
from tucano.training.preflight_checks import Level, Seen
from tucano.training.rollouts.examiner import Examiner, ScoredCompletion
from tucano.training.samplers import Decoding

PROMPTS_PER_TASK = 6
SERVED_PER_TASK = 24
"""Prompts that are answered once at the served temperature, where several answers to one are almost the same, and a
model may repeat itself up to the ceiling that it keeps below in rollouts.
"""
SETTLED_STEP = 5
"""Optimizer states and caches are made during the first steps; from here on memory must stand still."""
GROWTH_MEGABYTES = 5.0
"""Per step. 1,500 steps of that are 7 GB. Of mini on a CPU it moves by .1, and by 30 with what glibc has free."""
MOVED = 0.99
"""Of the entries of LoRA's A, during the rehearsal. In bfloat16 a small update is rounded away: 2 % of them moved."""
MEGABYTE = 2**20
P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the table. `raised`: nothing was seen, since the check itself ended in this fault."""

    name: str
    level: Level
    evidence: str
    raised: bool = False


class Table:
    """The checks so far. One that raises is red with its fault, and the others are made all the same."""

    def __init__(self) -> None:
        self.checks: list[Check] = []

    def ask(self, name: str, make: Callable[P, Seen | dict[str, Seen]], *given: P.args, **named: P.kwargs) -> None:
        """Add what `make` finds, one row or several by their names; `name` is the one, and its row where it raises."""
        found = self.tried(name, make, *given, **named)
        rows = {name: found} if isinstance(found, Seen) else found or {}
        for row, seen in rows.items():
            self._add(Check(row, seen.level, seen.evidence))

    def tried(self, name: str, make: Callable[P, R], *given: P.args, **named: P.kwargs) -> R | None:
        """What several checks need; None where making it raises, which is a red row."""
        try:
            return make(*given, **named)
        except Exception as fault:  # libraries fail in many ways, and each is a finding
            traceback.print_exc()
            self._add(Check(name, "red", f"{type(fault).__name__}: {fault}", raised=True))
            return None

    def _add(self, line: Check) -> None:
        """It is printed at once, so that it is known where this process is ended before it has made all."""
        self.checks.append(line)
        level = "RAISED" if line.raised else line.level.upper()
        print(f"{level:<6} {line.name:<18}  {' '.join(line.evidence.split())}", flush=True)


class Recorder(TrainerCallback):
    """What the rehearsal shows: which adapter matrices ever got a gradient, memory after each step (with what the
    allocator has free, where it is not `exact`), seconds per step.
    """

    def __init__(self) -> None:
        self.reached: dict[str, bool] = {}
        self.megabytes: list[float] = []
        self.exact = True
        self.ended: list[float] = []

    def on_pre_optimizer_step(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, model: torch.nn.Module, **_: Any
    ) -> None:
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                has_gradient = parameter.grad is not None and bool(parameter.grad.abs().max() > 0)
                self.reached[name] = self.reached.get(name, False) or has_gradient

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if torch.cuda.is_available():
            self.megabytes.append(torch.cuda.memory_allocated() / MEGABYTE)
        else:
            self.exact = give_back()
            self.megabytes.append(own_megabytes())
        self.ended.append(time.monotonic())


def run(job: Job) -> dict[str, object]:
    """All checks on the model that GRPO starts from; the table is the result."""
    settings = PreflightStage.model_validate(job.settings)
    scratch = Path(job.work) / "rehearsal"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    recorder = Recorder()
    table = Table()
    if steps := settings.grpo.max_steps:
        schedule = grpo.arguments(settings, scratch, settings.steps)
        table.ask("learning rate", check.learning_rate, schedule, steps)  # resets what a trainer shares
    trainer, examiner = grpo.build(job, rehearsal(settings), scratch, [recorder])
    with closing(examiner.sampler):
        _ask_all(table, job, settings, trainer, examiner, recorder)
    shutil.rmtree(scratch)
    return {
        "checks": [asdict(line) for line in table.checks],
        "passed": all(line.level != "red" for line in table.checks),
    }


def _ask_all(
    table: Table, job: Job, settings: PreflightStage, trainer: GrpoMixin, examiner: Examiner, recorder: Recorder
) -> None:
    """In the order that they can be made."""
    tokenizer, systems, policy = examiner.tokenizer, examiner.system_prompts, trainer.model
    table.ask("tokenizer", check.tokenizers, tokenizer, trainer.processing_class)
    if table.checks[-1].level == "red":
        return  # nothing else can be asked without one
    prompts = list(trainer.scorer.by_id.values())
    some = spread(prompts, PROMPTS_PER_TASK)
    table.ask("epochs", check.plan, settings, prompts)
    table.ask("generation", check.generation, trainer.generation_config, policy.generation_config, settings)
    quiet = next((prompt for prompt in some if not examiner.thinks(prompt.task)), some[0])
    table.ask("chat template", check.template, tokenizer, quiet, systems)
    table.ask("pad and end tokens", check.end_tokens, policy, tokenizer, some[0], systems)
    table.ask("key-value cache", lambda: check.cache(policy, tokenizer, encode(tokenizer, some[:4], systems)))
    table.ask("context", _context, job, settings, policy, examiner)
    emit(Progress("preflight", 1, 3, {}))
    asked = (policy, some, settings.grpo.generations, settings.grpo.temperature, job.seed)
    drawn = table.tried("completions", examiner.answer, *asked)
    if drawn is not None:
        _ask_of_drawn(table, job, settings, policy, examiner, drawn)
    if settings.served_temperature != settings.grpo.temperature:
        once = (policy, spread(prompts, SERVED_PER_TASK), 1, settings.served_temperature, job.seed)
        table.ask("served length", lambda: _lengths(job, examiner, examiner.answer(*once)))
    emit(Progress("preflight", 2, 3, {}))
    before = entries_of_a(policy)
    if table.tried("steps", trainer.train) is not None:
        table.ask("finite", check.finite, trainer.state.log_history)
        if settings.grpo.sampler != "local":
            said = trainer.state.log_history
            table.ask("sampler", lambda: check.sampler(said, follows(policy, examiner, some, job.seed)))
        table.ask("gradient flow", lambda: gradients(recorder, share_moved(before, entries_of_a(policy))))
        table.ask("memory", memory, recorder)
        table.ask("forecast", forecast, recorder, trainer, settings)
    emit(Progress("preflight", 3, 3, {}))


def _ask_of_drawn(
    table: Table,
    job: Job,
    settings: PreflightStage,
    policy: Policy,
    examiner: Examiner,
    completions: Sequence[ScoredCompletion],
) -> None:
    table.ask("completion length", lambda: _lengths(job, examiner, completions))
    if can_think(examiner.system_prompts):
        table.ask("marks of a thought", check.marks, examiner.tokenizer)
    if thought := [completion for completion in completions if examiner.thinks(completion.prompt.task)]:
        table.ask("thoughts", check.thoughts, thought, examiner.max_think_tokens)
    if settings.model.quantization != "none":
        first = completions[:: settings.grpo.generations]
        table.ask("quantisation", _quantisation, job, settings, policy, examiner, first)
    rewards_count = settings.grpo.teacher is None or settings.grpo.teacher.reward_weight > 0
    table.ask("signal", check.signal, completions, settings.grpo.generations, rewards_count)


def _context(job: Job, settings: PreflightStage, policy: Policy, examiner: Examiner) -> Seen:
    """Of every prompt that will be read before the run is over; the held-out ones come last, after all training."""
    files = PromptFiles(Path(job.prompts))
    sets = (files.of(name) for name in ("train", "validation", "test"))
    prompts = [prompt for file in sets if file.is_file() for prompt in read_prompts(file)]
    prompts += reworded(prompts, read_paraphrases(files.paraphrases))
    sizes = [len(ids) for ids in encode(examiner.tokenizer, prompts, examiner.system_prompts)]
    positions = getattr(policy.config, "max_position_embeddings", None)
    return check.context(sizes, positions, settings.model.max_length_tokens, settings.grpo.max_completion_tokens)


@torch.no_grad()
def follows(policy: Policy, examiner: Examiner, prompts: Sequence[Prompt], seed: int) -> bool:
    """Whether what the sampler draws, and says of it, is the policy's rather than its base's."""
    assert isinstance(policy, PeftModel), "GRPO trains an adapter"
    ids = encode(examiner.tokenizer, prompts, examiner.system_prompts)
    decoding = Decoding(examiner.max_new_tokens, 1.0, tuple(stop_tokens(policy, examiner.tokenizer)))
    draws = examiner.sampler.sample(policy, ids, decoding, torch.Generator().manual_seed(seed))
    drawn = [draw.tokens for draw in draws]
    was_training = policy.training
    policy.eval()
    trained = torch.cat(token_logps(policy, ids, drawn))
    with policy.disable_adapter():
        base = torch.cat(token_logps(policy, ids, drawn))
    policy.train(was_training)
    said = torch.tensor([logp for draw in draws for logp in draw.logps or ()])
    return effect.follows(said, trained, base, effect.LEAST_ROUNDED)


def _lengths(job: Job, examiner: Examiner, completions: Sequence[ScoredCompletion]) -> Seen:
    """Beside those of the answers that were shown."""
    file = PromptFiles(Path(job.prompts)).demonstrations
    shown = [prompt.demonstration or "" for prompt in read_prompts(file)] if file.is_file() else []
    sizes = [len(ids) for ids in examiner.tokenizer(shown)["input_ids"]] if shown else []
    return check.lengths(completions, examiner.max_new_tokens, examiner.tokenizer, sizes)


def _quantisation(
    job: Job, settings: PreflightStage, policy: Policy, examiner: Examiner, completions: Sequence[ScoredCompletion]
) -> Seen:
    ids = encode(examiner.tokenizer, [completion.prompt for completion in completions], examiner.system_prompts)
    answers = [completion.tokens for completion in completions]
    return check.quantisation(quantisation_distance(policy, settings.model, job.base, ids, answers))


def rehearsal(settings: PreflightStage) -> PreflightStage:
    """The run in small: a few steps, nothing saved. A GPU gets the run's own batches, since its memory must hold them
    and it draws many rows almost as fast as few; a CPU gets two groups a step, since there every row takes its time.
    """
    rows = 2 * settings.grpo.generations
    batches = {} if settings.model.device == "cuda" else {"batch_size": rows, "micro_batch": rows}
    grpo_small = {
        "max_steps": settings.steps,
        "eval_steps": settings.steps,
        "patience": 1,
        "length_stages": (),
        **batches,
    }
    return settings.model_copy(update={"grpo": settings.grpo.model_copy(update=grpo_small)})


def spread(prompts: Iterable[Prompt], most: int) -> list[Prompt]:
    """The first prompts of each task, `most` of each."""
    chosen: dict[str, list[Prompt]] = {}
    for prompt in prompts:
        mine = chosen.setdefault(prompt.task, [])
        if len(mine) < most:
            mine.append(prompt)
    return [prompt for mine in chosen.values() for prompt in mine]


def entries_of_a(policy: Policy) -> torch.Tensor:
    """A copy of every entry of LoRA's A, on the CPU."""
    assert isinstance(policy, PeftModel), "GRPO trains an adapter"
    adapter = weights.adapter(policy, weights.TRAINED)
    return torch.cat([weight.detach().flatten().cpu() for name, weight in adapter.items() if "lora_A" in name])


def share_moved(before: torch.Tensor, after: torch.Tensor) -> float:
    return (before != after).float().mean().item()


def gradients(recorder: Recorder, moved: float) -> Seen:
    """Every trainable matrix must have had a gradient by the end; B starts at 0, so A has none in the first step. And
    `moved`, the share of A's entries that are others than before, must be nearly all.
    """
    dry = [name for name, reached in recorder.reached.items() if not reached]
    shown = f"{len(recorder.reached) - len(dry)} of {len(recorder.reached)} trained matrices got a gradient"
    if dry or not recorder.reached:
        none = ", ".join(dry[:3]) or "any"
        return Seen("red", f"{shown}; none reached {none}: look at the adapter's target modules")
    shown += f" and {moved:.1%} of the adapter's entries moved"
    mend = f"below {MOVED:.0%}: updates are rounded away; raise grpo.learning_rate"
    return Seen("red", f"{shown}, {mend}") if moved < MOVED else Seen("ok", shown)


def give_back() -> bool:
    """Whether the allocator gave back what it has free, as glibc's does: what longer answers spread looks leaked."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):
        return False
    return True


def own_megabytes() -> float:
    """What this process holds, without pages of files: a kernel takes those and gives them back as it likes, and 120 MB
    of libraries that come back look like a leak."""
    held = psutil.Process().memory_info()
    return float(held.rss - getattr(held, "shared", 0)) / MEGABYTE


def memory(recorder: Recorder) -> Seen:
    """What a middle step adds: a step or two may take more (a longer graph), what is kept grows at most."""
    growth = median(map(sub, recorder.megabytes[SETTLED_STEP:], recorder.megabytes[SETTLED_STEP - 1 :]))
    mend = f"{GROWTH_MEGABYTES:.0f} is too much: something is kept from step to step"
    if not recorder.exact:
        mend += ", or this system's allocator has not settled"
    shown = (
        f"{recorder.megabytes[-1]:,.0f} MB after {len(recorder.megabytes)} steps, growing by {max(0.0, growth):.1f} MB"
        " per step"
    )
    grown: Level = "red" if recorder.exact else "warn"
    return check.graded("ok" if growth < GROWTH_MEGABYTES else grown, shown, mend)


def forecast(recorder: Recorder, trainer: Any, settings: PreflightStage) -> Seen:
    """Hours of one seed, from the rehearsal's seconds per completion. Evaluations are not counted."""
    seconds = (recorder.ended[-1] - recorder.ended[SETTLED_STEP]) / (len(recorder.ended) - 1 - SETTLED_STEP)
    per_completion = seconds / trainer.args.generation_batch_size
    hours = per_completion * settings.grpo.batch_size * settings.grpo.max_steps / 3600
    return Seen(
        "ok",
        f"about {per_completion:.3f} s per completion, {per_completion * settings.grpo.batch_size:.1f} s per step, "
        f"{hours:.2f} machine-hours per training, {hours * settings.trainings:.2f} for {settings.trainings}",
    )
