"""What a training child is told, and how it ends: hanging, killed, stopped, orphaned (tucano/training/launch.py)."""

import subprocess
import sys
import threading
import time
from pathlib import Path
from subprocess import PIPE

import psutil
import pytest

from tucano.errors import WorkerCrashed, WorkerFailed
from tucano.training import launch
from tucano.training.jobs import Job
from tucano.training.launch import environment, run_job
from tucano.training.worker import INTERRUPTED


def interpreter(place: Path, script: str) -> str:
    path = place / "python"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def job(place: Path) -> Job:
    return Job("sft", {}, str(place), str(place / "output"), str(place / "work"), 1)


def test_a_child_that_hangs_is_killed_and_may_be_started_again(tmp_path: Path) -> None:
    began = time.monotonic()
    said: list[str] = []
    with pytest.raises(WorkerCrashed, match=r"sft said nothing for 0\.01\d* minutes \(worker\.silence_minutes\)"):
        run_job(
            job(tmp_path), interpreter(tmp_path, "echo loading\nsleep 600\necho never"), print, said.append, silence_s=1
        )
    assert said == ["loading"] and time.monotonic() - began < 300


def test_a_child_that_speaks_is_left_alone_however_long_it_takes(tmp_path: Path) -> None:
    slow = interpreter(tmp_path, "for word in 1 2 3 4 5 6; do echo $word; sleep 1; done; exit 7")
    with pytest.raises(WorkerFailed, match="ended with exit code 7"):
        run_job(job(tmp_path), slow, print, silence_s=5)


def test_a_child_that_is_killed_is_a_crash(tmp_path: Path) -> None:
    with pytest.raises(WorkerCrashed, match="sft was killed by SIGKILL; its last checkpoint is kept"):
        run_job(job(tmp_path), interpreter(tmp_path, "kill -9 $$"), print)


PARENT = """
import sys
from pathlib import Path
from tucano.training.jobs import Job
from tucano.training.launch import run_job

place = sys.argv[1]
job = Job("sft", {}, place, place + "/output", place + "/work", 1)
run_job(job, place + "/python", print, lambda said: print(said, flush=True))
"""


def test_what_a_killed_parent_started_ends(tmp_path: Path) -> None:
    """A child reads until its input closes, which the kernel does for whoever held the other end."""
    interpreter(tmp_path, "echo there; exec cat > /dev/null")
    with psutil.Popen([sys.executable, "-c", PARENT, str(tmp_path)], stdout=PIPE, text=True) as parent:
        assert parent.stdout.readline() == "there\n"
        children = parent.children(recursive=True)
        parent.kill()
    gone, alive = psutil.wait_procs(children, 60)
    assert gone and not alive


def test_nothing_starts_once_a_run_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopping = threading.Event()
    stopping.set()
    monkeypatch.setattr(launch, "_stopping", stopping)
    with pytest.raises(WorkerCrashed, match="being stopped"):
        run_job(job(tmp_path), None, print)


WATCHING = """
import multiprocessing, sys, time
from pathlib import Path
from tucano.training import worker

def run(job):
    time.sleep(0.5)  # the thread that waits for the parent's end does so by now
    forked = multiprocessing.get_context("fork").Process(target=str)
    forked.start()
    forked.join(20)
    print("it ended" if forked.exitcode == 0 else "it hangs", flush=True)
    forked.kill()
    time.sleep(600)

worker.run = run
worker.main(Path(sys.argv[1]))
"""


def test_a_process_forked_from_a_child_ends_and_the_child_ends_with_its_parent(tmp_path: Path) -> None:
    job(tmp_path).write(tmp_path / "job.json")
    command = [sys.executable, "-c", WATCHING, str(tmp_path / "job.json")]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as child:
        assert child.stdin is not None and child.stdout is not None
        try:
            said = child.stdout.readline()
            child.stdin.close()
            assert (said, child.wait(60)) == ("it ended\n", INTERRUPTED)
        finally:
            child.kill()


def test_a_child_tells_nobody_that_it_loads_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNSLOTH_DISABLE_STATISTICS", raising=False)
    assert environment(2)["UNSLOTH_DISABLE_STATISTICS"] == "1"
