"""One configuration of the drill: a run left alone, and runs that are struck by signals, with what each has left.

Training processes are forked from a parent that has imported everything but made nothing: an attempt then takes a
second instead of eight, and a SIGKILL is as real.
"""

import hashlib
import json
import mmap
import os
import random
import re
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import accelerate
import numpy as np
import trl
from fsspec.implementations.local import LocalFileSystem
from peft.tuners.tuners_utils import BaseTunerLayer
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer
from transformers.conversion_mapping import get_checkpoint_conversion_mapping

from benchmarks import reachable
from benchmarks.drill_cases import SETTINGS, Configuration
from benchmarks.vllm_standin import interpreter
from data.prepare import prepare
from data.thoughts import told_to_think
from tucano.files.prompts import PromptFiles
from tucano.preferences import AnswerPair, write_answer_pairs
from tucano.profiles import validated
from tucano.prompts import read_prompts
from tucano.storage.folder import Folder
from tucano.storage.journal import read_journal
from tucano.training import grpo_trainer, sft, worker
from tucano.training.checkpoints import attempts, resumable, states
from tucano.training.checkpoints.manifest import step_of
from tucano.training.jobs import Job
from tucano.training.launch import INTERRUPTED
from tucano.training.orders import JobFolders, for_task, order
from tucano.training.preferences import dpo

worker.quieten_libraries()
WARM = (trl.GRPOTrainer, get_checkpoint_conversion_mapping("qwen3"))
"""What libraries put off until it is needed, and every forked attempt would do again: two seconds of processor time."""
PHASES = ("begin", "rollout", "backward", "optimizer", "evaluation", "checkpoint", "upload")
SLOW_UPLOAD_SECONDS = 0.01
"""Added to every uploaded file: a local folder stands for remote storage, and takes too little time to be killed in."""
LONGEST_ATTEMPT_SECONDS = 120

NOTE = "before-step-{}.json"
EVERY = -1
LIKELIER_END = 6.0

LEFT_OUT = {
    r"^trainer\.(attempt|journal)$|callbacks\.\[\d+\]\.journal$": (
        "files and locks; what is in them is compared as history"
    ),
    r"^trainer\.(_pace|clock)$|callbacks\.\[\d+\]\.started$|\['train/(step_time|time/\w+)'\]$": (
        "times, from which only checkpoints by time follow"
    ),
    r"\bmodel_preparation_time\b": "a time that transformers takes at a look",
    r"^trainer\._finished$": "copies of what is compared itself",
    r"^trainer\._logs$": "the texts of the last rollout for TRL's table of completions, which is off",
    r"\.self\.(_last$|said\b)": "the texts and scores of the last rollout's batch, asked for again by that batch alone",
    r"\.reader\.opened\b": "what the chat template says, kept from the first answers on",
    r"generation_config\.max_new_tokens$": "written before every rollout",
    r"\.training$": "every pass through the model says first how it is meant",
    r"prepare_inputs_for_generation$": (
        "an adapter's wrapper lends its own to the model for `generate`, and puts the model's back"
    ),
    r"\._?active_adapter$": "the name of one adapter as a text or a list; compared as `adapters`",
    r"\.gather_function$|callback_handler\.eval_dataloader$": "every look at the validation set makes its own",
    r"accelerator\._dataloaders$|\._dataloader_references_ref$": "the loaders that this process has made so far",
    r"train_dataloader\.(end_of_dataloader|remainder|iteration)$": (
        "written where batches are read: after a resume within an epoch, in a copy of this loader"
    ),
    r"\._opt_called$": "whether torch warns of a schedule that moves before its optimizer",
    r"\.config\.dtype$": "saving a whole model writes the same precision as a text",
    r"\.stateful_callbacks$": "what transformers would give callbacks back after a resume; it is told not to",
    r"\.func\.self$": "the drill's own board",
    r"^trainer\.(validation\.examiner\.)?sampler\b": "who draws; what was drawn is compared as history",
}
"""Paths at which a resumed trainer may differ, and why nothing follows from it."""


class Board:
    """What a forked process tells and is told: shared memory.

    How often each phase was entered, how long it took in all, and the last finished step; the trap (phase, how manieth
    end, signal) and when it struck; the step before which the state is to be written down (-1: every one).
    """

    def __init__(self) -> None:
        self.entered, self.trap, self.step = (_shared(np.int64, size) for size in (len(PHASES), 3, 1))
        self.seconds, self.struck = _shared(np.float64, len(PHASES)), _shared(np.float64, 1)
        self.noted = _shared(np.int64, 1)

    def clear(self) -> None:
        for array in (self.entered, self.seconds, self.step, self.trap, self.struck):
            array[:] = 0

    def watch(self, owner: Any, name: str, phase: str) -> None:
        """From now on calls of a method or function are on the board."""
        index, original = PHASES.index(phase), getattr(owner, name)

        def watched(*args: Any, **kwargs: Any) -> Any:
            self.entered[index] += 1
            began = time.monotonic()
            try:
                return original(*args, **kwargs)
            finally:
                self.seconds[index] += time.monotonic() - began
                if self.trap[1] and (self.trap[0], self.trap[1]) == (index, self.entered[index]):
                    self.struck[0] = time.monotonic()
                    os.kill(os.getpid(), int(self.trap[2]))

        setattr(owner, name, watched)


def _shared(kind: type, size: int) -> np.ndarray[Any, Any]:
    return np.frombuffer(mmap.mmap(-1, 8 * size), dtype=kind)


@dataclass(frozen=True)
class Moment:
    """When to send a signal: `delay` seconds after a phase was entered with `step` steps finished, or at the `end`-th
    end of it.
    """

    phase: str
    step: int = 0
    delay: float = 0
    end: int | None = None


@dataclass
class Finished:
    """What a run left.

    Digests of all weights, of what the last checkpoint holds and of the whole trainer before steps ({step: {path:
    digest}}; of a disturbed run before the last one and before each with which an attempt began); the journal without
    times.
    """

    weights: str
    checkpoint: dict[str, dict[str, str]]
    trainers: dict[int, dict[str, str]]
    history: list[tuple[int, dict[str, float]]]

    def faults(self, alone: "Finished") -> list[str]:
        """Where the states of this run differ from those of one that was left alone."""
        found = [
            f"checkpoint: {part}{path}"
            for part, saved in alone.checkpoint.items()
            for path in states.differences(saved, self.checkpoint[part])
        ]
        for step, trainer in self.trainers.items():
            found += [f"before step {step + 1}: {path}" for path in states.differences(alone.trainers[step], trainer)]
        return found


@dataclass
class Struck:
    """Runs that were struck by a signal: in which phases it came, what each run has left, and what SIGTERM has cost."""

    signal: signal.Signals
    hit: Counter[str] = field(default_factory=Counter)
    runs: list[Finished] = field(default_factory=list)
    lost: int = 0
    """Finished steps that were not saved."""
    slowest: float = 0
    """Seconds from the signal to the end of the process."""


@dataclass(frozen=True)
class Starts:
    """What trainings begin with: a prompt set, the nano model after SFT, and an adapter for it."""

    prompts: Path
    model: Path | None = None
    adapter: Path | None = None


class Drill:
    """One configuration: the run left alone, then the disturbed ones."""

    def __init__(
        self, configuration: Configuration, starts: Starts, place: Path, moments: random.Random, board: Board
    ) -> None:
        self.configuration, self.starts, self.place, self.moments, self.board = (
            configuration,
            starts,
            place,
            moments,
            board,
        )
        self.prompts = _prompts(starts.prompts, place / "prompts", configuration)
        board.noted[0] = EVERY
        undisturbed = Struck(signal.SIGKILL)
        self._run([], undisturbed)
        (self.alone,) = undisturbed.runs
        self.steps = self.alone.history[-1][0]
        self.usual = {
            phase: float(board.seconds[index] / board.entered[index])
            for index, phase in enumerate(PHASES)
            if board.entered[index]
        }
        self.backwards = int(board.entered[PHASES.index("backward")]) // self.steps
        board.noted[0] = self.steps - 1

    def moved(self) -> float:
        """The share of steps that had a gradient. Without one nothing could differ, whatever was lost."""
        norms = [values["train/grad_norm"] for _, values in self.alone.history if "train/grad_norm" in values]
        return sum(norm > 0 for norm in norms) / len(norms)

    def struck(self, number: signal.Signals, total: int, per_run: int) -> "Struck":
        """Runs with `total` signals in all, at most `per_run` in each, at random moments from the first step to the
        last.
        """
        done = Struck(number)
        while (left := total - done.hit.total()) > 0:
            count = min(per_run, left)
            self._run([self._moment((index + self.moments.random()) / count) for index in range(count)], done)
        return done

    def terminated(self) -> "Struck":
        """Runs that get SIGTERM at the end of every phase in turn, and of each backward pass of an attempt's second
        step.
        """
        done = Struck(signal.SIGTERM)
        left = [Moment("backward", end=end) for end in range(self.backwards + 1, 2 * self.backwards + 1)]
        left += [
            Moment(phase, end=2 if phase in ("rollout", "optimizer") else 1)
            for phase in self.usual
            if phase != "backward"
        ]
        while left:
            after = self._run(left, done)
            assert len(after) < len(left), f"{self.configuration.name}: {left[0]} never comes"
            left = after
        return done

    def _moment(self, progress: float) -> Moment:
        """A moment in a random phase when this share of the run is done, or, for `begin`, of the next attempt's
        beginning.
        """
        phase = self.moments.choice(list(self.usual))
        step = 0 if phase == "begin" else int(progress * self.steps)
        return Moment(phase, step, self.moments.uniform(0, 2 * self.usual[phase]))

    def _run(self, moments: Sequence[Moment], done: "Struck") -> list[Moment]:
        """One run from the start to its end, through the `moments` that come before the end; those that did not come
        are left.
        """
        place, left = self.place / "run", list(moments)  # the same for every run: paths are part of a trainer
        while not self._attempt(self._job(place), left[0] if left else None, done):
            done.hit[left.pop(0).phase] += 1
        if left and self.board.struck[0]:  # too late to end it
            done.hit[left.pop(0).phase] += 1
        done.runs.append(_left(self.configuration.name, place))
        shutil.rmtree(place)
        return left

    def _job(self, place: Path) -> Job:
        """The next attempt's. One that was struck before its record was written is none: the next asks for as many
        threads.
        """
        own, last = self.configuration, attempts.last_record(Folder(str(place / "work")))
        threads = own.threads[(last.number if last else 0) % len(own.threads)]
        shutil.rmtree(place / "output", ignore_errors=True)
        if own.remote:
            shutil.rmtree(place / "work", ignore_errors=True)
        mirror = (place / "remote").as_uri() if own.remote else None
        return job(own, self.starts, self.prompts, place, threads, mirror)

    def _attempt(self, job: Job, moment: Moment | None, done: "Struck") -> bool:
        """Whether the run was finished."""
        self.board.clear()
        if moment is not None and moment.end is not None:
            self.board.trap[:] = PHASES.index(moment.phase), moment.end, done.signal
        pid, alive = forked(job)
        if moment is not None and moment.end is None and self._wait_for(moment, pid):
            self.board.struck[0] = time.monotonic()
            os.kill(pid, done.signal)
        code = _exit_code(pid)
        os.close(alive)
        if code == 0:
            return True
        if moment is None or not self.board.struck[0] or code not in (-done.signal, INTERRUPTED):
            raise Found(f"exit code {code}: {_last_line(job)}")
        if done.signal == signal.SIGTERM:
            done.slowest = max(done.slowest, time.monotonic() - self.board.struck[0])
            done.lost += lost_steps(Path(job.work))
        return False

    def _wait_for(self, moment: Moment, pid: int) -> bool:
        """False when the process ended before."""
        index = PHASES.index(moment.phase)
        before = 0
        while (waits := self.board.step[0] < moment.step) or self.board.entered[index] == before:
            if waits:
                before = self.board.entered[index]
            if _has_ended(pid):
                return False
            time.sleep(0.001)
        time.sleep(moment.delay)
        return not _has_ended(pid)


class Found(Exception):
    """An attempt ended as none may; the sentence says how."""


def job(
    configuration: Configuration, starts: Starts, prompts: Path, place: Path, threads: int, mirror: str | None = None
) -> Job:
    """The training of a configuration in the folder `place`."""
    chosen, given = configuration.settings(), configuration.start != "model"
    if given:
        chosen["model"]["name"] = str(starts.model)
    adapter = str(starts.adapter) if configuration.start == "adapter" else None
    begin = (str(starts.model), adapter) if given or configuration.kind == "grpo" else None
    for name in ("work", "output"):
        (place / name).mkdir(parents=True, exist_ok=True)
    if configuration.server:
        chosen["worker"]["vllm_python"] = interpreter(place)
    settings, work, output = validated(chosen), place / "work", place / "output"
    pairs = _pairs(prompts, place) if settings.dpo.pairs else None
    made = order(
        configuration.kind,
        settings,
        1,
        threads,
        JobFolders(prompts=prompts, work=work, output=output, mirror=mirror, preferences=pairs),
        start=begin,
    )
    made = for_task(made, configuration.task) if configuration.task else made
    made.write(place / "work" / "job.json")
    return made


def _pairs(prompts: Path, place: Path) -> Path:
    """Demonstrations, each preferred to the next one's."""
    files, target = PromptFiles(prompts), place / "pairs.jsonl"
    systems, shown = files.systems(), read_prompts(files.demonstrations)[:32]
    texts = [str(prompt.demonstration) for prompt in shown]
    rows = zip(shown, texts, texts[1:], strict=False)
    write_answer_pairs(target, [AnswerPair(systems[p.task], p.user, good, bad) for p, good, bad in rows if good != bad])
    return target


def forked(job: Job) -> tuple[int, int]:
    """A training process in a session of its own: its id, and the end of the pipe that keeps it alive."""
    its, ours = os.pipe()
    pid = os.fork()
    if pid:
        os.close(its)
        return pid, ours
    os.setsid()
    os.close(ours)
    log = os.open(Path(job.work) / "log.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for target, source in ((0, its), (1, log), (2, log)):
        os.dup2(source, target)
    code = worker.main(Path(job.work) / "job.json")
    sys.stdout.flush()
    os._exit(code)


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _exit_code(pid: int) -> int:
    deadline = time.monotonic() + LONGEST_ATTEMPT_SECONDS
    while not _has_ended(pid):
        assert time.monotonic() < deadline, f"process {pid} hangs"
        time.sleep(0.003)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _last_line(job: Job) -> str:
    return (Path(job.work) / "log.txt").read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]


def newest_valid(work: Path) -> Path | None:
    """The checkpoint that the next attempt in `work` would go on from."""
    here = Folder(str(work))
    record = attempts.last_record(here)
    return attempts._newest_whole(work, None, attempts._readable(here, record)) if record else None


def _left(name: str, place: Path) -> Finished:
    last = newest_valid(place / "work")
    assert last is not None, f"{name}: no checkpoint was kept"
    folders = (last, *(place / "output" / name for name in ("adapter", "model", "base")))
    weights = b"".join(file.read_bytes() for folder in folders for file in sorted(folder.glob("*model.safetensors")))
    saved: dict[str, dict[str, str]] = json.loads((last / resumable.DIGESTS).read_text(encoding="utf-8"))
    del saved["parts"]  # a look after the last step may have come after the last checkpoint
    checkpoint = {
        part: {path: value for path, value in held.items() if not re.search("|".join(LEFT_OUT), path)}
        for part, held in saved.items()
    }
    notes = {int(re.sub(r"\D", "", path.name)): path for path in place.glob(NOTE.format("*"))}
    trainers = {step: json.loads(path.read_text(encoding="utf-8")) for step, path in notes.items()}
    return Finished(
        hashlib.sha256(weights).hexdigest(), checkpoint, trainers, history(place / "work" / "journal.jsonl")
    )


def lost_steps(work: Path) -> int:
    """Steps that are in the journal, so finished, and not in the newest checkpoint."""
    entries, newest = read_journal(work / "journal.jsonl"), newest_valid(work)
    last = max((entry.step for entry in entries), default=0)
    return max(0, last - (step_of(newest.name) if newest else 0))  # on a new machine the journal may not be there yet


def history(journal: Path) -> list[tuple[int, dict[str, float]]]:
    return [(entry.step, entry.results) for entry in read_journal(journal)]


def _prompts(source: Path, target: Path, configuration: Configuration) -> Path:
    shutil.copytree(source, target)
    lines = (target / "train.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (target / "train.jsonl").write_text("".join(lines[: configuration.prompts]), encoding="utf-8")
    files = PromptFiles(target)
    systems = told_to_think(files.systems(), configuration.thinking)
    files.system_prompts.write_text(json.dumps(systems, ensure_ascii=False), encoding="utf-8")
    return target


def instrumented() -> Board:
    """Put the phases on a board, write the trainer down before a step, and slow uploads down to what a network
    takes.
    """
    board = Board()
    board.watch(attempts, "begin", "begin")
    board.watch(grpo_trainer.GrpoMixin, "_generate_single_turn", "rollout")
    board.watch(accelerate.Accelerator, "backward", "backward")
    board.watch(accelerate.optimizer.AcceleratedOptimizer, "step", "optimizer")
    board.watch(grpo_trainer.GrpoMixin, "look", "evaluation")
    board.watch(sft.ResumableSFTTrainer, "look", "evaluation")
    board.watch(dpo.ResumableDPOTrainer, "look", "evaluation")
    board.watch(resumable.ResumableTrainer, "_save_checkpoint", "checkpoint")
    board.watch(attempts.Folder, "push", "upload")
    remember, begin, put_file = (
        resumable.ResumableTrainer._remember,
        resumable.InterruptionCallback.on_step_begin,
        LocalFileSystem.put_file,
    )

    def count(self: resumable.ResumableTrainer) -> None:
        remember(self)
        board.step[0] = self.state.global_step

    def note(self: resumable.InterruptionCallback, args: Any, state: Any, control: Any, **more: Any) -> None:
        if (
            board.noted[0] in (EVERY, state.global_step) or board.step[0] == 0
        ):  # of this attempt none is finished: it begins with this one
            path = self.trainer.attempt.work.parent / NOTE.format(state.global_step)
            path.with_suffix(".draft").write_text(json.dumps(whole(self.trainer)), encoding="utf-8")
            path.with_suffix(".draft").replace(path)
        begin(self, args, state, control, **more)

    def slow(*args: Any, **kwargs: Any) -> None:
        time.sleep(SLOW_UPLOAD_SECONDS)
        put_file(*args, **kwargs)

    resumable.ResumableTrainer._remember = count  # type: ignore[method-assign]
    resumable.InterruptionCallback.on_step_begin = note  # type: ignore[method-assign]
    LocalFileSystem.put_file = slow
    return board


@dataclass(frozen=True, slots=True)
class Root:
    trainer: resumable.ResumableTrainer
    generators: dict[str, Any]
    adapters: list[list[str]]


def whole(trainer: resumable.ResumableTrainer) -> dict[str, str]:
    """Everything that can be reached from a trainer, and the global generators, but for what is provably irrelevant."""
    layers = (layer for layer in trainer.model.modules() if isinstance(layer, BaseTunerLayer))
    return reachable.digests(
        Root(trainer, resumable.generators(trainer.args.device), [[*layer.active_adapters] for layer in layers]),
        without="|".join(LEFT_OUT),
    )


def begin(place: Path, board: Board) -> Starts:
    """Train what the configurations begin with: a model and an adapter for it."""
    settings = validated(SETTINGS)
    prepare(settings.data, 7, settings.tasks, place / "prompts")
    starts = Starts(place / "prompts")
    for configuration in (Configuration("model", kind="sft"), Configuration("adapter", kind="sft", start="given")):
        board.clear()
        made = job(configuration, starts, starts.prompts, place / configuration.name, threads=1)
        pid, alive = forked(made)
        assert _exit_code(pid) == 0, _last_line(made)
        os.close(alive)
        output = Path(made.output)
        starts = (
            replace(starts, model=talkative(output / "model"))
            if configuration.name == "model"
            else replace(starts, adapter=output / "adapter")
        )
    return starts


def talkative(model: Path) -> Path:
    """The model with an end token so likely that its completions end at different lengths."""
    end = AutoTokenizer.from_pretrained(model).eos_token_id
    stored = load_file(model / "model.safetensors")
    stored["model.embed_tokens.weight"][end] *= LIKELIER_END
    save_file(stored, model / "model.safetensors", {"format": "pt"})
    return model
