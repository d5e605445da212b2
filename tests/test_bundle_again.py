"""A champion that is really trained, packed, and trained again from its bundle where no storage is."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bundles import ROOT

from benchmarks.bad_days import Day


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_champion_trained_again_elsewhere_is_the_same_to_the_bit(tmp_path: Path) -> None:
    """`tucano run laptop` in small, packed; a copy of the code without the storage trains the same weights."""
    day = Day(tmp_path / "runs")
    day.run().ended(0)
    out = tmp_path / "tiny.tar.gz"
    day.tucano("bundle", "tucano@champion", str(out)).ended(0)
    clone = tmp_path / "clone"
    for package in ("data", "rewards", "tasks", "flows", "deployments", "tucano"):
        shutil.copytree(ROOT / package, clone / package)
    shutil.copy2(ROOT / "prefect.yaml", clone)
    done = subprocess.run(
        [sys.executable, "-m", "tucano.cli", "verify", str(out), "--retrain"],
        cwd=clone,
        env={**os.environ, "PYTHONPATH": str(clone)},
        capture_output=True,
        text=True,
        check=False,
    )
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith(("ok", "OTHER", "FAILED"))]
    assert done.returncode == 0 and {row[0] for row in rows} == {"ok"}, done.stdout + done.stderr
    assert len(rows) == 15 and "letter for letter" in done.stdout and "bit for bit" in done.stdout
