"""How fast GRPO training is against TRL itself: ratios from one run, all sides in turns, step by step.

    make bench        or        python -m benchmarks.speed --steps 12

The step: median ratio of CPU time per step on one thread, ours against `trl.GRPOTrainer` with our arguments (its best
settings on a CPU) and with its defaults where they touch speed. All sides decode and train on the same recorded
completions (benchmarks/lockstep.py), so losses have to agree in float32. Two seeds: two trainers of one thread at once
against the same two after one another with two threads each, in wall time. Resume: from the start of the process to its
first new step, after SIGKILL, in wall time. CPU time hardly feels a busy machine, wall time does: run this on a quiet
one.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from benchmarks.lockstep import MARK, Kind, Side
from data.prepare import prepare
from tucano.errors import WorkerCrashed
from tucano.profiles import load_profile, project_root
from tucano.requirements import cores
from tucano.settings import PipelineSettings
from tucano.training.jobs import Job, Progress
from tucano.training.launch import run_job
from tucano.training.orders import JobFolders, order

STEP_AGAINST_STOCK, SEEDS_AT_ONCE, LOSS_DIFFERENCE = 0.6, 1.15, 1e-5
"""What has to be reached: at most, at least, at most."""
Answer = dict[str, float]


@dataclass(frozen=True)
class Bench:
    """Where everything lies: prompts, the start model, and the completions that all sides decode."""

    place: Path
    overrides: Sequence[str]

    def settings(self, *overrides: str) -> PipelineSettings:
        return load_profile(
            project_root(Path.cwd()),
            "laptop",
            ["grpo.seeds=[42]", "grpo.advantages=group", *self.overrides, *overrides],
        )

    def side(self, kind: Kind, name: str, steps: int, threads: int) -> Side:
        settings = self.settings(
            f"grpo.max_steps={steps}", f"grpo.eval_steps={steps}", f"grpo.save_steps={steps}", "grpo.patience=1"
        )
        prompts, start, place = (str(self.place / part) for part in ("prompts", "sft/output/model", name))
        return Side(
            kind, settings.model_dump(mode="json"), prompts, start, place, threads, str(self.place / "tape.json")
        )

    def job(self, kind: Any, settings: PipelineSettings) -> Job:
        (self.place / kind / "output").mkdir(parents=True, exist_ok=True)
        start, threads = (str(self.place / "sft/output/model"), None), cores() if kind == "sft" else 1
        prompts, work, output = (self.place / part for part in ("prompts", f"{kind}/work", f"{kind}/output"))
        begin = start if kind == "grpo" else None
        return order(kind, settings, 42, threads, JobFolders(prompts=prompts, work=work, output=output), start=begin)


class Child:
    """One side in a process of its own, ready to take its first step."""

    def __init__(self, side: Side) -> None:
        path = side.write()
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.lockstep", str(path)]
        with path.with_name("log.txt").open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, encoding="utf-8",
                env={**os.environ, "OMP_NUM_THREADS": str(side.threads)},
            )  # fmt: skip
        self.log = path.with_name("log.txt")
        self.answer()

    def tell(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def answer(self) -> Answer:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(MARK):
                return json.loads(line.removeprefix(MARK))
        raise RuntimeError(f"a side of the benchmark died, see {self.log}")

    def step(self) -> Answer:
        self.tell()
        return self.answer()


@contextmanager
def children(*sides: Side) -> Iterator[list[Child]]:
    with ExitStack() as stack:
        living = []
        for side in sides:
            child = Child(side)
            stack.callback(child.process.wait)
            stack.callback(child.process.kill)
            living.append(child)
        yield living


def prepared(bench: Bench) -> None:
    """Prompts, and a start model whose answers have the length of real ones."""
    settings = bench.settings("sft.max_epochs=2")
    prepare(settings.data, settings.seed, settings.tasks, bench.place / "prompts")
    run_job(bench.job("sft", settings), None, lambda _: None)


def record(bench: Bench, steps: int) -> None:
    with children(bench.side("record", "record", steps, 1)) as (child,):
        for _ in range(steps):
            child.step()
        child.process.wait()


def timed_steps(bench: Bench, steps: int) -> dict[Kind, list[Answer]]:
    """Every side's steps; each round in another order."""
    kinds: tuple[Kind, ...] = ("ours", "stock", "defaults")
    found: dict[Kind, list[Answer]] = {kind: [] for kind in kinds}
    with children(*(bench.side(kind, kind, steps, 1) for kind in kinds)) as sides:
        for turn in range(steps):
            for index in range(len(kinds)):
                chosen = (turn + index) % len(kinds)
                found[kinds[chosen]].append(sides[chosen].step())
    return found


def seeds_at_once(bench: Bench, steps: int) -> list[float]:
    """Per step: wall time of two trainers after one another with two threads each, over that of two at once with one
    each.
    """
    ratios = []
    names = {"left": 1, "right": 1, "first": 2, "second": 2}
    with children(*(bench.side("ours", name, steps, threads) for name, threads in names.items())) as (
        left,
        right,
        first,
        second,
    ):
        for turn in range(steps):
            times = {}
            for way in ("at once", "in turn") if turn % 2 else ("in turn", "at once"):
                began = time.perf_counter()
                if way == "at once":
                    left.tell()
                    right.tell()
                    left.answer()
                    right.answer()
                else:
                    first.step()
                    second.step()
                times[way] = time.perf_counter() - began
            ratios.append(times["in turn"] / times["at once"])
    return ratios[1:]


class KillAt:
    """A listener that kills the training child when it first hears of this step or a later one, and notes the time."""

    def __init__(self, step: int) -> None:
        self.step, self.heard = step, 0.0

    def __call__(self, progress: Progress) -> None:
        if not self.heard and progress.notice is None and progress.step >= self.step:
            self.heard = time.monotonic()
            for child in psutil.Process().children():
                if "tucano.training.worker" in " ".join(child.cmdline()):
                    child.kill()


def resume_seconds(bench: Bench, times: int) -> list[float]:
    """From the start of the process to its first new step; the step itself is part of it."""
    job = bench.job("grpo", bench.settings("grpo.max_steps=60", "grpo.eval_steps=2", "grpo.save_steps=2"))
    seconds = []
    for turn in range(times + 1):
        listener, began = KillAt(1 if turn else 3), time.monotonic()
        try:
            run_job(job, None, listener)
        except WorkerCrashed:
            seconds.append(listener.heard - began)
    return seconds[1:]


def report(steps: dict[Kind, list[Answer]], seeds: list[float], resumes: list[float]) -> tuple[str, bool]:
    """The Markdown table, and whether all that is wanted was reached. The first step warms up and is left out of
    times.
    """
    lines = ["| measured | result | wanted |", "|---|---|---|"]
    medians = {
        kind: {name: statistics.median(row[name] for row in rows[1:]) for name in ("cpu", "decoding")}
        for kind, rows in steps.items()
    }
    for kind, values in medians.items():
        lines.append(
            f"| GRPO step, {kind}: CPU seconds (of which decoding) | {values['cpu']:.2f} ({values['decoding']:.2f}) | |"
        )
    against: dict[Kind, list[float]] = {
        kind: [mine["cpu"] / theirs["cpu"] for mine, theirs in zip(steps["ours"][1:], steps[kind][1:], strict=True)]
        for kind in ("stock", "defaults")
    }
    lines.append(
        f"| step: ours / stock TRL in its best CPU settings | {spread(against['stock'])} | at most"
        f" {STEP_AGAINST_STOCK} |"
    )
    lines.append(f"| step: ours / stock TRL in its defaults | {spread(against['defaults'])} | |")
    off = max(abs(mine["loss"] - theirs["loss"]) for mine, theirs in zip(steps["ours"], steps["stock"], strict=True))
    largest = max(abs(row["loss"]) for row in steps["stock"])
    lines.append(
        f"| largest difference in loss (losses up to {largest:.4f}) | {off:.1e} | at most {LOSS_DIFFERENCE:.0e} |"
    )
    lines.append(
        f"| throughput: two seeds at once / after one another, {cores()} cores | {spread(seeds)} | at least"
        f" {SEEDS_AT_ONCE} |"
    )
    lines.append(f"| SIGKILL to first new step, seconds | {spread(resumes)} | seconds |")
    reached = statistics.median(against["stock"]) <= STEP_AGAINST_STOCK and statistics.median(seeds) >= SEEDS_AT_ONCE
    return "\n".join(lines), reached and off <= LOSS_DIFFERENCE


def spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f} (median of {len(values)}; {min(values):.2f} to {max(values):.2f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=12, help="steps of every side; the first one is not timed")
    parser.add_argument("--resumes", type=int, default=3, help="times that a killed run is resumed")
    parser.add_argument("--set", action="append", default=[], help="one setting of all sides, like grpo.batch_size=32")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        bench = Bench(Path(place), arguments.set)
        prepared(bench)
        record(bench, arguments.steps)
        steps = timed_steps(bench, arguments.steps)
        table, reached = report(steps, seeds_at_once(bench, arguments.steps), resume_seconds(bench, arguments.resumes))
    print(table)
    print(f"\n{'Reached' if reached else 'NOT REACHED'}.")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
