"""A training child that hangs without a word ends, and one that speaks may take its time (tucano/training/launch.py)."""

import time
from pathlib import Path

import pytest

from tucano.errors import WorkerCrashed, WorkerFailed
from tucano.training.jobs import Job
from tucano.training.launch import run_job


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
