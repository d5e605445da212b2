"""The preemption drill in small (`make drill` is the whole): real processes killed at random moments of every phase."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_killed_runs_end_with_the_same_weights_and_history_as_one_left_alone() -> None:
    options = ["--kills", "2", "--sigterms", "2", "--only", "epochs,", "uploads after"]
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.drill", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"^\| .* SIGKILL", done.stdout, re.MULTILINE)) == 2
    assert len(re.findall(r"^\| .* SIGTERM", done.stdout, re.MULTILINE)) == 2
