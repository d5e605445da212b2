"""What SFT, GRPO and DPO have in common before their first step: where a training goes on from, how it reports, and
what transformers' trainer is told.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from tucano.files.models import JOURNAL, WorkFiles
from tucano.settings.model import LoadedModel
from tucano.storage.journal import JournalWriter
from tucano.training.checkpoints import arithmetic, attempts
from tucano.training.checkpoints.arithmetic import Arithmetic
from tucano.training.checkpoints.attempts import Attempt
from tucano.training.checkpoints.manifest import step_of
from tucano.training.jobs import Job, Progress, emit

if TYPE_CHECKING:
    from tucano.settings.training.dpo import DpoTraining
    from tucano.settings.training.grpo import GrpoTraining
    from tucano.settings.training.sft import SftTraining


@dataclass(frozen=True, slots=True)
class Beginning:
    """An attempt at a training that its parent knows by `name`. arithmetic: every one that the training has had, this
    one last. best: where its best model or adapter goes. save_seconds: between two checkpoints, at most.
    """

    name: str
    attempt: Attempt
    arithmetic: list[Arithmetic]
    journal: JournalWriter
    best: Path
    save_seconds: float


def begun(job: Job, name: str) -> Beginning:
    """From now on it is computed as the attempt's checkpoint was; a person hears where that cannot be."""
    work = WorkFiles(Path(job.work))
    attempt = attempts.begin(work.folder, job.mirror, job.threads)
    had, notice = arithmetic.settle(attempt.newest, attempt.record.threads, job.settings["model"]["device"])
    if notice is not None:
        emit(Progress(name, step_of(attempt.newest.name) if attempt.newest else 0, 0, {}, notice=notice))
    return Beginning(name, attempt, had, opened_journal(attempt), work.best, 60 * job.checkpoint_minutes)


def opened_journal(attempt: Attempt) -> JournalWriter:
    """The journal as the attempt's newest checkpoint holds it."""
    path = WorkFiles(attempt.work).journal
    newest = attempt.newest
    if newest is None:
        return JournalWriter(path, resume_step=None)
    return JournalWriter(path, resume_step=step_of(newest.name), covered=newest / JOURNAL)


class Reporter(TrainerCallback):
    """Writes every logged step to the journal and tells the parent about it, with the time that is left."""

    def __init__(self, journal: JournalWriter, stage: str, shown: dict[str, str]) -> None:
        self.journal, self.stage, self.shown = journal, stage, shown
        self.started: tuple[float, int] | None = None

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        values = {name: float(value) for name, value in (logs or {}).items() if isinstance(value, int | float)}
        if not values or "train_runtime" in values or any(name.startswith("eval_") for name in values):
            return
        self.journal.log(
            state.global_step, {f"train/{name}": value for name, value in values.items() if name != "epoch"}
        )
        shown = {label: values[name] for name, label in self.shown.items() if name in values}
        emit(Progress(self.stage, state.global_step, state.max_steps, shown, self._seconds_left(state)))

    def _seconds_left(self, state: TrainerState) -> float | None:
        """By the steps since this attempt's first, before which come loading and a look at the validation set."""
        if self.started is None:
            self.started = (time.monotonic(), state.global_step)
        began, first = self.started
        done = state.global_step - first
        return (time.monotonic() - began) / done * (state.max_steps - state.global_step) if done else None


def shared_arguments(
    training: "SftTraining | GrpoTraining | DpoTraining", model: LoadedModel, drafts: Path, save_steps: int, seed: int
) -> dict[str, Any]:
    """What all trainers are told; explicit, since defaults of transformers, TRL and unsloth differ silently."""
    cpu = model.device == "cpu"
    return {
        "output_dir": str(drafts),
        "gradient_checkpointing": not cpu,
        "learning_rate": training.learning_rate,
        "lr_scheduler_type": training.schedule,
        "warmup_steps": training.warmup_share,
        "weight_decay": 0.0,
        "optim": "adamw_torch",
        "adam_beta1": 0.9,
        "adam_beta2": 0.999,
        "adam_epsilon": 1e-8,
        "bf16": model.dtype == "bfloat16",
        "use_cpu": cpu,
        "dataloader_num_workers": 0,
        "dataloader_pin_memory": not cpu,
        "eval_strategy": "no",
        "save_strategy": "steps",
        "save_steps": save_steps,
        "save_total_limit": None,
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "disable_tqdm": True,
        "report_to": [],
        "seed": seed,
        "data_seed": seed,
    }
