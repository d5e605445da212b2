"""CI's clock (tests/conftest.py): what could not end in time is not started, and that is said."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize(("left_s", "said"), [(0, "NOT RUN: 2 tests"), (10**6, "2 passed")])
def test_what_cannot_end_in_time_is_counted_as_not_run(tmp_path: Path, left_s: int, said: str) -> None:
    for name in ("conftest.py", "pace.py"):
        (tmp_path / name).write_bytes((HERE / name).read_bytes())
    (tmp_path / "test_ui.py").write_text("def test_slow(): pass\n", encoding="utf-8")
    (tmp_path / "test_quick.py").write_text("def test_quick(): pass\n", encoding="utf-8")
    environment = {**os.environ, "TUCANO_TESTS_END": str(time.time() + left_s)}
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", str(tmp_path)]
    shown = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=900)
    assert shown.returncode == 0 and said in shown.stdout, shown.stdout + shown.stderr
    order = [shown.stdout.index(name) for name in ("test_quick.py::", "test_ui.py::")]
    assert order == sorted(order), "the quick ones come first"
