"""The parent's side of a training child: start it, pass its progress on, and never leave it behind.

The child runs in a session of its own, so that Ctrl-C reaches only the parent, which ends it in order (SIGTERM: the
child saves its last finished step). Job and result stand in a folder of this launch, so that a second one, which the
child refuses, does not touch the first one's. A child whose parent vanishes sees the end of its standard input and ends
by itself.
"""

import json
import logging
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from tucano.errors import UserError, WorkerCrashed, WorkerFailed
from tucano.files.models import WorkFiles
from tucano.security.printable import printable
from tucano.settings.model import LoadedModel
from tucano.storage.logs import BoundedLog
from tucano.training.forking.children import ForkedChild, ForkServer
from tucano.training.jobs import Job, Progress, parse

log = logging.getLogger(__name__)

GRACE_SECONDS = 10
"""A child that got SIGTERM has this long to save and leave before it is killed."""

LOOK_SECONDS = 5.0
"""Between two looks at whether a child still says something."""

INTERRUPTED = 75
"""Exit code of a child that stopped on SIGTERM with its state saved (EX_TEMPFAIL: try again)."""

DISK_FULL = 74
"""Exit code of a child that failed while the disk was full (EX_IOERR)."""

SAVING = ("sft", "grpo", "dpo")
"""Kinds of children that leave checkpoints."""

Child = subprocess.Popen[str] | ForkedChild

_children: set[Child] = set()
_stopping = threading.Event()
_fork_server: ForkServer | None = None
_working: Counter[str] = Counter()
"""How many children each GPU has."""
_choosing = threading.Lock()


def run_job(
    job: Job,
    python: str | None,
    on_progress: Callable[[Progress], None],
    on_line: Callable[[str], None] | None = None,
    silence_s: float = math.inf,
) -> dict[str, Any]:
    """Run a job to its end and return its result. `on_line` hears what else the child prints, as it goes to the log
    file. A child that prints nothing for `silence_s` hangs, and is killed.

    Raises UserError for a person's mistake the child found, WorkerFailed when it raised, WorkerCrashed when it was
    killed or interrupted: its checkpoints stay in `job.work`, and the same job started again goes on from them.
    """
    if stopping():
        raise WorkerCrashed(f"{job.kind} was not started: the run is being stopped")
    work = Path(job.work)
    work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="launch-", dir=work) as place, _on_a_gpu(job) as shown:
        job.write(Path(place) / "job.json")
        child = _started(job, Path(place) / "job.json", python, shown)
        _children.add(child)
        if stopping():
            child.send_signal(signal.SIGTERM)
        silence = Silence(child, silence_s)
        try:
            _follow(child, log_of(job), silence, on_progress, on_line or (lambda line: None))
        finally:
            silence.end()
            _end(child)
            _children.discard(child)
        if silence.broken:
            raise WorkerCrashed(
                f"{_who(job)} said nothing for {silence_s / 60:g} minutes (worker.silence_minutes) and was killed; what"
                f" it has saved is kept (details in {log_of(job)})"
            )
        return _outcome(job, Path(place), child.wait())


@contextmanager
def _on_a_gpu(job: Job) -> Iterator[dict[str, str]]:
    """The environment in which a child sees one GPU of several, the one with the fewest children: transformers' Trainer
    would spread each batch over all that it sees (torch.nn.DataParallel).
    """
    if not job.gpus:
        yield {}
        return
    with _choosing:
        gpu = min(job.gpus, key=_working.__getitem__)
        _working[gpu] += 1
    try:
        yield {"CUDA_VISIBLE_DEVICES": gpu}
    finally:
        with _choosing:
            _working[gpu] -= 1


def _started(job: Job, file: Path, python: str | None, shown: dict[str, str]) -> Child:
    if _fork_server is not None:
        model = job.settings["model"]
        if may_fork(model["backend"], model["device"], python):
            try:
                return _fork_server.fork(file, job.threads)
            except OSError as error:
                log.warning("%s is started and not forked: %s", _who(job), str(error))
    return subprocess.Popen(
        [python or sys.executable, "-m", "tucano.training.worker", str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
        env=environment(job.threads) | shown,
    )


class Silence:
    """Kills a child that is silent for too long. It counts looks, not time: while we were stopped nobody listened."""

    def __init__(self, child: Child, seconds: float) -> None:
        self.broken = False
        self._child, self._seconds, self._looks = child, seconds, 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="silence", daemon=True)
        if math.isfinite(seconds):
            self._thread.start()

    def heard(self) -> None:
        self._looks = 0

    def end(self) -> None:
        self._over.set()

    def _watch(self) -> None:
        every = min(LOOK_SECONDS, self._seconds / 4)
        while not self._over.wait(every):
            self._looks += 1
            if self._looks * every > self._seconds:
                self.broken = True
                with suppress(ProcessLookupError):
                    os.killpg(self._child.pid, signal.SIGKILL)  # it leads a session; what holds its output goes with it
                return


def may_fork(backend: str, device: str, python: str | None) -> bool:
    """Whether a child may come from a process that has imported everything: not where it wants to import Unsloth first,
    or to begin with CUDA, nor on macOS, whose libraries do not survive a fork.
    """
    return (backend, device, python, sys.platform) == ("transformers", "cpu", None, "linux")


@contextmanager
def forking(model: LoadedModel, python: str | None) -> Iterator[None]:
    """Within, children that may be are forked from a process that imports what they need beside what is done first."""
    global _fork_server
    if _fork_server is not None or not may_fork(model.backend, model.device, python):
        yield
        return
    _fork_server = ForkServer(environment(threads=1))  # a thread of a library would not survive the fork
    try:
        yield
    finally:
        _fork_server.close()
        _fork_server = None


def environment(threads: int) -> dict[str, str]:
    """A thread that waits for another one spins for microseconds only: by default it keeps its core for milliseconds,
    and beside any other work on the machine training takes four to seven times as long (docs/decisions.md). Unsloth
    tells nobody that a model is loaded, and needs no network for it. cuBLAS gets a workspace of fixed size: it may
    else choose another one, and with it another order of sums, at each call.
    """
    defaults = {"GOMP_SPINCOUNT": "1000", "UNSLOTH_DISABLE_STATISTICS": "1", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    return {**defaults, **os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONUNBUFFERED": "1"}


def log_of(job: Job) -> Path:
    """What the children of a job have printed, over all attempts."""
    return WorkFiles(Path(job.work)).log


def stopping() -> bool:
    """True once `stop_all` was called: nothing is started or retried any more."""
    return _stopping.is_set()


def running() -> bool:
    """Whether there are children."""
    return bool(_children)


def stop_all() -> None:
    """End every running child in order and start no more; called when the run itself is interrupted."""
    _stopping.set()
    for child in list(_children):
        child.send_signal(signal.SIGTERM)
    for child in list(_children):
        _end(child)


def _follow(
    child: Child,
    log: Path,
    silence: Silence,
    on_progress: Callable[[Progress], None],
    on_line: Callable[[str], None],
) -> None:
    assert child.stdout is not None
    with closing(BoundedLog(log)) as file:
        for raw in child.stdout:
            silence.heard()
            progress, line = parse(raw), printable(raw)
            if progress is not None:
                on_progress(progress)
            elif line.strip():
                file.write(line)
                on_line(line.rstrip())
    child.wait()


def _end(child: Child) -> None:
    if child.poll() is None:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.wait()


def _who(job: Job) -> str:
    if job.kind == "answer":
        return f"answering of {', '.join(arm.name for arm in job.arms)}"
    return job.kind if job.kind != "grpo" else f"grpo seed {job.seed}"


def _outcome(job: Job, place: Path, code: int) -> dict[str, Any]:
    who = _who(job)
    result, error = place / "result.json", place / "error.json"
    if code == 0 and result.is_file():
        return json.loads(result.read_text(encoding="utf-8"))
    if code == DISK_FULL:
        raise WorkerCrashed(f"{who} found the disk full; its last checkpoint is kept (details in {log_of(job)})")
    if error.is_file():
        failure = json.loads(error.read_text(encoding="utf-8"))
        if failure["user"]:
            raise UserError(failure["message"])
        raise WorkerFailed(f"{who} failed: {failure['message']} (details in {log_of(job)})")
    if code == INTERRUPTED:
        raise WorkerCrashed(f"{who} was interrupted and saved its state")
    if code < 0:
        kept = "; its last checkpoint is kept" if job.kind in SAVING else ""
        raise WorkerCrashed(f"{who} was killed by {signal.Signals(-code).name}{kept}")
    raise WorkerFailed(f"{who} ended with exit code {code} and no result (see {log_of(job)})")
