"""Three seeds log while the tracking server is killed and hung in turns, at random times: `python -m
benchmarks.journal_drill`.

As in a pipeline each seed is a process that writes its journal, and this process ships them. Every row has to stand in
MLflow exactly once, in the end and without gaps, and no seed may be blocked for more than 50 ms. A write's time is
split by what the kernel says of the thread: it computed or waited for a core, which any work beside it costs, or it was
blocked. Prints a table; exit code 1 when one fails.
"""

import argparse
import itertools
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from mlflow.entities import Metric

from deployments.servers import listen, mlflow_command, mlflow_environment
from tucano.security import access
from tucano.storage.journal import JournalWriter
from tucano.tracking import Tracker
from tucano.tracking.store import default_uri

SEEDS = (42, 123, 456)
COMMIT_EVERY = 25
STEP_SECONDS = 0.06
BLOCKED_MS = 50.0


class Server:
    """The tracking server of `tucano up`, on the same port after every start. This process gets to know its
    password.
    """

    def __init__(self, storage: Path) -> None:
        self.storage, self.port, self.known = storage, 0, access.fresh()
        os.environ |= access.tracking_environment(self.known)
        self.start()

    def start(self) -> None:
        listener = listen(self.port)
        assert listener is not None, f"somebody has taken port {self.port}"
        environment = os.environ | mlflow_environment(self.storage, default_uri(self.storage), self.known)
        with listener, (self.storage / "server.log").open("ab") as log:
            self.port = listener.getsockname()[1]
            self.process = subprocess.Popen(
                mlflow_command(listener),
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
                pass_fds=[listener.fileno()],
            )

    def wait(self) -> None:
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=2).close()
                return
            except OSError:
                time.sleep(0.3)

    def signal(self, number: signal.Signals) -> None:
        os.killpg(self.process.pid, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.process.wait()


def train(path: Path, steps: int, metrics: int) -> None:
    """Write a seed's journal as a training does; beside it, what each step's row and each checkpoint's commit took."""
    writes, commits = [], []
    with JournalWriter(path, resume_step=None) as journal:
        for step in range(1, steps + 1):
            row = {f"train/m{metric}": value_at(step, metric) for metric in range(metrics)}
            writes.append(timed(partial(journal.log, step, row)))
            if step % COMMIT_EVERY == 0 or step == steps:
                commits.append(timed(partial(journal.commit, step)))
            time.sleep(STEP_SECONDS)
    timings_of(path).write_text(json.dumps({"writes": writes, "commits": commits}), encoding="utf-8")


def value_at(step: int, metric: int) -> float:
    return step + metric / 64


def timings_of(journal: Path) -> Path:
    return journal.with_suffix(".timings.json")


def timed(work: Callable[[], None]) -> tuple[float, float]:
    """Milliseconds that work took, and for how many of them its thread neither ran nor waited for a core."""
    busy, began = _on_or_waiting_for_core(), time.monotonic()
    work()
    took = 1000 * (time.monotonic() - began)
    return took, max(0.0, took - (_on_or_waiting_for_core() - busy))


def _on_or_waiting_for_core() -> float:
    """Milliseconds so far that this thread computed, and waited in the run queue
    (Documentation/scheduler/sched-stats.rst).
    """
    computed, waited, _ = Path("/proc/thread-self/schedstat").read_text(encoding="ascii").split()
    return (int(computed) + int(waited)) / 1e6


def disturb(server: Server, trained: threading.Event, chance: random.Random) -> Counter[str]:
    done: Counter[str] = Counter()
    kinds = itertools.cycle(("killed", "hung"))
    while not trained.wait(chance.uniform(2, 6)):
        kind = next(kinds)
        done[kind] += 1
        if kind == "killed":
            server.kill()
            trained.wait(chance.uniform(0, 5))
            server.start()
            server.wait()
        else:
            server.signal(signal.SIGSTOP)
            trained.wait(chance.uniform(1, 15))
            server.signal(signal.SIGCONT)
    return done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--metrics", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7, help="of the disturbances")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return drill(Path(folder), arguments.steps, arguments.metrics, random.Random(arguments.seed))


def drill(storage: Path, steps: int, metrics: int, chance: random.Random) -> int:
    Tracker.connect(None, storage)  # makes the database, which a server would make while it is being killed
    server = Server(storage)
    server.wait()
    tracker = Tracker.connect(f"http://127.0.0.1:{server.port}", storage)
    parent = tracker.start_pipeline("drill", {}, {})
    runs = {seed: tracker.start_training(f"seed {seed}", parent, "grpo", seed, "drill", {}) for seed in SEEDS}
    shippers = [tracker.ship_journal(runs[seed], storage / f"{seed}.jsonl") for seed in SEEDS]
    process = multiprocessing.get_context("spawn").Process
    trainings = [process(target=train, args=(storage / f"{seed}.jsonl", steps, metrics)) for seed in SEEDS]
    trained = threading.Event()

    def wait_for_all() -> None:
        for training in trainings:
            training.join()
        trained.set()

    began = time.monotonic()
    for training in trainings:
        training.start()
    threading.Thread(target=wait_for_all).start()
    disturbed = disturb(server, trained, chance)
    trained_in = time.monotonic() - began
    whole = all([shipper.close(300) for shipper in shippers])
    shipped_in = time.monotonic() - began - trained_in
    server.kill()
    print(f"disturbances: {dict(disturbed)}; logged in {trained_in:.0f} s, all shipped {shipped_in:.0f} s later")
    return _table(Tracker.connect(None, storage), storage, runs, steps, metrics) if whole else 1


def _table(tracker: Tracker, storage: Path, runs: dict[int, str], steps: int, metrics: int) -> int:
    print(
        "| seed | rows | missing | twice | cliffs | longest write, ms | blocked, ms | longest commit, ms | blocked,"
        " ms |"
    )
    print("|" + " ---: |" * 9)
    faults = 0
    for seed, run in runs.items():
        curves = {m: tracker.client.get_metric_history(run, f"train/m{m}") for m in range(metrics)}
        rows = Counter((m, point.step) for m, curve in curves.items() for point in curve)
        missing, twice = steps * metrics - len(rows), sum(count > 1 for count in rows.values())
        cliffs = sum(has_cliff(m, curve) for m, curve in curves.items())
        timings = json.loads(timings_of(storage / f"{seed}.jsonl").read_text(encoding="utf-8"))
        longest = [max(column) for kind in ("writes", "commits") for column in zip(*timings[kind], strict=True)]
        faults += missing + twice + cliffs + sum(blocked > BLOCKED_MS for blocked in (longest[1], longest[3]))
        print(
            f"| {seed} | {rows.total()} | {missing} | {twice} | {cliffs} | "
            + " | ".join(f"{value:.1f}" for value in longest)
            + " |"
        )
    return 1 if faults else 0


def has_cliff(metric: int, curve: list[Metric]) -> bool:
    """Whether a curve, drawn by step, shows another value than was logged there, or goes back in time."""
    points = sorted(curve, key=lambda point: int(point.step))
    times = [point.timestamp for point in points]
    return times != sorted(times) or any(point.value != value_at(int(point.step), metric) for point in points)


if __name__ == "__main__":
    sys.exit(main())
