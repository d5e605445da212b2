"""The preemption drill: kill training again and again, at random moments of every phase, and compare with a run left alone.

    python -m benchmarks.drill --kills 8 --sigterms 20

Every run's weights must have the SHA-256 of the run left alone and its journal the same metrics, no step twice, none missing.
Training processes are forked from a parent that has imported everything but made nothing: an attempt then takes a second
instead of eight, and a SIGKILL is as real. Moments are drawn from a seeded generator: wait until the process enters a phase at or after
a step, then up to twice the time that this phase takes, then send the signal.
"""

import argparse
import hashlib
import mmap
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import accelerate
import numpy as np
from fsspec.implementations.local import LocalFileSystem

from data.prepare import prepare
from tucano.journal import read_journal
from tucano.profiles import validated
from tucano.training import attempts, grpo, sealed, sft, worker
from tucano.training.checkpoints import step_of
from tucano.training.jobs import Job
from tucano.training.launch import INTERRUPTED
from tucano.training.orders import order

PHASES = ("begin", "rollout", "backward", "evaluation", "checkpoint", "upload")
TIMINGS = ("train/step_time",)
SLOW_UPLOAD_SECONDS = 0.01
"""Added to every uploaded file: a local folder stands for remote storage, and takes too little time to be killed in."""
LONGEST_ATTEMPT_SECONDS = 120

SETTINGS: dict[str, Any] = {
    "data": {"train_prompts": 60, "validation_prompts": 26, "test_prompts": 26, "demonstrations": 60},
    "model": {"nano_hidden": 32, "nano_layers": 1, "nano_vocabulary": 600, "max_length_tokens": 512},
    "sft": {"max_epochs": 2, "batch_size": 8, "learning_rate": 0.003, "eval_steps": 4, "save_steps": 4, "patience": 9},
    "grpo": {
        "max_steps": 12,
        "batch_size": 8,
        "generations": 4,
        "micro_batch": 8,
        "max_completion_tokens": 24,
        "learning_rate": 0.001,
        "eval_steps": 6,
        "save_steps": 3,
        "patience": 9,
        "validation_samples": 1,
    },
}


@dataclass(frozen=True)
class Configuration:
    """One row of the table: what differs from `SETTINGS`; `prompts` training prompts; checkpoints at least every
    `minutes`; `remote`: every attempt on an empty machine."""

    name: str
    kind: Literal["sft", "grpo"] = "grpo"
    grpo: dict[str, Any] = field(default_factory=dict)
    model: dict[str, Any] = field(default_factory=dict)
    prompts: int = 60
    minutes: float = 10
    remote: bool = False


CONFIGURATIONS = (
    Configuration("SFT", kind="sft"),
    Configuration("SFT, every attempt on an empty machine", kind="sft", remote=True),
    Configuration("gradient accumulation 2", grpo={"micro_batch": 4}),
    Configuration("num_iterations 2", grpo={"iterations": 2}),
    Configuration("steps_per_generation 4", grpo={"rollout_steps": 4}),
    Configuration("several epochs (6 steps each)", prompts=13),
    Configuration("dropout .1", model={"lora_dropout": 0.1}),
    Configuration("checkpoints by time alone", grpo={"save_steps": 12}, minutes=0.003),
    Configuration("evaluation every step", grpo={"eval_steps": 1}),
    Configuration(
        "epochs, accumulation 2, iterations 2, dropout", grpo={"micro_batch": 4, "iterations": 2}, model={"lora_dropout": 0.1}, prompts=9
    ),
    Configuration(
        "task weights, refill, entropy target, length stages",
        grpo={
            "task_weights": "iwu",
            "drop_zero_variance": True,
            "refill_rounds": 2,
            "entropy_target": 5.0,
            "overlong_tokens": 4,
            "length_stages": [[0, 12], [6, 24]],
            "micro_batch": 4,
            "iterations": 2,
        },
        prompts=13,
    ),
    Configuration("uploads after every step, every attempt on an empty machine", grpo={"save_steps": 1, "eval_steps": 3}, remote=True),
)


class Board:
    """How often each phase was entered, how long it took in all, and the last finished step; shared with the forked process."""

    def __init__(self) -> None:
        self.entered = np.frombuffer(mmap.mmap(-1, 8 * len(PHASES)), dtype=np.int64)
        self.seconds = np.frombuffer(mmap.mmap(-1, 8 * len(PHASES)), dtype=np.float64)
        self.step = np.frombuffer(mmap.mmap(-1, 8), dtype=np.int64)

    def clear(self) -> None:
        self.entered[:], self.seconds[:], self.step[:] = 0, 0, 0

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

        setattr(owner, name, watched)


@dataclass
class Moment:
    """When to send a signal: `delay` seconds after a phase was entered with `step` steps finished."""

    phase: str
    step: int
    delay: float


@dataclass
class Finished:
    """What a run left: hash of the delivered and of the last weights, and the journal without its times."""

    sha: str
    history: list[tuple[int, dict[str, float]]]


class Drill:
    """One configuration: the run left alone, then the disturbed ones."""

    def __init__(self, configuration: Configuration, prompts: Path, start: Path | None, place: Path, moments: random.Random, board: Board):
        self.configuration, self.place, self.moments, self.board = configuration, place, moments, board
        self.prompts, self.start = _prompts(prompts, place / "prompts", configuration.prompts), start
        self.hit: Counter[str] = Counter()
        self.exits: list[float] = []
        self.lost = 0
        self.signal = ""
        self.alone = self._run("alone", [], signal.SIGKILL)
        self.steps = self.alone.history[-1][0]
        self.usual = {
            phase: float(board.seconds[index] / board.entered[index]) for index, phase in enumerate(PHASES) if board.entered[index]
        }

    def disturbed(self, total: int, per_run: int, number: signal.Signals) -> list[Finished]:
        """Runs with `total` signals in all, at most `per_run` in each, from the first step to the last."""
        results: list[Finished] = []
        self.signal = number.name
        while (left := total - sum(self.hit.values())) > 0:
            count = min(per_run, left)
            moments = [self._moment((index + self.moments.random()) / count) for index in range(count)]
            results.append(self._run(f"{number.name}-{len(results)}", moments, number))
        return results

    def _moment(self, progress: float) -> Moment:
        """A moment in a random phase when this share of the run is done, or, for `begin`, of the next attempt's beginning."""
        phase = self.moments.choice(list(self.usual))
        step = 0 if phase == "begin" else int(progress * self.steps)
        return Moment(phase, step, self.moments.uniform(0, 2 * self.usual[phase]))

    def _run(self, name: str, moments: list[Moment], number: signal.Signals) -> Finished:
        """One run from the start to its end, through all `moments` that come before the end."""
        work, output, mirror = (self.place / name / part for part in ("work", "output", "remote"))
        for moment in [*moments, None]:
            shutil.rmtree(output, ignore_errors=True)
            output.mkdir(parents=True)
            if self.configuration.remote:
                shutil.rmtree(work, ignore_errors=True)
            work.mkdir(exist_ok=True)
            if self._attempt(self._job(work, output, mirror), moment, number):
                break
        last = attempts.newest_valid(work)
        assert last is not None, f"{self.configuration.name}: {name} kept no checkpoint"
        places = (last, output / "adapter", output / "model")
        weights = b"".join(file.read_bytes() for folder in places for file in sorted(folder.glob("*model.safetensors")))
        return Finished(hashlib.sha256(weights).hexdigest(), history(work / "journal.jsonl"))

    def _job(self, work: Path, output: Path, mirror: Path) -> Job:
        own = self.configuration
        chosen = {**SETTINGS, "grpo": {**SETTINGS["grpo"], **own.grpo}, "model": {**SETTINGS["model"], **own.model}}
        chosen["worker"] = {"checkpoint_minutes": own.minutes}
        begin = (str(self.start), None) if self.start and own.kind == "grpo" else None
        copy = mirror.as_uri() if own.remote else None
        settings, prompts = validated(chosen), self.prompts
        job = order(own.kind, settings, 1, 1, prompts=prompts, work=work, output=output, mirror=copy, start=begin)
        job.write(work / "job.json")
        return job

    def _attempt(self, job: Job, moment: Moment | None, number: signal.Signals) -> bool:
        """Whether the run was finished."""
        self.board.clear()
        pid, alive = forked(job)
        sent = None
        if moment is not None and self._wait_for(moment, pid):
            sent = time.monotonic()
            os.kill(pid, number)
        code = _exit_code(pid)
        os.close(alive)
        if code == 0:
            return True
        assert sent is not None and moment is not None and code in (-number, INTERRUPTED), f"exit code {code}, see {job.work}/log.txt"
        self.hit[moment.phase] += 1
        if number == signal.SIGTERM:
            self.exits.append(time.monotonic() - sent)
            self.lost += lost_steps(Path(job.work))
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
            time.sleep(0.0005)
        time.sleep(moment.delay)
        return not _has_ended(pid)


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
        time.sleep(0.001)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def lost_steps(work: Path) -> int:
    """Steps that are in the journal, so finished, and not in the newest checkpoint."""
    entries, newest = read_journal(work / "journal.jsonl"), attempts.newest_valid(work)
    last = max((entry.step for entry in entries), default=0)
    return last - (step_of(newest.name) if newest else 0)


def history(journal: Path) -> list[tuple[int, dict[str, float]]]:
    return [(e.step, {name: value for name, value in e.values.items() if name not in TIMINGS}) for e in read_journal(journal)]


def _prompts(source: Path, target: Path, count: int) -> Path:
    shutil.copytree(source, target)
    lines = (target / "train.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (target / "train.jsonl").write_text("".join(lines[:count]), encoding="utf-8")
    return target


def instrumented() -> Board:
    """Put the phases on a board, and slow uploads down to what a network takes."""
    board = Board()
    board.watch(attempts, "begin", "begin")
    board.watch(grpo.GrpoMixin, "_generate_single_turn", "rollout")
    board.watch(accelerate.Accelerator, "backward", "backward")
    board.watch(grpo.GrpoMixin, "look", "evaluation")
    board.watch(sft.SealedSFTTrainer, "look", "evaluation")
    board.watch(sealed.SealedCheckpoints, "_save_checkpoint", "checkpoint")
    board.watch(attempts.Place, "push", "upload")
    remember, put_file = sealed.SealedCheckpoints._remember, LocalFileSystem.put_file

    def note(self: sealed.SealedCheckpoints) -> None:
        remember(self)
        board.step[0] = self.state.global_step

    sealed.SealedCheckpoints._remember = note  # type: ignore[method-assign]

    def slow(*args: Any, **kwargs: Any) -> None:
        time.sleep(SLOW_UPLOAD_SECONDS)
        put_file(*args, **kwargs)

    LocalFileSystem.put_file = slow
    return board


def row(drill: Drill, results: list[Finished]) -> str:
    same = sum(result.sha == drill.alone.sha for result in results)
    equal = sum(result.history == drill.alone.history for result in results)
    hit = ", ".join(f"{phase} {count}" for phase, count in drill.hit.items())
    slowest = f"{max(drill.exits):.2f}" if drill.exits else "-"
    struck = f"{sum(drill.hit.values())} {drill.signal} in {len(results)} runs: {hit}"
    cells = [drill.configuration.name, drill.steps, struck, f"{same}/{len(results)}"]
    return f"| {' | '.join(map(str, [*cells, f'{equal}/{len(results)}', drill.lost if drill.exits else '-', slowest]))} |"


def passed(drill: Drill, results: list[Finished]) -> bool:
    exact = all(result.sha == drill.alone.sha and result.history == drill.alone.history for result in results)
    return exact and not drill.lost and max(drill.exits, default=0) < 10


def run(
    place: Path, configurations: list[Configuration], kills: int, sigterms: int, per_run: int, seed: int, say: Callable[[str], None]
) -> bool:
    """Drill all configurations; `say` hears the rows of a Markdown table. Whether everything was as it must be."""
    board, moments, good = instrumented(), random.Random(seed), True
    prompts = place / "prompts"
    settings = validated(SETTINGS)
    prepare(settings.data, 7, settings.tasks, prompts)
    base = Drill(Configuration("start", kind="sft"), prompts, None, place / "start", moments, board)
    start = place / "start" / "alone" / "output" / "model"
    assert base.alone.sha
    say(
        "| configuration | steps | signals and where they struck | weights identical | history equal | finished steps lost | slowest exit, s |"
    )
    say("|---|---|---|---|---|---|---|")
    for number, total in ((signal.SIGKILL, kills * len(configurations)), (signal.SIGTERM, sigterms)):
        for index, configuration in enumerate(configurations):
            share = total // len(configurations) + (index < total % len(configurations))
            if share == 0:
                continue
            drill = Drill(configuration, prompts, start, place / number.name / str(index), moments, board)
            results = drill.disturbed(share, per_run, number)
            say(row(drill, results))
            good &= passed(drill, results)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=8, help="kill -9 per configuration")
    parser.add_argument("--sigterms", type=int, default=20, help="SIGTERM over all configurations")
    parser.add_argument("--per-run", type=int, default=4, help="signals in one run, at most")
    parser.add_argument("--seed", type=int, default=7, help="of the moments")
    parser.add_argument("--only", nargs="+", default=[""], help="configurations with one of these in their names")
    arguments = parser.parse_args()
    chosen = [configuration for configuration in CONFIGURATIONS if any(part in configuration.name for part in arguments.only)]
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="drill-") as place:
        good = run(
            Path(place),
            chosen,
            arguments.kills,
            arguments.sigterms,
            arguments.per_run,
            arguments.seed,
            lambda line: print(line, flush=True),
        )
    print(f"\n{'Passed' if good else 'FAILED'} in {time.monotonic() - began:.0f} s.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
